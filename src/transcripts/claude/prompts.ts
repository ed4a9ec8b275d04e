/**
 * Decides who wrote a `user` record: a person, a program, or the harness itself. Current versions say so in fields; older ones
 * only by the tags with which the harness begins its own texts.
 */
import { contentDigest } from '../../journal/digest.js';
import type { JournalRecord } from '../../journal/record.js';
import type { Draft, Hints, Say } from '../draft/draft.js';
import { contentText, type Fields, fieldsAt, textAt } from '../draft/fields.js';
import { endedTasks } from './calls.js';

const INTERRUPTION = '[Request interrupted by user';
/** The words of other sessions, agents and programs, in the tags of the harness. */
export const FOREIGN_WORDS =
  /^<(?:task-notification|teammate-message|cross-session-message|agent-message|channel|slack-ping|coordinator-relay)[\s>]/;
/** Origins of a person's words; null for an older version, which says nothing. */
export const PERSONS: ReadonlySet<string | null> = new Set(['human', 'user', null]);
const HOOK_FEEDBACK = /^Stop hook feedback/;
/** A command that a person typed. Many run locally; some become a prompt, whose text follows as a separate record. */
export const TYPED_COMMAND = /^<command-(?:name|message)>/;
/** The program ends, and with it all background work. */
const LEAVING_COMMAND = /<command-name>\/(?:exit|quit)<\/command-name>/;
/** Some versions first write it as the person typed it. */
const BARE_COMMAND = /^\/compact(?:\s|$)/;
/** The output of such a command, and words typed for the shell. */
const LOCAL_OUTPUT = /^<(?:local-command-|bash-(?:input|stdout|stderr)>)/;

/**
 * @param record without results
 * @returns at most one draft
 */
export function promptDrafts(record: JournalRecord, say: Say): Draft[] {
  const { content } = fieldsAt(record, 'message');
  const text = contentText(content);
  if (text === '') return [];
  return [promptDraft(record, text, say)];
}

function promptDraft(record: JournalRecord, text: string, say: Say): Draft {
  const place = placeOf(record);
  if (text.startsWith(INTERRUPTION)) return say({ event: 'turn_end', reason: 'interrupted' });
  if (record.isCompactSummary === true) return say({ event: 'heartbeat', source: 'context' });
  // Current versions show the model the words typed for the shell, and mark the record at which the model is asked.
  if (LOCAL_OUTPUT.test(text) && textAt(record, 'turnOrigin') === null)
    return say({ event: 'heartbeat', source: 'local_command' }, { prints: true, ...place });
  if (BARE_COMMAND.test(text)) return say({ event: 'heartbeat', source: 'local_command' });
  if (TYPED_COMMAND.test(text)) {
    const leaves = LEAVING_COMMAND.test(text) ? { endsBackground: true } : {};
    return say({ event: 'heartbeat', source: 'local_command' }, { command: true, ...place, ...leaves });
  }
  if (HOOK_FEEDBACK.test(text)) return say({ event: 'user_prompt', origin: 'machine' });
  const isMeta = record.isMeta === true;
  if (isMeta && !opensTurn(record))
    return say({ event: 'heartbeat', source: 'context' }, { expansion: true, ...place });
  const origin = isFromPerson(record, text) ? 'human' : 'machine';
  const mode = textAt(record, 'permissionMode');
  return say(
    { event: 'user_prompt', origin, ...spokenText(text), ...(mode !== null && { permission_mode: mode }) },
    { asked: contentDigest(text), ...(isMeta && { expansion: true }), ...place, ...endedTasks({ content: text }) },
  );
}

/** The harness marks its own notes for the model in the same way as prompts that a program sends. */
function opensTurn(record: JournalRecord): boolean {
  if (record.turnCompanion === true) return false;
  if (record.promptSource === 'system' || textAt(record, 'turnOrigin') !== null) return true;
  return !PERSONS.has(originOf(record));
}

/** @returns who wrote it, in the program's own word; null if it does not say */
export function originOf(record: Fields): string | null {
  return textAt(fieldsAt(record, 'origin'), 'kind');
}

function isFromPerson(record: JournalRecord, text: string): boolean {
  if (FOREIGN_WORDS.test(text) || record.isSidechain === true || !PERSONS.has(originOf(record))) return false;
  const opener = textAt(record, 'turnOrigin');
  if (opener !== null && opener !== 'unknown') return opener === 'human';
  return record.promptSource !== 'system' && record.promptSource !== 'sdk' && record.isMeta !== true;
}

/** @returns the field for words that were said; nothing for none */
export function spokenText(text: unknown): { readonly text?: string } {
  return typeof text === 'string' && text.trim() !== '' ? { text } : {};
}

/** @returns the record's place in the conversation */
export function placeOf(record: JournalRecord): Hints {
  const uuid = textAt(record, 'uuid');
  const parentUuid = textAt(record, 'parentUuid');
  return { ...(uuid !== null && { uuid }), ...(parentUuid !== null && { parentUuid }) };
}
