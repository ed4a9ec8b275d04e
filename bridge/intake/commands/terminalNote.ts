/** A chat's note about agents in terminals: that they are there, and nothing that a person has typed. */
import { isOfProject, isWithin } from '../../../monitoring/terminals/directoryRules.js';
import type { LiveTerminal } from '../../../monitoring/terminals/liveTerminal.js';
import type { Project } from '../../../src/config/settings.js';
import { spokenDuration } from '../../../src/time.js';

/** Where a chat's messages work. */
interface ChatPlace {
  readonly project: Project;
  /** That of the chat or topic, a real path. */
  readonly directory: string;
}

/**
 * @param now UTC epoch milliseconds
 * @returns one line for the chat's own directory and one for the project's others, each only if an agent works there
 */
export function terminalNote(terminals: readonly LiveTerminal[], { project, directory }: ChatPlace, now: number) {
  const here: LiveTerminal[] = [];
  const others: LiveTerminal[] = [];
  for (const terminal of terminals) {
    if (terminal.directory === null) continue;
    if (isWithin(directory, terminal.directory)) here.push(terminal);
    else if (isOfProject(project, terminal.directory)) others.push(terminal);
  }
  const where = others.length === 1 ? 'another directory of this project' : 'other directories of this project';
  return [...sentence(here, 'this directory', now), ...sentence(others, where, now)];
}

function sentence(terminals: readonly LiveTerminal[], where: string, now: number): string[] {
  if (terminals.length === 0) return [];
  const who = terminals.length === 1 ? 'An agent in a terminal uses' : `${terminals.length} agents in terminals use`;
  return [`${who} ${where}.${trouble(terminals, now)}`];
}

function trouble(terminals: readonly LiveTerminal[], now: number): string {
  const stuck = terminals.flatMap(({ stuck }) => stuck?.since ?? []);
  if (stuck.length === 0) return '';
  const longest = spokenDuration(now - Math.min(...stuck));
  if (terminals.length === 1) return ` It has seemed stuck for ${longest}.`;
  if (stuck.length === 1) return ` One has seemed stuck for ${longest}.`;
  const all = terminals.length === 2 ? 'Both' : `All ${terminals.length}`;
  return ` ${stuck.length === terminals.length ? all : stuck.length} have seemed stuck, one of them for ${longest}.`;
}
