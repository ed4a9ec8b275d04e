/** The prompts of a session: by people, or by programs if no person asked anything. */
import { type JournalRecord, textOf } from '../../src/journal/record.js';
import { shorten } from '../../src/log/shorten.js';
import { addTo, type More } from '../fold/bounds.js';

/** Claude Code writes these for a shell line that a person typed, and for its output: they ask nothing. */
const OF_A_SHELL = /^<bash-(?:input|stdout|stderr)>/;

/** A person recognises a prompt by its beginning. */
const LONGEST_PROMPT = 200;

export interface Prompt {
  readonly at: number;
  readonly text: string;
}

interface Asked {
  /** Those that {@link lastPrompt} has been, the last one last. */
  readonly asked: Prompt[];
  readonly more: More;
  isPersonHeard: boolean;
  firstPrompt: string | null;
  lastPrompt: string | null;
}

/** Keeps the words of a prompt, if they say what was asked. */
export function takePrompt(asked: Asked, record: JournalRecord, at: number): void {
  const text = textOf(record.text);
  const isPerson = record.origin === 'human';
  if (text === null || OF_A_SHELL.test(text) || (asked.isPersonHeard && !isPerson)) return;
  if (isPerson && !asked.isPersonHeard) {
    asked.firstPrompt = null;
    asked.asked.length = 0;
  }
  asked.isPersonHeard ||= isPerson;
  asked.firstPrompt ??= text;
  asked.lastPrompt = text;
  addTo(asked.asked, { at, text: shorten(text, LONGEST_PROMPT) }, { more: asked.more, name: 'prompts' });
}
