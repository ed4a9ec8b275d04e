/** Processes that a dead agent has started and that still run: the agent that resumes its work might start them a second time. */
import { listPrograms, readArguments, readEnvironment, readStat, showsOwnNamespace } from '../../src/host/procfs.js';
import { conversationOf } from './agentProcess.js';
import type { BoundConversation } from './bindings.js';

const MOST_LEFT = 10;
/** How far up a living agent is looked for. */
const MOST_PARENTS = 20;

/** Claude Code 2.1 puts these around a command. The part before it has over 200 characters. */
const CLAUDES_SHELL = { before: ' && eval ', after: ' && pwd -P >| ', noInput: ' < /dev/null' } as const;

export interface LeftProcess {
  readonly pid: number;
  /** As it was started; not redacted. */
  readonly command: string;
}

/**
 * @param conversations of the dead agent: its shells, and what they start, name theirs in the environment
 * @param living pids of agents that work on the same session
 * @returns the oldest first, {@link MOST_LEFT} at most; none if the system does not show environments
 */
export function leftProcesses(conversations: readonly BoundConversation[], living: readonly number[]): LeftProcess[] {
  if (conversations.length === 0 || !showsOwnNamespace()) return [];
  const own = lineOf(process.pid);
  const left: LeftProcess[] = [];
  for (const pid of listPrograms().reverse()) {
    if (left.length === MOST_LEFT) break;
    if (own.includes(pid) || !isOf(pid, conversations)) continue;
    if (lineOf(pid).some((above) => living.includes(above))) continue;
    const command = readArguments(pid).join(' ');
    if (command !== '') left.push({ pid, command });
  }
  return left;
}

/**
 * @param command of a process, redacted
 * @returns what the agent had it run
 */
export function wordsOfShell(command: string): string {
  const { before, after, noInput } = CLAUDES_SHELL;
  const [from, until] = [command.indexOf(before), command.lastIndexOf(after)];
  if (from < 0 || until < from) return command;
  const words = command.slice(from + before.length, until);
  return words.endsWith(noInput) ? words.slice(0, -noInput.length) : words;
}

function isOf(pid: number, conversations: readonly BoundConversation[]): boolean {
  const environment = readEnvironment(pid);
  // Hardly any process names one of them.
  if (typeof environment === 'string' || !conversations.some((one) => environment.includes(one.conversation)))
    return false;
  const found = conversationOf(pid);
  return conversations.some(
    ({ provider, conversation }) => found?.provider === provider && found.conversation === conversation,
  );
}

/** @returns the process, and those above it */
function lineOf(pid: number): number[] {
  const line: number[] = [];
  for (let at = pid; at > 1 && line.length < MOST_PARENTS; ) {
    line.push(at);
    const stat = readStat(at);
    if (typeof stat === 'string') break;
    at = stat.parent;
  }
  return line;
}
