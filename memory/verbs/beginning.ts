/** Begins a session with a plan, wherever its caller is: the first of a directory, next to another one, in its place, or within it. */
import { counted } from '../../src/counted.js';
import { UsageError } from '../../src/errors.js';
import { type WorklogFields, type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import type { Step } from '../fold/worklog.js';
import { archiveSession } from '../keeping/archive.js';
import { RefusedError } from '../logs/kind.js';
import { adoptCaller, isInAgent } from '../sessions/adoption.js';
import { beginChild } from '../sessions/delegation.js';
import type { Memory } from '../sessions/memory.js';
import { requireOwnMemory } from '../sessions/ownMemory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { writeOrRefuse } from '../sessions/write.js';
import { stepLine } from '../show/status.js';
import { requireDirectory } from '../workspaces/removed.js';
import { sinceScan } from '../workspaces/scan.js';
import { putAway, reportsHere } from './followUps.js';
import { allHere, inTheWay, onlyCrashed } from './inTheWay.js';
import { resumeWith } from './resumeWith.js';
import { keepScan } from './scan.js';
import type { Outcome } from './verb.js';

export interface Wanted {
  readonly task: string;
  /** The lines of its steps. */
  readonly plan: readonly WorklogLine[];
  /** How to treat the session that is there already. */
  readonly existing: 'resume' | 'archive' | 'concurrent' | undefined;
  /** The session to resume, or the bridge's session to plan. */
  readonly session: string | undefined;
  readonly name: string | undefined;
  /** Taken if it is free. */
  readonly id?: string | undefined;
  readonly parent?: string | undefined;
  readonly settings?: Omit<WorklogFields<'session_changed'>, 'purpose' | 'name'>;
}

/** The session that has begun; or the sessions that are in the way, and nothing was changed. */
export type Begun =
  | { readonly session: OpenSession; readonly outcome: Outcome; readonly isResumed?: true }
  | { readonly others: readonly OpenSession[] };

/**
 * @throws RefusedError if the plan is not legal, a session has a plan already, or another live agent works on what is to be put away;
 *   UsageError if it is not clear which session is to be resumed
 */
export async function beginSession(memory: Memory, wanted: Wanted): Promise<Begun> {
  const { existing, session: named, plan } = wanted;
  if (memory.isBridges) return planBridges(memory, wanted);
  const holder = existing === 'concurrent' ? null : memory.holder();
  if (existing === 'resume') {
    const meant = named === undefined ? (holder ?? (await onlyCrashed(memory))) : memory.which(named);
    if (meant !== null) return resumed(memory, meant, holder);
  }
  const isOwn = wanted.parent === undefined && holder !== null && mayBePlanned(holder, memory);
  if (isOwn && plan.length > 0 && existing !== 'archive') return planExisting(memory, holder, wanted);
  return begin(memory, holder, wanted);
}

function resumed(memory: Memory, meant: OpenSession, holder: OpenSession | null): Begun {
  const { folder } = resumeWith(memory, meant);
  const isImplied = isInAgent(memory) || meant.id === holder?.id;
  const how = isImplied ? '' : ': name it with --session, because no agent works in this shell';
  const outcome = {
    lines: `going on with session ${meant.id}${how}`,
    value: { session_id: meant.id, folder, resumed: true },
  };
  return { session: { ...meant, folder }, outcome, isResumed: true };
}

async function begin(memory: Memory, holder: OpenSession | null, wanted: Wanted): Promise<Begun> {
  requireDirectory(memory.surroundings.directory);
  const { existing, task, plan } = wanted;
  const archives = existing === 'archive';
  const isChild = wanted.parent !== undefined;
  // A child session works next to its parent.
  const isBesides = existing === 'concurrent' || (isChild && !archives);
  const others = isBesides ? [] : await (archives ? allHere : inTheWay)(memory, holder);
  if (others.length > 0 && !archives) return { others };
  // Refused while another live agent works on one, which keeps its monitor then.
  for (const other of others) archiveSession(memory, other, { end: () => 'cancelled' });
  if (task.trim() === '') throw new UsageError('no session holds this directory, so there is nothing to go on with');
  const asides = reportsHere(memory);
  const { name, id, settings } = wanted;
  const beginning = { purpose: task, fields: { name, ...settings }, plan, concurrent: isBesides, id };
  const session =
    wanted.parent === undefined
      ? memory.lifecycle.begin(memory.workspace, beginning)
      : beginChild(memory, memory.which(wanted.parent), beginning);
  if (!isChild) adoptCaller(memory, session);
  keepScan(memory, session.id, sinceScan(memory, memory.workspace.root, null).scan);
  const outcome: Outcome = {
    lines: `session ${session.id} begins${stepsOf(plan)}`,
    value: { session_id: session.id, folder: session.folder, steps: plan.length },
    asides,
    followUps: [...others.flatMap(putAway), { do: 'keep_round' }],
  };
  return { session, outcome };
}

function stepsOf({ length }: readonly unknown[]): string {
  return length === 0 ? '; add steps with: watchkeeper track step --add TITLE' : `, with ${counted(length, 'step')}`;
}

/** An agent of a bridge has a session already: the steps are its plan, and the task is an entry of its log. */
function planBridges(memory: Memory, wanted: Wanted): Begun {
  const { existing } = wanted;
  if (existing === 'archive' || existing === 'concurrent' || wanted.parent !== undefined)
    requireOwnMemory(memory.places);
  const session = memory.which(wanted.session ?? null);
  const { id, folder } = session;
  if (existing !== 'resume') return planExisting(memory, session, wanted);
  const value = { session_id: id, folder, resumed: true };
  return { session, outcome: { lines: `going on with session ${id}`, value }, isResumed: true };
}

/** Whether the agent in this shell has begun it with `work start`, which makes no plan. */
function mayBePlanned({ id, log: { state } }: OpenSession, { conversation, bindings }: Memory): boolean {
  const isOwn = conversation !== null && bindings.sessionOf(conversation) === id;
  return isOwn && state.facts?.explicit === true && state.steps.size === 0;
}

function planExisting(memory: Memory, session: OpenSession, { task, plan, settings = {} }: Wanted): Begun {
  const { id, folder } = session;
  writeOrRefuse(session, memory.stamp, ({ steps }) => {
    if (steps.size > 0) throw hasPlan(id, [...steps.values()]);
    const changed = Object.values(settings).some((value) => value !== undefined);
    const change = changed ? [worklogKind.line('session_changed', settings)] : [];
    return [worklogKind.line('log', { message: task }), ...change, ...plan];
  });
  const outcome = {
    lines: `session ${id} has a plan of ${counted(plan.length, 'step')}`,
    value: { session_id: id, folder, steps: plan.length },
  };
  return { session, outcome };
}

function hasPlan(id: string, steps: readonly Step[]): RefusedError {
  const lines = [`session ${id} has a plan already:`, ...steps.map((step) => `  ${stepLine(step)}`)];
  const message = [...lines, 'Go on with it: watchkeeper track step …; add to it: watchkeeper track step --add TITLE'];
  return new RefusedError({ code: 'has_plan', message });
}
