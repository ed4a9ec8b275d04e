/**
 * How fast are failing calls drawn from the transcripts of agents, for `learn draw`?
 *
 * Measured: {@link drawFromFile} of 100 MB of Claude Code's lines in which every tenth call fails, with the redactor that every
 * command uses.
 * Yardstick: {@link readTranscript} of the same file, which folds it.
 * Targets: at most 1.5 times the yardstick; at most 150 MB above a process that draws from a short one.
 *
 * In time of a processor, so that other programs on the machine do not count.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { drawFromFile } from '../memory/learnings/drawFrom.js';
import { readTranscript } from '../memory/observed/transcript.js';
import { createRedactor } from '../src/log/redact.js';
import { peakOf } from './peak.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, processed } from './rounds.js';
import { inScratchFolder } from './scratch.js';
import { writeTranscript } from './transcripts.js';

const BYTES = 100e6;
const SHORT_BYTES = 100e3;
const MOST_TIMES_FOLDING = 1.5;
const MOST_MEGABYTES = 150;
const ROUNDS = 7;
const WARM_UP_ROUNDS = 1;
const LIMIT_MS = 90_000;
/** As many as a bridge knows. */
const SECRETS = ['123456:AAbench-token-of-no-bot', 'ghp_benchTokenOfNobody0123456789', 'sk-ant-bench-key-of-nobody'];

await inScratchFolder(async (folder) => {
  const [path, short] = [join(folder, 'long.jsonl'), join(folder, 'short.jsonl')];
  writeTranscript(path, BYTES, true);
  writeTranscript(short, SHORT_BYTES, true);
  const redact = createRedactor(SECRETS);
  const { failures } = await drawFromFile(path, redact);
  const calls = [...failures.values()].reduce((sum, { count }) => sum + count, 0);
  say(`learn: ${(statSync(path).size / 1e6).toFixed(0)} MB, ${calls} failing calls in ${failures.size} groups`);
  const compared = await compare({
    ours: () => processed(() => drawFromFile(path, redact)),
    yardstick: () => processed(() => readTranscript(path, redact)),
    ...{ rounds: ROUNDS, warmUpRounds: WARM_UP_ROUNDS, limitMs: LIMIT_MS },
  });
  sayCompared('drawn', 'read and folded', compared);
  sayTarget({ what: 'times folding', value: compared.ratio.median, atMost: MOST_TIMES_FOLDING, unit: '' });
  const [before, after] = [peakOf(folder, ['learn', short]), peakOf(folder, ['learn', path])];
  say(`  at most ${before.toFixed(0)} MB for a short one, ${after.toFixed(0)} MB for this one`);
  sayTarget({ what: 'more resident memory', value: after - before, atMost: MOST_MEGABYTES, unit: ' MB' });
});
