/**
 * What does a line of the journal cost the bridge, between two events of its agent's stream?
 *
 * Measured: {@link JournalWriter.append} of a call with its result, as an agent reports them: redacting, cutting, digests,
 * JSON, one `write`; per line.
 * Yardstick: one bare `write` of the same bytes to a file opened for append.
 * Target: at most 50 µs a line.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { JournalWriter } from '../src/journal/writer.js';
import { createRedactor } from '../src/log/redact.js';
import { systemClock } from '../src/time.js';
import { requestOf, resultOf } from './journals.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, timed } from './rounds.js';
import { inScratchFolder } from './scratch.js';

const MOST_MICROSECONDS = 50;
const CALLS = 500;
const LINES = 2 * CALLS;
const ROUNDS = 21;
const WARM_UP_ROUNDS = 4;
const LIMIT_MS = 40_000;
/** As many as a bridge knows: bot token, GitHub token, what stands in files. */
const SECRETS = ['123456:AAbench-token-of-no-bot', 'ghp_benchTokenOfNobody0123456789', 'sk-ant-bench-key-of-nobody'];

await inScratchFolder(async (logsFolder) => {
  const redact = createRedactor(SECRETS);
  const journal = JournalWriter.open({ logsFolder, sessionId: 's1', clock: systemClock, redact });
  const appendAll = (to: JournalWriter) => {
    for (let call = 0; call < CALLS; call += 1) {
      to.append(requestOf(call));
      to.append(resultOf(call));
    }
  };
  appendAll(journal);
  const lines = readFileSync(journal.path, 'utf8').split('\n').filter(Boolean);
  const bytes = lines.map((line) => Buffer.from(`${line}\n`));
  const bare = openSync(join(logsFolder, 'bare.jsonl'), 'a');
  say(`append: ${LINES} lines a round, ${Math.round(Buffer.concat(bytes).length / LINES)} bytes each on average`);
  const compared = await compare({
    ours: () => timed(() => appendAll(journal)),
    yardstick: () =>
      timed(() => {
        for (const line of bytes) writeSync(bare, line);
      }),
    rounds: ROUNDS,
    warmUpRounds: WARM_UP_ROUNDS,
    limitMs: LIMIT_MS,
  });
  closeSync(bare);
  journal.close();
  sayCompared('appended', 'bare write', compared);
  const perLine = (compared.ours.median * 1_000) / LINES;
  sayTarget({ what: 'a line', value: perLine, atMost: MOST_MICROSECONDS, unit: ' µs' });
});
