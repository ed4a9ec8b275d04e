/** The log of a workspace: its sessions, and which of them holds it. */
import { textOf } from '../../src/journal/record.js';
import { addTo } from '../fold/bounds.js';
import type { LogKind, Refusal } from '../logs/kind.js';
import { type Line, lineMaker, timeOfLine } from '../logs/line.js';
import { PRIORITIES, type Priority } from '../words.js';
import { isSamePlace, type WorkspacePlace } from './place.js';
import type { Workspace } from './workspace.js';

export interface WorkspaceNote {
  readonly text: string;
  readonly priority: Priority;
  readonly at: number;
}

export interface WorkspaceState {
  root: string | null;
  kind: Workspace['kind'];
  readonly sessions: Set<string>;
  /** Whether a command began a session here. That a hook met an agent here says nothing of the folder: it claims nothing. */
  declared: boolean;
  /** The session that holds the workspace, and the line that gave it. */
  holder: { readonly session_id: string; readonly claim: string } | null;
  /** For every session of the workspace; the oldest are left out. */
  readonly notes: WorkspaceNote[];
  /** Where its repository is, and what was checked out when that was last noted. Null if it was not. */
  place: WorkspacePlace | null;
  /** The folder in the project that gets the text of its active session, relative to the root. Null if there is none. */
  mirror: string | null;
  /** Sentences on its sessions, for the next one that begins there. */
  readonly reports: string[];
  /** The sessions that went into the archive by themselves since the last one began there, each with a sentence. */
  readonly putAway: Map<string, string>;
  /** By session, how it was left by its last agent, or person. */
  readonly left: Map<string, LeftSession>;
}

/** How a session was found when no agent worked on it, so that it need not be read again while its worklog stays as it is. */
export interface LeftSession {
  /** Its heaviest unfinished part, in a word of `memory/condition/weight.ts`. Null if it has ended. */
  readonly weight: string | null;
  /** Whether its agent crashed or was cut off. */
  readonly interrupted: boolean;
  /** Bytes of its worklog. */
  readonly at: number;
  /** UTC epoch milliseconds. Null if there was none. */
  readonly last_activity: number | null;
  /** The boot of the host that looked. */
  readonly boot_id: string;
  /** The sessions whose agents had finished files of it: what they do later may change its weight. Missing if there was none. */
  readonly by?: readonly string[];
}

/** The fields of each event. */
export interface WorkspaceEvents {
  readonly workspace: { readonly root: string; readonly kind: Workspace['kind'] };
  /** `came`: the session began elsewhere, and its agent ended here. */
  readonly session: { readonly session_id: string; readonly declared?: true; readonly came?: true };
  readonly place: WorkspacePlace;
  readonly claimed: { readonly session_id: string };
  /** `claim` is the id of the line that gave it. */
  readonly released: { readonly claim: string };
  /** `archived` if it went into the archive by itself. */
  readonly told: { readonly session_id: string; readonly sentence: string; readonly archived?: true };
  readonly note: { readonly text: string; readonly priority: Priority };
  /** The last one counts; null means none. */
  readonly mirror: { readonly state_dir: string | null };
  readonly left: { readonly session_id: string } & LeftSession;
}

export const workspaceKind: LogKind<WorkspaceState, WorkspaceEvents> = {
  name: 'workspace',
  begin: () => ({
    root: null,
    kind: 'folder',
    sessions: new Set(),
    declared: false,
    holder: null,
    notes: [],
    place: null,
    mirror: null,
    reports: [],
    putAway: new Map(),
    left: new Map(),
  }),
  apply,
  line: lineMaker<WorkspaceEvents>(),
};

/** @returns the line that notes a place, unless it is known. A commit alone is no news: each session has its own */
export function placeLines(known: WorkspacePlace | null, now: WorkspacePlace | null) {
  return now === null || isSamePlace(known, now) ? [] : [workspaceKind.line('place', now)];
}

/** Without schemas: there is a line for each of thousands of sessions, and a start waits for all of them. */
function apply(state: WorkspaceState, line: Line): Refusal | null {
  const sessionId = textOf(line.session_id);
  switch (line.event) {
    case 'workspace':
      return typeof line.root === 'string' ? beginAt(state, line.root, line.kind) : malformed(line, 'root');
    case 'session':
      if (sessionId === null) return malformed(line, 'session_id');
      state.sessions.add(sessionId);
      state.declared ||= line.declared === true;
      // The sentences wait for an agent that begins here.
      if (line.came === true) return null;
      state.reports.length = 0;
      state.putAway.clear();
      return null;
    case 'claimed':
      return sessionId === null ? malformed(line, 'session_id') : claim(state, sessionId, line.id);
    case 'released':
      if (typeof line.claim !== 'string') return malformed(line, 'claim');
      // A late one names a claim that is no longer held, and has no effect.
      if (state.holder?.claim === line.claim) state.holder = null;
      return null;
    case 'told':
      return sessionId === null ? malformed(line, 'session_id') : keepReport(state, sessionId, line);
    case 'note':
      return keepNote(state, line);
    case 'mirror':
      if (line.state_dir !== null && typeof line.state_dir !== 'string') return malformed(line, 'state_dir');
      state.mirror = line.state_dir;
      return null;
    case 'place':
      return keepPlace(state, line);
    case 'left':
      return sessionId === null ? malformed(line, 'session_id') : leave(state, sessionId, line);
    default:
      return null;
  }
}

function beginAt(state: WorkspaceState, root: string, kind: unknown = 'folder'): null | Refusal {
  if (kind !== 'git' && kind !== 'folder') return malformed({ event: 'workspace' }, 'kind');
  state.kind = state.root === null ? kind : state.kind;
  state.root ??= root;
  return null;
}

/** @returns the sentences for the next one who begins there; of many sessions that were put away, one */
export function reportsOf({ reports, putAway }: Pick<WorkspaceState, 'reports' | 'putAway'>): string[] {
  const [first] = putAway.values();
  if (first === undefined) return [...reports];
  const many = `${putAway.size} sessions of this directory rested for long and are in the archive: watchkeeper work list --here --archived`;
  return [...reports, putAway.size === 1 ? first : many];
}

function keepReport({ reports, putAway }: WorkspaceState, id: string, line: Line): Refusal | null {
  const sentence = textOf(line.sentence);
  if (sentence === null) return malformed(line, 'sentence');
  if (line.archived === true) putAway.set(id, sentence);
  else if (!reports.includes(sentence)) addTo(reports, sentence, { more: {}, name: 'told' });
  return null;
}

function keepPlace(state: WorkspaceState, { repository, common, branch, head }: Line): Refusal | null {
  if (typeof repository !== 'string') return malformed({ event: 'place' }, 'repository');
  if (typeof common !== 'string') return malformed({ event: 'place' }, 'common');
  state.place = { repository, common, branch: textOf(branch), head: textOf(head) };
  return null;
}

function leave({ left }: WorkspaceState, sessionId: string, line: Line): Refusal | null {
  const { weight, interrupted, at, last_activity, boot_id, by } = line;
  if (weight !== null && typeof weight !== 'string') return malformed(line, 'weight');
  if (typeof at !== 'number' || typeof boot_id !== 'string') return malformed(line, 'at');
  const last = typeof last_activity === 'number' ? last_activity : null;
  // A note of one that was found in doubt again keeps them: they are looked at first.
  const known = Array.isArray(by) ? by.filter((id) => typeof id === 'string') : left.get(sessionId)?.by;
  const others = known === undefined ? {} : { by: known };
  left.set(sessionId, { weight, interrupted: interrupted === true, at, last_activity: last, boot_id, ...others });
  return null;
}

function keepNote({ notes }: WorkspaceState, line: Line): Refusal | null {
  const text = textOf(line.text);
  const given = line.priority === undefined ? 'normal' : line.priority;
  const priority = PRIORITIES.find((known) => known === given);
  if (text === null || priority === undefined) return malformed(line, text === null ? 'text' : 'priority');
  const note = { text, priority, at: timeOfLine(line) };
  addTo(notes, note, { more: {}, name: 'notes', isSettled: (one) => one.priority === 'normal' });
  return null;
}

function claim(state: WorkspaceState, sessionId: string, id: string): Refusal | null {
  const { holder } = state;
  if (holder !== null && holder.session_id !== sessionId) return heldBy(holder.session_id, state.root);
  state.declared = true;
  state.holder = { session_id: sessionId, claim: id };
  return null;
}

/** @param root of the workspace; the caller may be elsewhere. Null if its log does not say */
export function heldBy(sessionId: string, root: string | null): Refusal {
  return { code: 'held', message: `session ${sessionId} holds ${root ?? 'its directory'}` };
}

function malformed({ event }: Pick<Line, 'event'>, field: string): Refusal {
  return { code: 'malformed', message: `"${event}": its ${field} is missing, or is not what it must be` };
}
