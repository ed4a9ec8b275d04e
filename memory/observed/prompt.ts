/** The prompts of a session: by people, or by programs if no person asked anything. */
import { type JournalRecord, textOf } from '../../src/journal/record.js';

/** Claude Code writes these for a shell line that a person typed, and for its output: they ask nothing. */
const OF_A_SHELL = /^<bash-(?:input|stdout|stderr)>/;

interface Asked {
  isPersonHeard: boolean;
  firstPrompt: string | null;
  lastPrompt: string | null;
}

/** Keeps the words of a prompt, if they say what was asked. */
export function takePrompt(asked: Asked, record: JournalRecord): void {
  const text = textOf(record.text);
  const isPerson = record.origin === 'human';
  if (text === null || OF_A_SHELL.test(text) || (asked.isPersonHeard && !isPerson)) return;
  if (isPerson && !asked.isPersonHeard) asked.firstPrompt = null;
  asked.isPersonHeard ||= isPerson;
  asked.firstPrompt ??= text;
  asked.lastPrompt = text;
}
