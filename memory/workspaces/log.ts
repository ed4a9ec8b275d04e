/** The log of a workspace: its sessions, and which of them holds it. */
import * as z from 'zod';
import { addTo } from '../fold/bounds.js';
import type { LogKind, Refusal } from '../logs/kind.js';
import { type Line, timeOfLine } from '../logs/line.js';
import { PRIORITIES, type Priority } from '../words.js';
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
  /** The session that holds the workspace, and the line that gave it. */
  holder: { readonly session_id: string; readonly claim: string } | null;
  /** For every session of the workspace; the oldest are left out. */
  readonly notes: WorkspaceNote[];
  /** What became of its sessions since the last one began there. */
  readonly told: string[];
}

const session = z.looseObject({ session_id: z.string().min(1) });
const SCHEMAS = {
  workspace: z.looseObject({ root: z.string(), kind: z.enum(['git', 'folder']).default('folder') }),
  session,
  claimed: session,
  released: z.looseObject({ claim: z.string() }),
  told: z.looseObject({ session_id: z.string().min(1), sentence: z.string().min(1) }),
  note: z.looseObject({ text: z.string().min(1), priority: z.enum(PRIORITIES).default('normal') }),
};

export const workspaceKind: LogKind<WorkspaceState> = {
  name: 'workspace',
  begin: () => ({ root: null, kind: 'folder', sessions: new Set(), holder: null, notes: [], told: [] }),
  apply,
};

function apply(state: WorkspaceState, line: Line): Refusal | null {
  switch (line.event) {
    case 'workspace':
      return given(SCHEMAS.workspace, line, ({ root, kind }) => {
        if (state.root !== null) return;
        state.root = root;
        state.kind = kind;
      });
    case 'session':
      return given(SCHEMAS.session, line, ({ session_id }) => {
        state.sessions.add(session_id);
        state.told.length = 0;
      });
    case 'claimed':
      return given(SCHEMAS.claimed, line, ({ session_id }) => claim(state, session_id, line.id));
    case 'released':
      // A late one names a claim that is no longer held, and has no effect.
      return given(SCHEMAS.released, line, ({ claim: given }) => {
        if (state.holder?.claim === given) state.holder = null;
      });
    case 'told':
      return given(SCHEMAS.told, line, ({ sentence }) => {
        if (!state.told.includes(sentence)) addTo(state.told, sentence, { more: {}, name: 'told' });
      });
    case 'note':
      return given(SCHEMAS.note, line, ({ text, priority }) =>
        keepNote(state, { text, priority, at: timeOfLine(line) }),
      );
    default:
      return null;
  }
}

function keepNote({ notes }: WorkspaceState, note: WorkspaceNote): undefined {
  addTo(notes, note, { more: {}, name: 'notes', isSettled: ({ priority }) => priority === 'normal' });
}

function claim(state: WorkspaceState, sessionId: string, id: string): Refusal | undefined {
  const { holder } = state;
  if (holder !== null && holder.session_id !== sessionId)
    return { code: 'held', message: `session ${holder.session_id} holds this directory` };
  state.holder = { session_id: sessionId, claim: id };
  return undefined;
}

function given<Schema extends z.ZodType>(
  schema: Schema,
  line: Line,
  take: (fields: z.output<Schema>) => Refusal | undefined,
): Refusal | null {
  const fields = schema.safeParse(line);
  if (!fields.success) return { code: 'malformed', message: `"${line.event}": ${fields.error.issues[0]?.message}` };
  return take(fields.data) ?? null;
}
