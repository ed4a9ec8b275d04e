/** The notice to the person at a terminal whose agent seems to be stuck: the facts, in minutes, and a remedy. */
import type { Finding } from '../../src/jobs/findings.js';
import { inPlainWords } from '../incident/texts/plainWords.js';
import { mayWork, type Sight } from './terminalSession.js';

/** @param sessionId to name it in a command */
export function noticeText(finding: Finding, sessionId: string): string {
  return `${inPlainWords(finding)} ${adviceFor(finding, sessionId)}`;
}

/** @returns why a notice is closed: the session works again, or its agent is gone */
export function closingText(sight: Sight): string {
  const { id, runs } = sight;
  if (mayWork(sight)) return `session ${id} goes on`;
  if (runs.liveness === 'dead' && !runs.hasEnded)
    return `the agent of session ${id} has died; to go on from its record: watchkeeper track resume ${id}`;
  return `the agent of session ${id} has ended`;
}

function adviceFor({ rule }: Finding, sessionId: string): string {
  const again = `stop it and go on from its record: watchkeeper track resume ${sessionId}`;
  if (rule === 'silence')
    return `If it only needs more time: watchkeeper track ping --for 30m --session ${sessionId}. Else interrupt it and ask for smaller steps, or ${again}`;
  return `Interrupt it and ask for smaller steps or another way, or ${again}`;
}
