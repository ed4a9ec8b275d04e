/** Draws from sessions, or from a transcript that belongs to none. */
import { existsSync, statSync } from 'node:fs';
import { AGENT_PROGRAMS } from '../../src/agents/programs.js';
import { UsageError } from '../../src/errors.js';
import type { Redact } from '../../src/log/redact.js';
import { transcriptOf } from '../observed/programFolders.js';
import { recordsOfFile, recordsOfSession } from '../observed/records.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import { Draw } from './draw.js';
import { keyOf } from './kind.js';
import { scopeOf } from './learnings.js';

/** @param isAll whether those of all repositories are drawn from, and not only those of the caller's */
export async function drawFromSessions(memory: Viewer, isAll: boolean): Promise<Draw> {
  const draw = new Draw(memory.stamp.redact);
  const { sessions } = memory;
  const isMeant = isAll ? () => true : isOfHere(memory);
  for (const id of [...new Set([...sessions.ids(), ...sessions.archivedIds()])]) {
    const session = memory.look(id);
    if (session !== null && isMeant(session)) await takeSession(memory, draw, session);
  }
  return draw;
}

export async function drawFromSession(memory: Viewer, session: OpenSession): Promise<Draw> {
  const draw = new Draw(memory.stamp.redact);
  await takeSession(memory, draw, session);
  return draw;
}

/**
 * @param path of a transcript of a known program, or of a journal
 * @throws UsageError if it is not there, is no file, or holds none of their records
 */
export async function drawFromFile(path: string, redact: Redact): Promise<Draw> {
  if (!existsSync(path)) throw new UsageError(`there is no file ${path}`);
  if (!statSync(path).isFile()) throw new UsageError(`${path} is no file`);
  const draw = new Draw(redact);
  draw.begin(path);
  let count = 0;
  for await (const records of recordsOfFile(path, redact)) {
    for (const record of records) {
      if (typeof record.event === 'string') count += 1;
      draw.take(record);
    }
  }
  if (count === 0)
    throw new UsageError(`${path} holds no record of Claude Code or Codex: name a transcript, or a journal`);
  return draw;
}

type Finding = Viewer & Pick<Memory, 'bindings'>;

/** @param id as the program of the agent gives it. @throws UsageError if neither a session nor a program has it */
export async function drawFromConversation(memory: Finding, id: string): Promise<Draw> {
  const { bindings, programs } = memory;
  for (const { name: provider } of AGENT_PROGRAMS) {
    const known = bindings.sessionOf({ provider, conversation: id });
    const session = known === null ? null : memory.look(known);
    if (session !== null) {
      const draw = new Draw(memory.stamp.redact);
      await takeSession(memory, draw, session, id);
      return draw;
    }
    const path = programs === null ? null : transcriptOf({ provider, id, transcript: null }, programs);
    if (path !== null) return drawFromFile(path, memory.stamp.redact);
  }
  throw new UsageError(`no session and no program here has a conversation ${JSON.stringify(id)}`);
}

async function takeSession(
  { programs, stamp }: Viewer,
  draw: Draw,
  { id, folder, log }: OpenSession,
  conversation?: string,
): Promise<void> {
  draw.begin(id);
  const reading = { folders: programs, redact: stamp.redact, ...(conversation !== undefined && { conversation }) };
  for await (const records of recordsOfSession({ log: log.state, folder }, reading))
    for (const record of records) draw.take(record);
}

/** @returns whether a session began in the caller's repository, or in a removed worktree of it; each workspace is looked at once */
function isOfHere(memory: Viewer): (session: OpenSession) => boolean {
  const here = keyOf(scopeOf(memory.workspace));
  const keys = new Map<string, string | null>();
  return ({ log }) => {
    const place = log.state.facts?.workspace ?? null;
    if (place === null) return false;
    if (!keys.has(place)) {
      const workspace = memory.workspaceOf(log.state);
      const { repository = null } = workspace === null ? {} : scopeOf(workspace);
      // Only its log says to which repository a removed worktree belonged.
      const known = repository ?? memory.claims.worktrees.find({ id: place })?.repository ?? null;
      keys.set(place, workspace === null ? null : keyOf({ repository: known, workspace: place }));
    }
    return keys.get(place) === here;
  };
}
