/**
 * How fast is the transcript of an agent's program read and folded, for `track resume` and for the kept copy?
 *
 * Measured: {@link readTranscript} of 100 MB of Claude Code's lines, with the redactor that every command uses.
 * Yardsticks: `JSON.parse` of each line, of strings that lie in memory already; and what `assess` takes for the same file.
 * Targets: at most 2.5 times the one and 1.2 times the other; at most 150 MB above a process that reads a short one.
 *
 * In time of a processor, so that other programs on the machine do not count.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readTranscript } from '../memory/observed/transcript.js';
import { assessPaths } from '../monitoring/offline/assessPaths.js';
import { DEFAULT_THRESHOLDS } from '../src/config/rules.js';
import { createRedactor } from '../src/log/redact.js';
import { peakOf } from './peak.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, processed } from './rounds.js';
import { inScratchFolder } from './scratch.js';
import { writeTranscript } from './transcripts.js';

const BYTES = 100e6;
const SHORT_BYTES = 100e3;
const MOST_TIMES_PARSING = 2.5;
const MOST_TIMES_ASSESS = 1.2;
const MOST_MEGABYTES = 150;
const ROUNDS = 7;
const WARM_UP_ROUNDS = 1;
const LIMIT_MS = 90_000;
/** As many as a bridge knows. */
const SECRETS = ['123456:AAbench-token-of-no-bot', 'ghp_benchTokenOfNobody0123456789', 'sk-ant-bench-key-of-nobody'];

await inScratchFolder(async (folder) => {
  const [path, short] = [join(folder, 'long.jsonl'), join(folder, 'short.jsonl')];
  writeTranscript(path, BYTES);
  writeTranscript(short, SHORT_BYTES);
  const redact = createRedactor(SECRETS);
  const fold = () => processed(() => readTranscript(path, redact));
  const limits = { rounds: ROUNDS, warmUpRounds: WARM_UP_ROUNDS, limitMs: LIMIT_MS };

  const assess = () => assessPaths([path], { thresholds: DEFAULT_THRESHOLDS, now: null, replay: false });
  const assessed = await compare({ ours: fold, yardstick: () => processed(assess), ...limits });

  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  const parse = () => {
    for (const line of lines) JSON.parse(line);
  };
  const parsed = await compare({ ours: fold, yardstick: () => processed(parse), ...limits });

  say(`transcript: ${(statSync(path).size / 1e6).toFixed(0)} MB, ${lines.length} lines`);
  sayCompared('read and folded', 'JSON.parse alone, of strings in memory', parsed);
  sayTarget({ what: 'times parsing', value: parsed.ratio.median, atMost: MOST_TIMES_PARSING, unit: '' });
  sayCompared('read and folded', 'assess', assessed);
  sayTarget({ what: 'times assess', value: assessed.ratio.median, atMost: MOST_TIMES_ASSESS, unit: '' });
  const [before, after] = [peakOf(folder, ['transcript', short]), peakOf(folder, ['transcript', path])];
  say(`  at most ${before.toFixed(0)} MB for a short one, ${after.toFixed(0)} MB for this one`);
  sayTarget({ what: 'more resident memory', value: after - before, atMost: MOST_MEGABYTES, unit: ' MB' });
});
