/** Reads the entry of a list on a session, from its `state.json` or from its logs. */
import { UnreachableError } from '../../src/errors.js';
import { mayBeAtWork, type Recorded } from '../condition/condition.js';
import type { PublishedWait } from '../condition/publishedWait.js';
import { recordedIn, recordedOf } from '../condition/recorded.js';
import { isNoticed, type Judged } from '../condition/stuck.js';
import { isUnused } from '../fold/unused.js';
import { settledCounts } from '../logs/settledCounts.js';
import { lastAskedOf, purposeOf, readPurpose } from '../observed/purpose.js';
import { type Observation, observe } from '../observed/sources.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import { readable } from '../workspaces/logs.js';
import type { Judge } from './look.js';
import { publishedWait } from './publishedWait.js';
import { settledState } from './written.js';

/** The part of a row that the record of its session has. */
export interface Listed {
  readonly purpose: string;
  /** The last prompt, unless it is the purpose. */
  readonly last_asked: string | null;
  readonly name: string | null;
  readonly workspace: string | null;
  /** The top of its workspace. Null if it is unknown which one it was. */
  readonly directory: string | null;
  readonly created_at: number | null;
}

/** A session before it is a row. */
export interface Entry extends Listed {
  readonly recorded: Recorded;
  readonly judged: Judged | null;
  readonly wait: PublishedWait | null;
}

export interface EntryOptions {
  /** Judges the agents that may be at work. */
  readonly judge: Judge;
  /** Called for each session whose log cannot be read, or whose workspace's log cannot. */
  onUnreadable(error: UnreachableError): void;
}

/** @returns null if its logs must be folded */
export function writtenEntry(memory: Viewer, folder: string): Entry | null {
  const state = settledState(memory, folder);
  if (state === null) return null;
  const { name, workspace, purpose, last_asked, created_at } = state;
  return {
    purpose,
    last_asked,
    name,
    workspace,
    directory: null,
    created_at,
    recorded: recordedIn(state),
    judged: null,
    wait: null,
  };
}

/** @returns null if it is left out, or cannot be read */
export async function foldedEntry(
  memory: Viewer,
  id: string,
  { judge, onUnreadable }: EntryOptions,
): Promise<Entry | null> {
  try {
    const session = memory.sessions.read(id);
    if (session === null) return null;
    const { log, folder } = session;
    const { state } = log;
    const workspace = readable(() => memory.workspaceOf(state), onUnreadable) ?? null;
    const folders = state.lifecycle === 'ended' ? null : memory.programs;
    const { fold, isUnseen } = await observe(
      { log: state, folder, workspace },
      { folders, redact: memory.stamp.redact },
    );
    if (isLeftUnused(memory, log, { fold, isUnseen })) return null;
    const recorded = recordedOf(state, fold, await settledCounts(log), isUnseen);
    const isJudged = state.conversations.length > 0 || isNoticed(state);
    const isAtWork = isJudged && mayBeAtWork(recorded, memory.runsOf(state));
    const purpose = state.facts === null ? '' : purposeOf(state, fold);
    return {
      purpose: purpose === '' ? await readPurpose(state, memory.programs, memory.stamp.redact) : purpose,
      last_asked: lastAskedOf(state, fold),
      name: state.facts?.name ?? null,
      workspace: workspace?.id ?? state.facts?.workspace ?? null,
      directory: workspace?.root ?? null,
      created_at: state.created_at,
      recorded,
      judged: isAtWork ? await judge(memory, id, memory.clock.now()) : null,
      wait: isAtWork ? publishedWait(memory, state) : null,
    };
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    onUnreadable(error);
    return null;
  }
}

/** Whether an agent was closed or killed before it was asked anything. Lines that cannot be read may be declarations. */
function isLeftUnused(
  memory: Viewer,
  { state, counts }: OpenSession['log'],
  { fold, isUnseen }: Pick<Observation, 'fold' | 'isUnseen'>,
): boolean {
  const runs = memory.runsOf(state);
  const isKnown = !(isUnseen && runs.isLost) && counts.unreadable + counts.newer === 0;
  return !runs.mayWork && isKnown && isUnused(state, fold, isUnseen);
}
