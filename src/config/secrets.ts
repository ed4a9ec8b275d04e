/** The secrets of Watchkeeper itself, each in a variable or in a file that a variable names. */
import { resolve } from 'node:path';
import { describeFileTrouble, readPlainFile } from '../files/plainFile.js';
import { createRedactor, OWN_SECRET, ownSecretsIn, SECRET_VARIABLES } from '../log/redact.js';
import { Faults } from './faults.js';

export interface SecretPlaces {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Called with every secret as soon as it is known, even if the settings are then rejected for another reason. */
  onSecret?(secret: string): void;
}

const LONGEST_SECRET_BYTES = 64 * 1024;

export type Secrets = Partial<Record<(typeof SECRET_VARIABLES)[number], string>>;

/** First of all, so that no later error message shows one. */
export async function readSecrets({ environment, workingDirectory, onSecret }: SecretPlaces): Promise<{
  secrets: Secrets;
  faults: Faults;
}> {
  const secrets: Secrets = {};
  const complaints: string[] = [];
  for (const name of SECRET_VARIABLES) {
    const direct = environment[name]?.trim();
    const path = environment[`${name}_FILE`]?.trim();
    if (direct && path) complaints.push(`${name} is given twice; keep either ${name} or ${name}_FILE`);
    if (direct) secrets[name] = direct;
    else if (path) {
      const read = await readSecretFile(resolve(workingDirectory, path));
      if ('secret' in read) secrets[name] = read.secret;
      else
        complaints.push(`${name}_FILE: cannot read ${path} (${read.trouble}); name a file that holds only the secret`);
    }
  }
  const token = secrets.TELEGRAM_BOT_TOKEN;
  if (token !== undefined && !/^\d+:[\w-]{10,}$/.test(token)) {
    complaints.push(
      'TELEGRAM_BOT_TOKEN: is not a bot token; @BotFather gives one like 123456:ABC-DEF (value not shown)',
    );
  }
  for (const value of ownSecretsIn(secrets)) onSecret?.(value);
  const faults = new Faults(createRedactor(secretValues(secrets)));
  for (const complaint of complaints) faults.add(complaint);
  return { secrets, faults };
}

async function readSecretFile(path: string): Promise<{ secret: string } | { trouble: string }> {
  try {
    const secret = (await readPlainFile(path, LONGEST_SECRET_BYTES)).trim();
    return secret === '' ? { trouble: 'it is empty' } : { secret };
  } catch (error) {
    return { trouble: describeFileTrouble(error) };
  }
}

export function secretValues(secrets: Secrets): string[] {
  const values = [secrets.TELEGRAM_BOT_TOKEN, secrets.GITHUB_TOKEN, secrets.WATCHDOG_PING_URL];
  try {
    values.push(decodeURIComponent(new URL(secrets.REDIS_URL ?? '').password));
  } catch {
    // Not a URL, or one that is reported as a fault: it has no password to hide.
  }
  return values.filter((value) => value !== undefined && value !== '') as string[];
}

export function checkRedisUrl(text: string | undefined, faults: Faults): string | null {
  if (text === undefined) return null;
  if (!/^(rediss?|unix):\/\//.test(text)) {
    faults.add(
      'REDIS_URL: must begin with redis://, rediss:// or unix:// (value not shown), e.g. redis://localhost:6379',
    );
  } else if (!isReadable(text)) {
    faults.add(
      'REDIS_URL: cannot be read as an address (value not shown): in user and password write %25 for "%", %40 for "@", %2F for "/"',
    );
  }
  return text;
}

function isReadable(address: string): boolean {
  try {
    const { username, password, pathname } = new URL(address);
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

export function checkPingUrl(text: string | undefined, faults: Faults): string | null {
  if (text === undefined) return null;
  const isWeb = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isWeb) faults.add('WATCHDOG_PING_URL: must begin with https:// or http:// (value not shown)');
  return text;
}

/** @returns whether the value is one of our secrets, or contains one in any of their forms */
export function holdsSecret(value: string, secrets: Secrets): boolean {
  const own = ownSecretsIn(secrets);
  return (
    own.includes(value.trim()) || createRedactor(own)(value).split(OWN_SECRET).length > value.split(OWN_SECRET).length
  );
}
