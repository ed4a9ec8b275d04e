/** Sessions of a memory whose agents have written transcripts. */
import { join } from 'node:path';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import { type MadeSession, writeSession } from './madeSessions.js';

/** @param folder for its transcript. @returns the id of the session */
export function record(memory: Memory, folder: string, session: MadeSession): string {
  const { provider, conversation } = session;
  const transcript = join(folder, `${conversation}.jsonl`);
  writeSession(transcript, session);
  const begun = memory.lifecycle.begin(memory.workspace, { purpose: 'x', fields: {}, plan: [], concurrent: true });
  const bound = { provider, conversation };
  const line = worklogKind.line('conversation', { ...bound, transcript, source: 'startup', since: null });
  begun.log.write(() => [line], memory.stamp);
  begun.log.close();
  memory.bindings.bind(bound, begun.id);
  return begun.id;
}
