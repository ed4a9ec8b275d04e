/**
 * What does a bridge pay for watching the sessions of terminals?
 *
 * Measured: a round of the {@link TerminalWatch} over 1,000 sessions whose agents are at work, of which 1 % have gone on; and the
 * memory of a process that watches them.
 * Yardstick: `stat` of each worklog and transcript, the appended bytes read, and `JSON.parse` of their lines.
 * Targets: at most twice the yardstick; at most 60 MB above the same process without sessions.
 *
 * In time of a processor, so that other programs on the machine do not count.
 */
import { appendFileSync, closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isoTime, systemClock } from '../src/time.js';
import { peakOf } from './peak.js';
import { rounded, say, sayCompared, sayTarget } from './report.js';
import { compare, processed } from './rounds.js';
import { inScratchFolder } from './scratch.js';
import { makeTerminals, type WatchedPaths, watchOf } from './watchedTerminals.js';

const SESSIONS = 1_000;
const CHANGED = SESSIONS / 100;
const MOST_RATIO = 2;
const MOST_MEGABYTES = 60;
const ROUNDS = 50;
/** Until each session has gone on once: a bridge looks round for days, and in 25 minutes as often as this. */
const WARM_UP_ROUNDS = SESSIONS / CHANGED;
const LIMIT_MS = 60_000;

class Bare {
  readonly #files: { readonly path: string; size: number; mtimeMs: number }[];

  constructor(paths: readonly WatchedPaths[]) {
    const all = paths.flatMap(({ worklog, transcript }) => [worklog, transcript]);
    this.#files = all.map((path) => ({ path, size: statSync(path).size, mtimeMs: statSync(path).mtimeMs }));
  }

  look(): void {
    for (const file of this.#files) {
      const { size, mtimeMs } = statSync(file.path);
      if (size === file.size && mtimeMs === file.mtimeMs) continue;
      const appended = Buffer.alloc(size - file.size);
      const descriptor = openSync(file.path, 'r');
      readSync(descriptor, appended, 0, appended.length, file.size);
      closeSync(descriptor);
      for (const line of appended.toString('utf8').split('\n')) if (line !== '') JSON.parse(line);
      Object.assign(file, { size, mtimeMs });
    }
  }
}

await inScratchFolder(async (folder) => {
  const [home, empty] = [join(folder, 'home'), join(folder, 'empty')];
  const paths = makeTerminals(home, SESSIONS);
  const { watch, nextRound } = watchOf(home);
  await watch.runOnce();
  const bare = new Bare(paths);
  let next = 0;
  const compared = await compare({
    prepare: async () => {
      nextRound();
      for (let count = 0; count < CHANGED; count += 1) goOn(paths[next++ % SESSIONS]);
    },
    ours: () => processed(() => watch.runOnce()),
    yardstick: () => processed(() => bare.look()),
    rounds: ROUNDS,
    warmUpRounds: WARM_UP_ROUNDS,
    limitMs: LIMIT_MS,
  });
  say(`terminals: ${SESSIONS} sessions, ${CHANGED} of them changed`);
  sayCompared('a round', 'stat, read and JSON.parse what was appended', compared);
  sayTarget({ what: 'times stat and tails', value: compared.ratio.median, atMost: MOST_RATIO, unit: '' });
  const [before, after] = [peakOf(folder, ['bridge', empty]), peakOf(folder, ['bridge', home])];
  say(`  at most ${rounded(before)} MB without sessions, ${rounded(after)} MB with them`);
  sayTarget({ what: 'more resident memory', value: after - before, atMost: MOST_MEGABYTES, unit: ' MB' });
});

function goOn(paths: WatchedPaths | undefined): void {
  const message = {
    id: 'm',
    role: 'assistant',
    content: [{ type: 'text', text: 'I go on.' }],
    stop_reason: 'tool_use',
  };
  const record = { type: 'assistant', uuid: 'u', timestamp: isoTime(systemClock.now()), sessionId: 'c1', message };
  if (paths !== undefined) appendFileSync(paths.transcript, `${JSON.stringify(record)}\n`);
}
