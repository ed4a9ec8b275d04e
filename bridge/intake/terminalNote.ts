/** What a chat is told of agents in terminals: that they are there, and nothing that anybody has typed. */
import { isOfProject } from '../../monitoring/terminals/directoryRules.js';
import type { LiveTerminal } from '../../monitoring/terminals/terminalWatch.js';
import type { Project } from '../../src/config/settings.js';
import { spokenDuration } from '../../src/time.js';

/**
 * @param now UTC epoch milliseconds
 * @returns one line; none if no agent works in the project's directories
 */
export function terminalNote(terminals: readonly LiveTerminal[], project: Project, now: number): string[] {
  const here = terminals.filter(({ directory }) => directory !== null && isOfProject(project, directory));
  if (here.length === 0) return [];
  const isOne = here.length === 1;
  const who = isOne ? 'An agent in a terminal uses' : `${here.length} agents in terminals use`;
  const stuck = here.flatMap(({ stuckSince }) => stuckSince ?? []);
  const since = Math.min(...stuck);
  const trouble =
    stuck.length === 0 ? '' : ` ${isOne ? 'It' : 'One'} has seemed stuck for ${spokenDuration(now - since)}.`;
  return [`${who} this directory.${trouble}`];
}
