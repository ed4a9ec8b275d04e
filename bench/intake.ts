/**
 * From a message that comes in to its agent's start: how many a second, and how much later than without us.
 *
 * Measured: `accept`, the job, BullMQ, and the run's start with its reaper, lease, record and journal; also the
 * run's end, as far as the next message of its lane waits for it. Chats and the watchdog are not part of it.
 * Yardstick: the same messages through a bare BullMQ queue and worker on the same Redis, as many at once as there are
 * lanes, because a lane runs one at a time; with children, each job spawns the same program. How many go through is asked
 * under as many messages as can be on their way in: as many at once as one poll of a bot brings, those of a lane one after
 * the other, and the next ones when these are accepted, or added.
 * Targets: with an agent in this process that does nothing, at most 2.5 times as long for all (40 % of the throughput);
 * with children, an agent starts at most 15 ms later, in the median.
 */
import { type Load, type Way, withBare, withOurs } from './dispatch.js';
import { rounded, say, sayCompared, sayTarget } from './report.js';
import { compare, figureOf, timed } from './rounds.js';
import { inScene, type Scene } from './scene.js';

const LANES = [1, 50, 500];

const MESSAGES = 1_000;
/** The most updates that one call of getUpdates returns (https://core.telegram.org/bots/api#getupdates). */
const UPDATES_OF_POLL = 100;
const ROUNDS = 15;
/** Until the compiler has seen enough. */
const WARM_UP_ROUNDS = 5;
const LIMIT_MS = 60_000;
const MOST_TIMES = 2.5;

const PAIRS = 60;
const WARM_UP_PAIRS = 5;
/** One after the other: whoever waits for another's spawn measures that. */
const MOST_LATER_MS = 15;

await inScene(async (scene) => {
  for (const lanes of LANES) await measureThroughput(scene, lanes);
  for (const lanes of LANES) await measureDelay(scene, lanes);
});

async function measureThroughput(scene: Scene, lanes: number): Promise<void> {
  const load = { agents: 'in_process', lanes } as const;
  await withBoth(scene, load, async (ours, bare) => {
    const sendAll = async (way: Way) => {
      const took = await timed(async () => {
        const started: Promise<void>[] = [];
        for (let sent = 0; sent < MESSAGES; sent += UPDATES_OF_POLL)
          started.push(...(await sendPoll(way, lanes, sent)));
        await Promise.all(started);
      });
      await way.idle();
      return took;
    };
    say(`intake: ${MESSAGES} messages in ${lanes} lanes, agents in this process`);
    const compared = await compare({
      ours: () => sendAll(ours),
      yardstick: () => sendAll(bare),
      rounds: ROUNDS,
      warmUpRounds: WARM_UP_ROUNDS,
      limitMs: LIMIT_MS,
    });
    sayCompared('until the last agent has started', 'until the last bare job was taken', compared);
    const perSecond = (took: number) => rounded((MESSAGES * 1_000) / took);
    say(`  ${perSecond(compared.ours.median)} a second, bare ${perSecond(compared.yardstick.median)}`);
    sayTarget({ what: 'times bare BullMQ', value: compared.ratio.median, atMost: MOST_TIMES, unit: '' });
  });
}

/** @returns the starts of the messages that one poll brings, once all are accepted */
async function sendPoll(way: Way, lanes: number, first: number): Promise<Promise<void>[]> {
  const started: Promise<void>[] = [];
  const inLane = async (lane: number) => {
    for (let message = lane; message < UPDATES_OF_POLL; message += lanes) {
      const sent = await way.send((first + message) % lanes);
      started.push(sent.started);
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, UPDATES_OF_POLL) }, (_, lane) => inLane(lane)));
  return started;
}

async function measureDelay(scene: Scene, lanes: number): Promise<void> {
  const load = { agents: 'children', lanes } as const;
  await withBoth(scene, load, async (ours, bare) => {
    say(`intake: ${PAIRS} messages one after the other in ${lanes} lanes, agents are children`);
    const delays: { ours: number; bare: number }[] = [];
    for (let pair = -WARM_UP_PAIRS; pair < PAIRS; pair += 1) {
      const sendOne = async (way: Way) => {
        const took = await timed(async () => (await way.send(Math.abs(pair) % lanes)).started);
        await way.idle();
        return took;
      };
      const delay = { ours: await sendOne(ours), bare: await sendOne(bare) };
      if (pair >= 0) delays.push(delay);
    }
    const median = (side: 'ours' | 'bare') => figureOf(delays.map((delay) => delay[side])).median;
    say(`  started after ${rounded(median('ours'))} ms; bare BullMQ and spawn: ${rounded(median('bare'))} ms`);
    const value = figureOf(delays.map((delay) => delay.ours - delay.bare)).median;
    sayTarget({ what: 'later, in the median', value, atMost: MOST_LATER_MS, unit: ' ms' });
  });
}

function withBoth(scene: Scene, load: Load, work: (ours: Way, bare: Way) => Promise<void>): Promise<void> {
  return withOurs(scene, load, (ours) => withBare(scene, load, (bare) => work(ours, bare)));
}
