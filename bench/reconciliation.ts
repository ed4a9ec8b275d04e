/**
 * What does a look at everything cost, when nearly nothing has changed?
 *
 * Measured: `checkAllSessions` of the whole watchdog over 10,000 active sessions, of which 1 % have a longer journal and a
 * changed record since the last one.
 * Yardstick: the least that must be read: the index of active sessions, `stat` of each journal, and what was appended.
 * Target: at most twice the yardstick.
 */
import { systemClock } from '../src/time.js';
import { Changes } from './changes.js';
import { say, sayCompared, sayTarget } from './report.js';
import { compare, timed } from './rounds.js';
import { inScene, populate } from './scene.js';
import { withWatchdog } from './watchdogHere.js';

const SESSIONS = 10_000;
const CHANGED = SESSIONS / 100;
const CALLS = 40;
const MOST_RATIO = 2;
const ROUNDS = 9;
const WARM_UP_ROUNDS = 3;
const LIMIT_MS = 60_000;

await inScene(async (scene) => {
  const begun = systemClock.now();
  const sessions = await populate(scene, { count: SESSIONS, calls: CALLS, lastActivityOf: () => begun });
  await withWatchdog(scene, async (watchdog) => {
    const first = await timed(() => watchdog.checkAllSessions());
    say(
      `reconciliation: ${SESSIONS} sessions, ${CHANGED} of them changed; the first look took ${Math.round(first)} ms`,
    );
    const changes = new Changes(scene, sessions, CHANGED);
    const compared = await compare({
      // Both see the same ones for the first time.
      prepare: () => changes.makeSome(),
      ours: () => timed(() => watchdog.checkAllSessions()),
      yardstick: () => timed(() => changes.readBare()),
      rounds: ROUNDS,
      warmUpRounds: WARM_UP_ROUNDS,
      limitMs: LIMIT_MS,
    });
    sayCompared('checkAllSessions', 'index, stat, appended bytes', compared);
    sayTarget({ what: 'times the yardstick', value: compared.ratio.median, atMost: MOST_RATIO, unit: '' });
  });
});
