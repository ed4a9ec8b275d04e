/** The scene that rounds are played in: a project per round, two lanes each, and agents of every kind. */
import { join } from 'node:path';
import { compiledProgram } from '../../src/host/program.js';
import type { SceneOptions } from '../e2e/bridgeScene.js';
import { GOOD_SETTINGS } from '../e2e/redisServer.js';
import type { Scenario, SceneProject } from '../e2e/sceneFiles.js';
import type { Kind } from './plan.js';
import { HARNESS_FILES } from './records.js';
import { SYNC_RECORD } from './syncRecorder.js';

/** A project has one new issue an hour, so each round has a project of its own. */
export const ROUNDS_PER_SCENE = 16;
export const ANSWER = 'answer of {{session}} by {{run}}';

const SILENCE_MS = 2_500;
/** Twice what any call of a healthy agent takes. */
const LONGEST_CALL_MS = 1_500;

const answer = { do: 'answer', text: ANSWER } as const;
const work = (index: string, takes_ms: number) =>
  ({ do: 'call', tool: 'bash', input: { command: `step ${index}` }, output: `done ${index}`, takes_ms }) as const;

const STEPS: Readonly<Record<Kind, Scenario['steps']>> = {
  quick: [work('one', 50), answer],
  slow: [work('one', 500), work('two', 500), work('three', 500), answer],
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

/** The second attempt of all but one kind answers. What we add to a prompt stands below the message. */
function scenarios(): Scenario[] {
  const first = Object.entries(STEPS).map(([kind, steps]) => ({ when: { message: `^${kind}\\b` }, steps }));
  const second = [work('one', 300), work('two', 300), answer];
  return [{ when: { message: '^(?!fails)', attempt: 2 }, steps: second }, ...first];
}

export function projectOf(place: number): string {
  return `p${place}`;
}

/** @returns the chats of a project: one per lane */
export function chatsOf(place: number): readonly [number, number] {
  return [1_000 + 2 * place, 1_001 + 2 * place];
}

/**
 * @param leaseMs of runs and of the watchdog
 * @param port where Redis listens besides its socket
 */
export function sceneOptions(folder: string, leaseMs: number, port: number): SceneOptions {
  const projects = Object.fromEntries(
    Array.from({ length: ROUNDS_PER_SCENE }, (_, place): [string, SceneProject] => [
      projectOf(place),
      {
        chats: chatsOf(place).map((id, lane) => ({ id, directory: `lane${lane}` })),
        scenarios: scenarios(),
        thresholds: { silence_ms: SILENCE_MS, tool_wait_ms: LONGEST_CALL_MS },
      },
    ]),
  );
  return {
    folder,
    redis: 'scene',
    projects,
    // With less, Redis itself says that a second may be lost when it is killed.
    redisSettings: [...GOOD_SETTINGS, '--appendfsync', 'always', '--bind', '127.0.0.1', '--port', String(port)],
    concurrency: 8,
    timings: {
      runLeaseMs: leaseMs,
      watchdogLeaseMs: leaseMs,
      killGraceMs: 400,
      drainMs: 300,
      reportWaitMs: 1_500,
      proofMs: 30_000,
      progressEveryMs: 250,
    },
    environment: {
      WATCHDOG_CRON: '*/5 * * * * *',
      LOG_LEVEL: 'info',
      NODE_OPTIONS: `--import ${compiledProgram('test/chaos/syncRecorder')}`,
      [SYNC_RECORD]: join(folder, HARNESS_FILES.synced),
    },
  };
}
