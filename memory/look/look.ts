/** Looks at one session: its worklog, what was observed of it, and what follows from now and this host. */
import { type Condition, conditionOf, lastActive } from '../condition/condition.js';
import { type DoubtfulFile, filesInDoubt } from '../condition/filesInDoubt.js';
import { recordedOf } from '../condition/recorded.js';
import type { Judged } from '../condition/stuck.js';
import { weightTakenUp } from '../condition/weight.js';
import { type SessionState, sessionStateOf } from '../fold/freshness.js';
import { lostRun } from '../fold/runs.js';
import type { Worklog } from '../fold/worklog.js';
import type { LogCounts } from '../logs/reader.js';
import { type CombinedState, combinedState } from '../observed/combined.js';
import type { Observed } from '../observed/observed.js';
import { observe } from '../observed/sources.js';
import { type Step, stepOf, stepsOf } from '../observed/step.js';
import { type LeftProcess, leftProcesses, wordsOfShell } from '../sessions/leftProcesses.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import { publishedWait } from './publishedWait.js';
import { isTakenUp, type SettledFile, settledSince } from './settledSince.js';

/**
 * Judges the work of a session's agent by the rules of the watchdog.
 * @param now UTC epoch milliseconds
 * @returns null if there is no such session any more
 */
export type Judge = (memory: Viewer, sessionId: string, now: number) => Promise<Judged | null>;

/** The condition, and what costs a look at processes and files. */
export interface WholeCondition extends Condition {
  /** In the word of an older tracker. */
  readonly session_state: SessionState;
  /** The step in progress, or else the next one. Null if every one is settled. */
  readonly step: Step | null;
  /** Processes that crashed agents have left running; their commands are redacted. */
  readonly left: readonly LeftProcess[];
  /** Files that may be half written. */
  readonly doubtful: readonly DoubtfulFile[];
  /** Files that others have finished since its agent was interrupted. */
  readonly settled: readonly SettledFile[];
}

export interface Look {
  readonly log: Worklog;
  readonly state: CombinedState;
  /** Null if nothing was observed. */
  readonly fold: Observed | null;
  /** Neither a transcript nor a journal exists. */
  readonly isUnseen: boolean;
  /** The last activity or acknowledgement, UTC epoch milliseconds. */
  readonly last: number | null;
  readonly now: number;
  /** The path of its worklog. */
  readonly path: string;
  readonly condition: WholeCondition;
}

export interface LookOptions {
  /** The counts of its worklog, if the caller has the time to wait for `settledCounts`. */
  readonly counts?: Readonly<LogCounts>;
  readonly judge?: Judge;
}

export async function lookAt(
  memory: Viewer,
  { id, log: written, folder }: OpenSession,
  { counts = written.counts, judge }: LookOptions = {},
): Promise<Look> {
  const { state: log, at, path } = written;
  const { clock, settings, stamp, surroundings } = memory;
  const now = clock.now();
  const workspace = memory.workspaceOf(log);
  const observation = await observe({ log, folder, workspace }, { folders: memory.programs, redact: stamp.redact });
  const state = combinedState(log, at, observation);
  const { fold, isUnseen } = observation;
  const recorded = recordedOf(log, fold, counts, isUnseen);
  const judged = (await judge?.(memory, id, now)) ?? null;
  const wait = publishedWait(memory, log);
  const viewpoint = { here: surroundings.process, now, hours: settings.freshness, judged, wait };
  const first = conditionOf(recorded, viewpoint);
  const place = workspace ?? memory.workspace;
  const doubtfulNow = () => filesInDoubt({ log, fold }, place.root);
  const inDoubt = first.weight === 'files_in_doubt' ? doubtfulNow() : null;
  const since = inDoubt === null ? null : await settledSince(memory, { log, fold, doubtful: inDoubt }, place);
  const { settled, doubtful } = since ?? { settled: [], doubtful: null };
  const looseEnds = { ...recorded.looseEnds, files: 0, abandoned_files: 0 };
  const isSettled = doubtful?.length === 0;
  const ends = { ends: recorded.looseEnds, workspace: place };
  const isOver = isSettled && isTakenUp(memory, { log, fold }, settled, ends);
  const condition = isSettled ? conditionOf({ ...recorded, looseEnds }, viewpoint) : first;
  const isCompacted = fold?.isCompacted ?? false;
  let left: LeftProcess[] | null = null;
  // A look at other processes, or at files, waits until it is asked for.
  const whole = {
    ...condition,
    ...(isOver && { weight: weightTakenUp(condition.progress, looseEnds) }),
    session_state: sessionStateOf(condition.freshness, { isUsed: isUsed(log, fold), isCompacted }),
    step: stepOf(stepsOf({ log, fold })),
    settled,
    get left() {
      left ??= leftBy(memory, log, condition);
      return left;
    },
    get doubtful() {
      return doubtful ?? doubtfulNow();
    },
  };
  return { log, state, fold, isUnseen, last: lastActive(recorded), now, path, condition: whole };
}

function leftBy(memory: Viewer, log: Worklog, { agent }: Condition): LeftProcess[] {
  // Another agent may have come; the processes of the first one continue.
  if (agent !== 'crashed' && lostRun(log) === null) return [];
  const named = log.conversations.map(({ provider, id }) => ({ provider, conversation: id }));
  const living = memory.runsOf(log).living.map(({ process }) => process.pid);
  const { redact } = memory.stamp;
  return leftProcesses(named, living).map(({ pid, command }) => ({ pid, command: wordsOfShell(redact(command)) }));
}

/** Whether an agent has used a tool, as far as it can be seen; without an observation, whether anything was begun. */
function isUsed(log: Worklog, fold: Observed | null): boolean {
  if (fold !== null) return fold.firstTool !== null;
  return log.files.size > 0 || [...log.steps.values()].some(({ started_at }) => started_at !== null);
}

/** @returns the part of the condition that `--json` shows next to the state */
export function computedOf({ condition }: Look) {
  const { liveness, agent, freshness, check, session_state } = condition;
  return { liveness, crashed: agent === 'crashed', freshness, check, session_state };
}
