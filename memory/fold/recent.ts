/** The last entries of a worklog, in words. */
import type { Line } from '../logs/line.js';
import { LOST, MOVED, type Origin } from '../words.js';

/** Entries that are kept. */
export const MOST_RECENT = 10;

export interface RecentEntry {
  readonly at: number;
  readonly words: string;
  readonly event: string;
  readonly origin: Origin;
}

/** @returns the line in a few words. Null if it says nothing about a crash */
export function wordsOfLine(line: Line): string | null {
  const field = (name: string): string => (typeof line[name] === 'string' ? line[name] : '');
  switch (line.event) {
    case 'session_started':
      return `session begins${field('purpose') && `: ${field('purpose')}`}`;
    case 'step_added':
      return `step ${field('step')} added: ${field('title')}`;
    case 'step':
      if (field('title')) return `step ${field('step')} reworded: ${field('title')}`;
      if (field('takes')) return `step ${field('step')}: taken over from an agent that is dead`;
      return `step ${field('step')}: ${field('to').replace('_', ' ')}${field('reason') && ` (${field('reason')})`}`;
    case 'file':
      return field('from') ? `${field('from')} renamed to ${field('path')}` : `${field('path')}: ${field('to')}`;
    case 'log':
      return field('message');
    case 'note':
      return `note: ${field('text')}`;
    case 'ping':
      return `ping${field('detail') && `: ${field('detail')}`}`;
    case 'error':
      return `error: ${field('message')}`;
    case 'checkpoint':
      return `checkpoint ${field('name')}`;
    case 'run_started':
      return `an agent begins${field('agent') && `: ${field('agent')}`}`;
    case 'run_ended':
      return endedWords(field('reason'));
    default:
      return null;
  }
}

/** The reasons that Claude Code gives for its end, and those of a bridge that ends its runs. */
const ENDS: Readonly<Record<string, string>> = {
  clear: 'its conversation was cleared',
  resume: 'another conversation was opened in its window',
  logout: 'its person logged out',
  prompt_input_exit: 'its person left it',
  bypass_permissions_disabled: 'working without permissions was forbidden',
  other: 'its window was closed, or its program stopped',
  answered: 'it had answered',
  requested: 'it was asked to',
  shutdown: 'its bridge was stopped',
  self_fenced: 'its bridge could not say in time that it still worked on it',
  lease_lost: 'another run had taken its place',
};

function endedWords(reason: string): string {
  // It is the note of whoever found its process gone.
  if (reason === LOST) return 'the agent was found gone: it did not report its end';
  if (reason.startsWith(MOVED)) return `the agent continued in session ${reason.slice(MOVED.length)}`;
  if (reason === '' || reason === 'ended') return 'the agent ended';
  return `the agent ended: ${ENDS[reason] ?? reason.replaceAll('_', ' ')}`;
}
