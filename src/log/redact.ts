/**
 * Removes secrets from text before it reaches a log, an event line, an issue or a chat.
 *
 * Two passes: the literal values of our own secrets, in all their forms, then the shapes of well-known secrets.
 * Redact first and cut afterwards: a secret that was cut in half is no longer recognised.
 *
 * It is a net, not a proof: a foreign secret without a known shape and without a name that suggests a secret passes.
 */
import { ownSecretsReplacer } from './ownSecrets.js';
import { nameKindOf } from './secretNames.js';
import { replaceSecrets } from './secretShapes.js';
import { withoutInvisible } from './visibleText.js';

export type Redact = (text: string) => string;

/** Replaces our own secrets. */
export const OWN_SECRET = '[redacted:own_secret]';
/** The variables of our own secrets. Named here, because programs that read no settings must redact them, too. */
export const SECRET_VARIABLES = ['TELEGRAM_BOT_TOKEN', 'GITHUB_TOKEN', 'REDIS_URL', 'WATCHDOG_PING_URL'] as const;

/** @returns our own secrets in it: all values, but only the secret parts of the address of Redis */
export function ownSecretsIn(environment: Readonly<Record<string, string | undefined>>): string[] {
  return SECRET_VARIABLES.flatMap((name) => {
    const value = environment[name]?.trim();
    if (!value) return [];
    return name === 'REDIS_URL' ? secretsInAddress(value) : [value];
  });
}

/** @returns password and query, as written and decoded; the whole text if it is not a valid address */
export function secretsInAddress(address: string): string[] {
  if (!URL.canParse(address)) return [address];
  const { password, search } = new URL(address);
  const parts = [password, search.slice(1)];
  try {
    parts.push(decodeURIComponent(password));
  } catch {
    // Contains a bare "%", so there is only the written form.
  }
  return [...new Set(parts)].filter((part) => part !== '');
}

/** @param secrets under 6 characters are ignored @returns replaces all of them, and what looks like one. Twice changes no more */
export function createRedactor(secrets: readonly string[]): Redact {
  const replaceOwn = ownSecretsReplacer([...secrets, ...secrets.map(withoutInvisible)], OWN_SECRET);
  const redact = (text: string) => replaceSecrets(replaceOwn(text));
  return (text) => {
    const clean = redact(text);
    return clean.wasAscii ? clean.text : asShown(text, clean.text, (seen) => redact(seen).text);
  };
}

/** Redacts the text without its invisible characters, too: on the way to people they are removed, which may reveal a secret. */
function asShown(text: string, clean: string, redact: Redact): string {
  const seen = withoutInvisible(text);
  if (seen === text) return clean;
  const cleanAsSeen = redact(seen);
  if (cleanAsSeen === seen && clean === text) return text;
  return withoutInvisible(clean) === cleanAsSeen ? clean : cleanAsSeen;
}

/** Knows only the shapes of secrets: for code without a configuration. */
export const redactShapes: Redact = createRedactor([]);

/** Redacts the final form of a line of JSON and keeps it JSON; other text is redacted as it is. */
export function redactJsonLine(redact: Redact, line: string): string {
  const result = redact(line);
  if (result === line || isJson(result)) return result;
  // A match began inside an escape sequence. Value by value there are no escapes.
  return isJson(line) ? JSON.stringify(redactValue(redact, JSON.parse(line))) : result;
}

function redactValue(redact: Redact, value: unknown): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactValue(redact, item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      redact(key),
      typeof item === 'string' ? redactMember(redact, key, item) : redactValue(redact, item),
    ]),
  );
}

export function namesSecret(name: string): boolean {
  return nameKindOf(name, 0, name.length) !== null;
}

/** `{"password": "…"}` is recognised by its name alone. */
export function redactMember(redact: Redact, name: string, value: string): string {
  const clean = redact(value);
  if (clean !== value || !namesSecret(name)) return clean;
  const pair = JSON.stringify({ [name]: value });
  const shown = redact(pair);
  return shown === pair ? value : '[redacted:value]';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
