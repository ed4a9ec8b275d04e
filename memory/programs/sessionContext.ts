/** What the model of a program is told when one of its conversations begins or goes on, and what is shown to the person. */

import { counted } from '../../src/counted.js';
import { shorten } from '../../src/log/shorten.js';
import { oneLine } from '../../src/log/visibleText.js';
import { contextGiven, contextTold, digestOf } from '../brief/contextGiven.js';
import type { ContextLevel } from '../brief/levels.js';
import { Words } from '../brief/observedSections.js';
import { buildNotesContext, buildResumeContext, type ContextOptions } from '../brief/resumeContext.js';
import { hostElsewhere, isCrashed } from '../fold/crash.js';
import { newWorklog } from '../fold/newWorklog.js';
import { progressOf } from '../fold/state.js';
import type { Worklog } from '../fold/worklog.js';
import { runMayLiveHere } from '../keeping/runs.js';
import type { Observed } from '../observed/observed.js';
import { lastAskedOf, purposeOf } from '../observed/purpose.js';
import { isAfterthought, isUndeclared } from '../sessions/adoption.js';
import { hasScreen } from '../sessions/agentProcess.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { placeNow } from '../show/directory.js';
import { ago, lookAt, type Status, stepsOf } from '../show/status.js';
import { changesSince } from './changesSince.js';
import type { StartedConversation } from './conversationStart.js';
import type { Launch } from './launch.js';

/** Of one workspace, the newest first. */
const MOST_LOOKED_AT = 50;
const LONGEST_PURPOSE = 80;
/** Who was told, in a power failure: then it is told once more. */
const MAY_BE_LOST = { isFact: true, isDurable: false } as const;

export interface GivenContext {
  readonly level: ContextLevel;
  /** For the model; empty: nothing. */
  readonly text: string;
  /** For the person, in one line; null: nothing. */
  readonly notice: string | null;
  /** For whom it is; missing: the main agent. */
  readonly subAgent?: string | null;
}

/** @returns the sessions of which the start of a conversation may be told, the first of them if there is something to tell */
export function toldAtStart(
  memory: Memory,
  { session, before }: StartedConversation,
  { source }: Launch,
): readonly OpenSession[] {
  // A session that it comes to, or its own; one that begins is told of the one before.
  const own = before ?? (levelOf(source, session.log.state) === 'root' ? null : session);
  return own === null ? unfinished(memory, session.id) : [own];
}

/**
 * @param candidates of {@link toldAtStart}
 * @returns what is told at the start of a conversation
 */
export async function startContext(
  memory: Memory,
  started: StartedConversation,
  launch: Launch,
  candidates = toldAtStart(memory, started, launch),
): Promise<GivenContext> {
  const { session } = started;
  const { about, given } = await contextOfFirst(memory, candidates, { source: launch.source, own: session });
  // Who runs to its end with nobody before it keeps no crash from the person, or from the agent that comes then.
  if (about !== null && about !== session.id && hasScreen(memory.surroundings, launch.agent))
    markTold(memory, about, session.id);
  return given;
}

/** @returns what is told at the start of a conversation of which nothing can be recorded; it writes nothing, either */
export async function unrecordedContext(memory: Memory, launch: Launch): Promise<GivenContext> {
  const { source, agent } = launch;
  const isSame = source === 'clear' || source === 'compact';
  const bound = isSame && agent !== null ? memory.bindings.sessionOf({ process: agent }) : null;
  const id = memory.bindings.sessionOf(launch) ?? bound;
  const known = id === null ? null : memory.look(id);
  const own = known === null || known.log.state.lifecycle === 'ended' ? null : known;
  const others = levelOf(source, newWorklog()) === 'root' ? unfinished(memory, id) : [];
  const candidates = others.length > 0 || own === null ? others : [own];
  return (await contextOfFirst(memory, candidates, { source, own })).given;
}

/**
 * @param own the session of the conversation; null: it has none
 * @returns the context about the first session of which there is something to tell, and which that is; else the notes of the directory
 */
async function contextOfFirst(
  memory: Memory,
  candidates: readonly OpenSession[],
  { source, own }: { readonly source: Launch['source']; readonly own: OpenSession | null },
): Promise<{ readonly about: string | null; readonly given: GivenContext }> {
  const log = own?.log.state ?? newWorklog();
  const level = levelOf(source, log);
  for (const [index, about] of candidates.entries()) {
    const status = await lookAt(memory, about);
    if (isNothing(status)) continue;
    const further = othersThan(memory, candidates.slice(index + 1));
    const text = contextOf(memory, status, { level, further, isOwn: about.id === own?.id });
    const notice = level === 'root' || level === 'resumed' ? noticeOf(status) : null;
    return { about: about.id, given: { level, text, notice } };
  }
  return { about: null, given: { level, text: buildNotesContext({ ...common(memory, log), level }), notice: null } };
}

function isNothing({ log, fold }: Status): boolean {
  return (fold === null && isUndeclared(log) && !log.facts?.purpose) || isAfterthought(log, fold);
}

function othersThan({ surroundings }: Memory, others: readonly OpenSession[]): string[] {
  if (others.length === 0) return [];
  const crashed = others.filter(({ log }) => isCrashed(log.state, surroundings.process)).length;
  const which = crashed === 0 ? '' : `, ${crashed} of which crashed`;
  return [
    `${counted(others.length, 'more unfinished session')} of this directory${which}: watchkeeper work list --here`,
  ];
}

/**
 * @param subAgent its id; null: the program does not say
 * @returns what a sub-agent of the session is told. One that goes on has its first context already, and nothing is told twice
 */
export async function delegatedContext(
  memory: Memory,
  session: OpenSession,
  subAgent: string | null,
): Promise<GivenContext> {
  const log = session.log.state;
  // What nobody has declared, its transcript knows.
  const isDeclared = log.steps.size > 0 && log.facts?.purpose;
  const { fold } = isDeclared ? { fold: null } : await lookAt(memory, session);
  return delegated(memory, session, { subAgent, fold });
}

/** @returns the same if its transcript takes too long to be read */
export function declaredContext(memory: Memory, session: OpenSession, subAgent: string | null): GivenContext {
  return delegated(memory, session, { subAgent, fold: null });
}

function delegated(
  memory: Memory,
  { log }: OpenSession,
  { subAgent, fold }: { readonly subAgent: string | null; readonly fold: Observed | null },
): GivenContext {
  const last = subAgent === null ? undefined : log.state.given.get(subAgent);
  const level = last === undefined ? 'delegated' : 'resumed_delegated';
  const options = { ...common(memory, log.state), level, crashed: false, fold, subAgent } as const;
  const text = buildResumeContext(log.state, options);
  return { level, text: last === digestOf(text) ? '' : text, notice: null, subAgent };
}

/** Notes in the session's worklog what was given. */
export function noteGiven({ stamp }: Memory, { log }: OpenSession, { level, text, subAgent }: GivenContext): void {
  if (text !== '')
    log.write(() => [contextGiven(level, text, subAgent)], { ...stamp, origin: 'watchkeeper' }, MAY_BE_LOST);
}

function levelOf(source: Launch['source'], { facts }: Worklog): ContextLevel {
  if (source === 'clear' || source === 'compact') return 'compacted';
  if (source !== 'resume') return 'root';
  return facts?.parent == null ? 'resumed' : 'resumed_delegated';
}

/** Sessions of the workspace that have not ended, and on which nobody works, as far as it can be seen here: first what crashed unnoticed, then the newest. */
function unfinished(memory: Memory, except: string | null): readonly OpenSession[] {
  const ids = [...(memory.claims.read(memory.workspace)?.sessions ?? [])].reverse().slice(0, MOST_LOOKED_AT);
  const here = memory.surroundings.process;
  const open = ids.flatMap((id) => {
    const session = id === except || memory.sessions.endsEnded(id) ? null : memory.look(id);
    const state = session?.log.state;
    if (session === null || state === undefined || state.lifecycle === 'ended' || state.archived !== null) return [];
    return runMayLiveHere(memory, state) ? [] : [session];
  });
  const crashed = open.filter(({ log }) => isCrashed(log.state, here) && log.state.told_at === null);
  return [...crashed, ...open.filter((session) => !crashed.includes(session))];
}

function contextOf(
  memory: Memory,
  status: Status,
  { level, ...more }: Pick<ContextOptions, 'level' | 'further' | 'isOwn'>,
): string {
  const { log, fold, computed, left } = status;
  const words = new Words(memory.stamp.redact);
  return buildResumeContext(log, {
    ...common(memory, log),
    ...{ level, fold, crashed: computed.crashed, left, ...more },
    place: level === 'compacted' ? null : placeNow(memory, log, (text) => words.name(text)),
    parent: log.facts?.parent == null ? null : (memory.look(log.facts.parent)?.log.state ?? null),
    changes: level === 'resumed' ? changesSince(memory, status) : [],
  });
}

/** Whoever starts next need not hear of the crash first again; of what cannot be seen here, its own host may still say that it crashed. */
function markTold(memory: Memory, about: string, to: string): void {
  const session = memory.sessions.open(about);
  session?.log.write(
    (state) => (hostElsewhere(state, memory.surroundings.process) === null ? [contextTold(to)] : []),
    { ...memory.stamp, origin: 'watchkeeper' },
    MAY_BE_LOST,
  );
  session?.log.close();
}

/** For a person; their own words may be shown on their own screen. */
function noticeOf(status: Status): string | null {
  const { log, fold, last, now, computed } = status;
  if (!computed.crashed && !computed.check.critical) return null;
  const { done, total } = progressOf(stepsOf(status));
  const purpose = shorten(oneLine(purposeOf(log, fold)), LONGEST_PURPOSE);
  const progress = total === 0 ? '' : ` (${done} of ${counted(total, 'step')} done)`;
  const when = last === null ? '' : `, ${ago(now - last)}`;
  const what = `${purpose === '' ? '' : `: ${purpose}`}${progress}`;
  // What it had answered was not broken off.
  const asked = fold?.isTurnOpen ? lastAskedOf(log, fold) : null;
  const broken = asked === null ? '' : `; last asked: ${shorten(oneLine(asked), LONGEST_PURPOSE)}`;
  if (computed.crashed)
    return `watchkeeper: the last agent here crashed${when}${what}${broken}. The new agent has its record; you can read it with: watchkeeper track resume ${log.session_id}`;
  return `watchkeeper: the last session here is old${when}${what}. Much may have changed: watchkeeper track resume ${log.session_id}`;
}

function common(memory: Memory, log: Worklog) {
  const workspace = memory.workspaceOf(log) ?? memory.workspace;
  return {
    now: memory.clock.now(),
    root: workspace.root,
    here: memory.surroundings.process,
    pinned: memory.claims.read(workspace)?.notes ?? [],
    settings: memory.settings,
    redact: memory.stamp.redact,
  };
}
