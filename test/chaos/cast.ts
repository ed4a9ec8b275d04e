/**
 * The scene that rounds are played in: for each round a project whose agents are scripted, and another one whose agents are text
 * agents. Each has two chats, which are its lanes.
 */
import { join } from 'node:path';
import { compiledProgram } from '../../src/host/program.js';
import type { SceneOptions } from '../e2e/bridgeScene.js';
import { GOOD_SETTINGS } from '../e2e/redisServer.js';
import type { Scenario, SceneProject } from '../e2e/sceneFiles.js';
import { clockFile } from './clocks.js';
import { MOVED_CLOCK } from './movedClock.js';
import type { Kind, RoundPlan } from './plan.js';
import { HARNESS_FILES } from './records.js';
import { SYNC_RECORD } from './syncRecorder.js';
import { textAgent } from './textAgent.js';

/** A project has one new issue an hour, so each round has a project of its own. */
export const ROUNDS_PER_SCENE = 16;
const ANSWER = 'answer of {{session}} by {{run}}';

const SILENCE_MS = 2_500;
/** Twice what any call of a healthy agent takes. */
const LONGEST_CALL_MS = 1_500;
/** Longer than a mute agent works. */
const TEXT_SILENCE_MS = 6_500;
/** Long enough for a bridge that is killed to come back, and shorter than it is stopped at the longest before it is killed. */
const YOUNG_RUN_MS = 3_500;
const LONG_STEPS = 16;

const answer = { do: 'answer', text: ANSWER } as const;
const work = (index: string, takes_ms: number) =>
  ({ do: 'call', tool: 'bash', input: { command: `step ${index}` }, output: `done ${index}`, takes_ms }) as const;

const STEPS: Readonly<Record<Kind, Scenario['steps']>> = {
  quick: [work('one', 50), answer],
  slow: [work('one', 500), work('two', 500), work('three', 500), answer],
  long: [...Array.from({ length: LONG_STEPS }, (_, index) => work(String(index), 300)), answer],
  crashes: [work('one', 300), { do: 'crash', signal: 'SIGSEGV' }],
  fails: [work('one', 300), { do: 'crash', signal: 'SIGSEGV' }],
  exits: [work('one', 50), { do: 'exit', code: 1 }],
  silent: [work('one', 50), { do: 'silence' }],
  stubborn: [
    work('one', 50),
    { do: 'ignore_sigterm' },
    { do: 'hanging_tool', own_session: true, ignores_sigterm: true, in_background: true },
    { do: 'silence' },
  ],
};

/** The second attempt of all kinds but `fails` answers, soon but for `long`. What we add to a prompt stands below the message. */
function scenarios(): Scenario[] {
  const first = Object.entries(STEPS).map(([kind, steps]) => ({ when: { message: `^${kind}\\b` }, steps }));
  const second = [work('one', 300), work('two', 300), answer];
  return [{ when: { message: '^(?!fails|long)', attempt: 2 }, steps: second }, ...first];
}

export interface Pace {
  /** Of the leases of runs and of the watchdog. */
  readonly leaseMs: number;
  /** When the watchdog looks at everything, as in `WATCHDOG_CRON`. */
  readonly checks: string;
  /** How many agents work at a time. */
  readonly concurrency: number;
}
export const PACE: Pace = { leaseMs: 2_000, checks: '*/5 * * * * *', concurrency: 8 };

export interface LaneOfRound {
  readonly project: string;
  readonly chat: number;
}

/** @returns the two lanes of a round */
export function lanesOf({ round, agents = ['scripted', 'scripted'] }: RoundPlan): readonly [LaneOfRound, LaneOfRound] {
  const place = round % ROUNDS_PER_SCENE;
  const lane = (number: 0 | 1): LaneOfRound =>
    agents[number] === 'scripted'
      ? { project: `p${place}`, chat: chatsFrom(1_000, place)[number] }
      : { project: `t${place}`, chat: chatsFrom(3_000, place)[number] };
  return [lane(0), lane(1)];
}

function chatsFrom(first: number, place: number): readonly [number, number] {
  return [first + 2 * place, first + 1 + 2 * place];
}

/**
 * @param plans of all its rounds: a bridge starts the sooner the fewer projects it has
 * @param port where Redis listens besides its socket
 */
export function sceneOptions(
  folder: string,
  plans: readonly RoundPlan[],
  { leaseMs, checks, concurrency }: Pace,
  port: number,
): SceneOptions {
  return {
    folder,
    redis: 'scene',
    projects: projects(folder, plans),
    // With less, Redis itself says that a second may be lost when it is killed.
    redisSettings: [...GOOD_SETTINGS, '--appendfsync', 'always', '--bind', '127.0.0.1', '--port', String(port)],
    concurrency,
    timings: {
      runLeaseMs: leaseMs,
      watchdogLeaseMs: leaseMs,
      killGraceMs: 400,
      drainMs: 300,
      reportWaitMs: 1_500,
      proofMs: 30_000,
      progressEveryMs: 250,
      youngRunMs: YOUNG_RUN_MS,
    },
    environment: {
      WATCHDOG_CRON: checks,
      LOG_LEVEL: 'info',
      NODE_OPTIONS: ['syncRecorder', 'movedClock']
        .map((name) => `--import ${compiledProgram(`test/chaos/${name}`)}`)
        .join(' '),
      [SYNC_RECORD]: join(folder, HARNESS_FILES.synced),
      [MOVED_CLOCK]: clockFile(folder),
    },
  };
}

function projects(folder: string, plans: readonly RoundPlan[]): Record<string, SceneProject> {
  const agent = textAgent(folder);
  const places = [...new Set(plans.map(({ round }) => round % ROUNDS_PER_SCENE))];
  const chats = (first: number, place: number) =>
    chatsFrom(first, place).map((id, lane) => ({ id, directory: `lane${lane}` }));
  const scripted = places.map((place): [string, SceneProject] => [
    `p${place}`,
    {
      chats: chats(1_000, place),
      scenarios: scenarios(),
      thresholds: { silence_ms: SILENCE_MS, tool_wait_ms: LONGEST_CALL_MS },
    },
  ]);
  const text = places.map((place): [string, SceneProject] => [
    `t${place}`,
    { chats: chats(3_000, place), agent, thresholds: { silence_ms: TEXT_SILENCE_MS } },
  ]);
  const played = new Set(plans.flatMap((plan) => lanesOf(plan).map(({ project }) => project)));
  return Object.fromEntries([...scripted, ...text].filter(([name]) => played.has(name)));
}
