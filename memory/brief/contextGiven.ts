/** The line of a worklog that says what an agent was given, by which its text can be recognised without being kept. */
import { createHash } from 'node:crypto';
import type { NewLine } from '../logs/line.js';
import type { ContextLevel } from './resumeContext.js';

/** @param context not empty */
export function contextGiven(level: ContextLevel, context: string): NewLine {
  const digest = createHash('sha256').update(context).digest('hex');
  return { event: 'context_given', level, characters: context.length, digest };
}

/** The line of a worklog that says that its record was given to the agent of another session. */
export function contextTold(to: string): NewLine {
  return { event: 'context_given', to };
}
