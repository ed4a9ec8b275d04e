/** Names come from an agent, so a sentence could be sent as one. Only words that look like a name enter evidence. */
import { MAIN_AGENT } from '../timeline/entry.js';

const NAME = /^[\w.:/@-]{1,80}$/;
const NO_NAME = 'without a plain name';

/** @returns `name`, for a record; other words if it is not a plain name */
export function plainName(name: string): string {
  return NAME.test(name) ? name : NO_NAME;
}

/** @returns the same for a sentence: in a code span, if a chat or GitHub would make a link or a mention of it */
export function quotedName(name: string, otherwise: string): string {
  if (!NAME.test(name)) return otherwise;
  return /[./@]/.test(name) ? `\`${name}\`` : name;
}

export function subAgent(id: string): string {
  return `sub-agent ${quotedName(id, NO_NAME)}`;
}

export function agentWords(id: string): string {
  return id === MAIN_AGENT ? 'the agent' : subAgent(id);
}

/** @returns the agent in a record; null for the main one */
export function agentInRecord(id: string): string | null {
  return id === MAIN_AGENT ? null : plainName(id);
}
