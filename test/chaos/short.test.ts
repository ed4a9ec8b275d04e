/** A few rounds of the chaos harness, so that every change of the product meets it. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { canScan } from '../e2e/processScan.js';
import { findRedisServer } from '../e2e/redisServer.js';
import { testFolder } from '../harness/folder.js';
import { PACE } from './cast.js';
import { planRound, systematicRound } from './plan.js';
import { playScene } from './playScene.js';

/**
 * Its rounds stop the bridge before they kill it, and stop it at its log; set the clock back while they kill it three times; kill it
 * twice more behind a commit; and ban an answer. Half of the agents are text agents.
 */
const SEED = 40;
const ROUNDS = 5;
/** Rounds are judged by what they leave, never by how long they take. */
const LONGEST_MS = 600_000;

const playTest = canScan() && findRedisServer() !== null ? test : test.skip;

// rule: chaos-loses-nothing
playTest(
  'rounds of faults on real processes lose nothing and do nothing twice',
  async () => {
    const plans = Array.from({ length: ROUNDS }, (_, round) => planRound(SEED, round));
    const folder = join(testFolder(), 'scene');
    const never = new AbortController().signal;
    const { rounds, violations } = await playScene(folder, plans, PACE, () => undefined, never);
    expect(violations).toEqual([]);
    expect(rounds.flatMap(({ unended }) => unended)).toEqual([]);
    expect(rounds.filter(({ effective }) => effective).length).toBeGreaterThan(0);
  },
  LONGEST_MS,
);

// rule: chaos-loses-nothing
playTest(
  'a failpoint that is reached only after Redis has forgotten something trips, too',
  async () => {
    const names = ['commit.complete_forgotten.before', 'commit.regain.after'] as const;
    const plans = names.map((name, round) => systematicRound(round, name));
    const folder = join(testFolder(), 'scene');
    const never = new AbortController().signal;
    const { rounds, violations } = await playScene(folder, plans, PACE, () => undefined, never);
    expect(violations).toEqual([]);
    expect(rounds.filter(({ fell }) => fell).map(({ round }) => names[round])).toEqual(names);
  },
  LONGEST_MS,
);
