/** Sections of a context from what went wrong: failed calls, refused ones, lines that could not be read. */
import { counted } from '../../src/counted.js';
import { isoTime } from '../../src/time.js';
import { agentWords } from '../observed/calls.js';
import type { Observed } from '../observed/observed.js';
import type { Section } from './budget.js';
import { entries, MOST_FAULTS, type Words } from './observedSections.js';

export function errorsOf({ errors, more }: Observed, words: Words): Section {
  const last = errors.slice(-MOST_FAULTS);
  const lines = last.map(
    ({ at, agent, call, outcome, message }) =>
      `- ${isoTime(at)} ${agentWords(agent)}${words.text(call)} ${words.name(outcome)}${message === '' ? '' : `: ${words.text(message)}`}`,
  );
  const count = errors.length + (more.errors ?? 0);
  return { title: `Calls that failed, ${count} in all; the last ones:`, entries: entries('high_notes', lines) };
}

/** A refusal is a person's word, or a rule's, and no failure. */
export function refusalsOf({ refusals, more }: Observed, words: Words): Section {
  const last = refusals.slice(-MOST_FAULTS);
  const lines = last.map(({ at, agent, call, outcome, message, said }) => {
    const why = said === null ? `: ${words.text(message)}` : `; the person said: ${words.text(said)}`;
    return `- ${isoTime(at)} ${agentWords(agent)}${words.text(call)} ${words.name(outcome)}${why}`;
  });
  const count = refusals.length + (more.refusals ?? 0);
  return {
    title: `Calls that were refused or stopped, ${count} in all; the last ones:`,
    entries: entries('high_notes', lines),
  };
}

/** In numbers. */
export function unreadOf(observed: Observed): Section {
  return { title: '', entries: entries('rest', unreadLines(observed)) };
}

/** @returns which part of the transcript is not in the record; nothing if all of it is */
export function unreadLines({ unread, cut }: Observed): string[] {
  return [
    ...(unread === 0 ? [] : [`${counted(unread, 'line')} of the record could not be read.`]),
    ...(cut === 0
      ? []
      : [
          `${counted(cut, 'long line')} of the record ${cut === 1 ? 'was' : 'were'} read without the rest of the texts.`,
        ]),
  ];
}
