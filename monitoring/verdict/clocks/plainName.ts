/**
 * Names of tools, calls and sub-agents come from an agent, so a sentence could be sent as a name. Only what looks like a name
 * enters evidence.
 */
const NAME = /^[\w.:/@-]{1,80}$/;

/** @returns `name`; `otherwise` if it is not a plain name */
export function plainName(name: string, otherwise: string): string {
  return NAME.test(name) ? name : otherwise;
}

/** @returns the same for a sentence: in a code span, if a chat or GitHub would make a link or a mention of it */
export function quotedName(name: string, otherwise: string): string {
  return NAME.test(name) && /[./@]/.test(name) ? `\`${name}\`` : plainName(name, otherwise);
}

export function subAgent(id: string): string {
  return `sub-agent ${quotedName(id, 'without a plain name')}`;
}
