/** The line of a worklog that says what an agent was given. Its digest recognises the text, which is not kept. */
import { createHash } from 'node:crypto';
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import type { ContextLevel } from './levels.js';

export function digestOf(context: string): string {
  return createHash('sha256').update(context).digest('hex');
}

/**
 * @param context not empty
 * @param subAgent the reader; null if it is the main agent
 */
export function contextGiven(level: ContextLevel, context: string, subAgent: string | null = null): WorklogLine {
  return worklogKind.line('context_given', {
    ...{ level, characters: context.length, digest: digestOf(context) },
    sub_agent: subAgent ?? undefined,
  });
}

/** The line of a worklog that says that its record was given to the agent of another session. */
export function contextGivenTo(to: string): WorklogLine {
  return worklogKind.line('context_given', { to });
}
