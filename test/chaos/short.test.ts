/** A few rounds of the chaos harness, so that every change of the product meets it. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { canScan } from '../e2e/processScan.js';
import { findRedisServer } from '../e2e/redisServer.js';
import { testFolder } from '../harness/folder.js';
import { PACE } from './cast.js';
import { planRound, systematicRound } from './plan.js';
import { playScene } from './playScene.js';

/** Reached only after Redis has forgotten something. */
const FORGETFUL = ['commit.complete_forgotten.before', 'commit.regain.after'] as const;
/**
 * Its rounds set the clock back while they kill the bridge three times; stop it behind a commit; kill it behind another one; and
 * stop it before they kill it. An answer is banned, and more than half of the agents are text agents.
 */
const SEED = 12_879;
const DRAWN = ['clock', 'stop', 'kill', 'frozen'];
/** Rounds are judged by what they leave, never by how long they take. */
const LONGEST_MS = 600_000;

const playTest = canScan() && findRedisServer() !== null ? test : test.skip;

// rule: chaos-loses-nothing
playTest(
  'rounds of faults on real processes lose nothing and do nothing twice; a failpoint behind a loss of Redis trips, too',
  async () => {
    const forgetful = FORGETFUL.map((name, round) => systematicRound(round, name));
    const random = DRAWN.map((_, index) => planRound(SEED, FORGETFUL.length + index));
    expect(random.map(({ fault }) => (fault.kind === 'failpoint' ? fault.action : fault.kind))).toEqual(DRAWN);
    const folder = join(testFolder(), 'scene');
    const never = new AbortController().signal;
    const plans = [...forgetful, ...random];
    const { rounds, violations } = await playScene(folder, plans, PACE, () => undefined, never);
    expect(violations).toEqual([]);
    expect(rounds.slice(0, FORGETFUL.length).map(({ fell }) => fell)).toEqual(FORGETFUL.map(() => true));
    const others = rounds.slice(FORGETFUL.length);
    expect(others.flatMap(({ unended }) => unended)).toEqual([]);
    expect(others.filter(({ effective }) => effective).length).toBeGreaterThan(0);
  },
  LONGEST_MS,
);
