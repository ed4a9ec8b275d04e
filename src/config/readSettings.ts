/** Reads the environment and `watchkeeper.config.json` into {@link Settings}; every fault in one message. */
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { cronPattern } from './cronPattern.js';
import { definedOnly } from './definedOnly.js';
import { didYouMean } from './didYouMean.js';
import { Faults } from './faults.js';
import { type ProjectFile, projectFile } from './projectFile.js';
import { readProjects } from './projects.js';
import type { Settings, Timings } from './settings.js';

/** What the program was given: the process's own environment and folder. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
}

const CONFIG_FILE = 'watchkeeper.config.json';
const SECRETS = ['TELEGRAM_BOT_TOKEN', 'GITHUB_TOKEN', 'REDIS_URL', 'WATCHDOG_PING_URL'] as const;
const NAMES = [
  ...SECRETS,
  'TELEGRAM_API_ROOT',
  'GITHUB_API_URL',
  'WATCHDOG_CRON',
  'WATCHDOG_SILENCE_MS',
  'WATCHDOG_ERROR_BATCHES',
  'WATCHDOG_RUNAWAY_MS',
  'DAYDREAM_CRON',
  'WATCHKEEPER_CONFIG',
  'WATCHKEEPER_LOGS',
  'WATCHKEEPER_HOST',
  'AGENT_CONCURRENCY',
  'AGENT_ENV',
  'HEALTH_PORT',
  'HEALTH_HOST',
  'LOG_LEVEL',
] as const;
/** What a run gives to its agent: who starts us from within a run has them set. */
const MARKS_OF_A_RUN = ['WATCHKEEPER_RUN', 'WATCHKEEPER_SESSION', 'WATCHKEEPER_ATTEMPT'];
/** What every program needs; everything else must be named in AGENT_ENV. */
const AGENT_BASICS = ['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TERM', 'TMPDIR'];
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const DEFAULT_TIMINGS: Timings = {
  runLeaseMs: 180_000,
  killGraceMs: 10_000,
  drainMs: 20_000,
  reportWaitMs: 10_000,
  proofMs: 600_000,
  watchdogLeaseMs: 10_000,
  progressEveryMs: 5_000,
  stallMs: 60_000,
};

const count = z.coerce.number('must be a whole number').int('must be a whole number').positive('must be more than 0');
const port = z.coerce
  .number('must be a port, such as 8787')
  .int('must be a port, such as 8787')
  .min(1, 'must be a port, from 1 to 65535')
  .max(65_535, 'must be a port, from 1 to 65535');
const address = z.string().regex(/^[\w.:-]{1,255}$/, 'must be an address of this host, such as 127.0.0.1 or 0.0.0.0');
const url = z
  .url({ protocol: /^https?$/, error: 'must be an address such as https://api.example.com' })
  .transform((text) => text.replace(/\/+$/, ''));

/**
 * @returns the settings, frozen
 * @throws UsageError with all faults: the variable or key, what is allowed, and a suggestion; never a secret's value
 */
export async function readSettings({ environment, workingDirectory }: Surroundings): Promise<Settings> {
  const faults = new Faults();
  noteUnknownNames(environment, faults);
  const secrets = await readSecrets(environment, workingDirectory, faults);
  const value = (name: (typeof NAMES)[number]) => environment[name]?.trim() || undefined;
  const optional = <T>(name: (typeof NAMES)[number], schema: z.ZodType<T>): T | undefined => {
    const text = value(name);
    return text === undefined ? undefined : faults.check(name, schema, text);
  };

  const notices: string[] = [];
  const file = await readConfigFile(value('WATCHKEEPER_CONFIG'), workingDirectory, faults, notices);
  const projects = await readProjects(file, workingDirectory, faults, {
    silence_ms: optional('WATCHDOG_SILENCE_MS', count),
    error_batches: optional('WATCHDOG_ERROR_BATCHES', count),
    runaway_ms: optional('WATCHDOG_RUNAWAY_MS', count),
  });
  const host = optional(
    'WATCHKEEPER_HOST',
    z.string().regex(/^[\w.-]{1,80}$/, 'must be letters, digits, ".", "_" or "-", at most 80'),
  );
  const apiRoot = optional('TELEGRAM_API_ROOT', url) ?? 'https://api.telegram.org';
  const apiUrl = optional('GITHUB_API_URL', url) ?? 'https://api.github.com';
  const { TELEGRAM_BOT_TOKEN: botToken, GITHUB_TOKEN: githubToken } = secrets;
  const settings: Settings = {
    projects,
    redisUrl: checkRedisUrl(secrets.REDIS_URL, faults),
    telegram: botToken === undefined ? null : { token: botToken, apiRoot },
    github: githubToken === undefined ? null : { token: githubToken, apiUrl },
    watchdogCron: optional('WATCHDOG_CRON', cronPattern()) ?? '*/5 * * * *',
    daydreamCron: optional('DAYDREAM_CRON', cronPattern()) ?? file.daydream?.cron ?? null,
    agentConcurrency: optional('AGENT_CONCURRENCY', count) ?? 4,
    agentEnvironment: agentEnvironment(environment, value('AGENT_ENV'), faults),
    logsFolder: resolve(workingDirectory, value('WATCHKEEPER_LOGS') ?? 'logs'),
    host: host ?? hostname().replace(/[^\w.-]/g, '-'),
    logLevel: optional('LOG_LEVEL', z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`)) ?? 'info',
    health: readHealth(optional('HEALTH_PORT', port), optional('HEALTH_HOST', address)),
    pingUrl: checkPingUrl(secrets.WATCHDOG_PING_URL, faults),
    timings: { ...DEFAULT_TIMINGS, ...definedOnly(file.timings ?? {}) },
    secrets: secretValues(secrets),
    programPath: environment.PATH ?? '',
    notices,
  };
  faults.throwIfAny();
  return Object.freeze(settings);
}

/** A misspelt name would silently do nothing, so names that begin like ours are looked at. */
function noteUnknownNames(environment: Surroundings['environment'], faults: Faults): void {
  const known = [...NAMES, ...SECRETS.map((name) => `${name}_FILE`)];
  for (const name of Object.keys(environment)) {
    const looksOurs = /^(WATCHDOG|WATCHKEEPER|DAYDREAM)_/.test(name);
    if (looksOurs && !known.includes(name) && !MARKS_OF_A_RUN.includes(name))
      faults.add(`${name}: no such setting${didYouMean(name, known)}`);
  }
}

async function readSecrets(
  environment: Surroundings['environment'],
  workingDirectory: string,
  faults: Faults,
): Promise<Partial<Record<(typeof SECRETS)[number], string>>> {
  const found: Partial<Record<(typeof SECRETS)[number], string>> = {};
  for (const name of SECRETS) {
    const direct = environment[name]?.trim();
    const path = environment[`${name}_FILE`]?.trim();
    if (direct && path) faults.add(`${name}: given twice; keep either ${name} or ${name}_FILE`);
    else if (direct) found[name] = direct;
    else if (path) {
      const text = await readFile(resolve(workingDirectory, path), 'utf8').catch(() => null);
      if (text === null) faults.add(`${name}_FILE: cannot read ${path}; name a file that holds only the secret`);
      else if (text.trim() === '') faults.add(`${name}_FILE: ${path} is empty`);
      else found[name] = text.trim();
    }
  }
  const token = found.TELEGRAM_BOT_TOKEN;
  if (token !== undefined && !/^\d+:[\w-]{10,}$/.test(token)) {
    faults.add('TELEGRAM_BOT_TOKEN: is not a bot token; @BotFather gives one like 123456:ABC-DEF (value not shown)');
  }
  return found;
}

function secretValues(secrets: Partial<Record<(typeof SECRETS)[number], string>>): string[] {
  const values = [secrets.TELEGRAM_BOT_TOKEN, secrets.GITHUB_TOKEN, secrets.WATCHDOG_PING_URL];
  try {
    values.push(decodeURIComponent(new URL(secrets.REDIS_URL ?? '').password));
  } catch {
    // No address, or one that is reported as a fault: it has no password to hide.
  }
  return values.filter((value) => value !== undefined && value !== '') as string[];
}

function checkRedisUrl(text: string | undefined, faults: Faults): string | null {
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

function readHealth(port: number | undefined, host = '127.0.0.1'): Settings['health'] {
  return port === undefined ? null : { host, port };
}

function checkPingUrl(text: string | undefined, faults: Faults): string | null {
  if (text === undefined) return null;
  const isWeb = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isWeb) faults.add('WATCHDOG_PING_URL: must begin with https:// or http:// (value not shown)');
  return text;
}

function agentEnvironment(
  environment: Surroundings['environment'],
  named: string | undefined,
  faults: Faults,
): Record<string, string> {
  const names = (named ?? '').split(/[\s,]+/).filter((name) => name !== '');
  for (const name of names) {
    const isOurs = SECRETS.some((secret) => name === secret || name === `${secret}_FILE`);
    if (isOurs) faults.add(`AGENT_ENV: ${name} is Watchkeeper's own secret and is never given to an agent; remove it`);
  }
  const inherited: Record<string, string> = {};
  for (const name of [...AGENT_BASICS, ...names]) {
    const value = environment[name];
    if (value !== undefined) inherited[name] = value;
  }
  return inherited;
}

async function readConfigFile(
  named: string | undefined,
  workingDirectory: string,
  faults: Faults,
  notices: string[],
): Promise<ProjectFile> {
  const path = resolve(workingDirectory, named ?? join(workingDirectory, CONFIG_FILE));
  const read = await readText(path);
  if ('trouble' in read) {
    if (named !== undefined) faults.add(`WATCHKEEPER_CONFIG: cannot read ${named}; name a readable JSON file`);
    else if (read.trouble !== 'ENOENT')
      faults.add(`${path}: cannot be read (${read.trouble}); make it a readable file, or remove it`);
    notices.push(
      `no ${CONFIG_FILE} here: one project "local" works in ${workingDirectory} with the scripted agent, for trying out; copy watchkeeper.config.example.json to begin`,
    );
    return {
      projects: {
        local: { directory: '.', chats: [], senders: [], publicDetail: 'names_only', agent: { kind: 'scripted' } },
      },
    };
  }
  let json: unknown;
  try {
    json = JSON.parse(read.text);
  } catch (error) {
    faults.add(`${path}: is not JSON${placeOfFault(error, read.text)}`);
    return { projects: {} };
  }
  return faults.check(named ?? CONFIG_FILE, projectFile, json) ?? { projects: {} };
}

async function readText(path: string): Promise<{ text: string } | { trouble: string }> {
  try {
    return { text: await readFile(path, 'utf8') };
  } catch (error) {
    return { trouble: (error as NodeJS.ErrnoException).code ?? 'unknown' };
  }
}

/** What JSON.parse itself says may quote the file, and so a secret that somebody wrote into it. */
function placeOfFault(error: unknown, text: string): string {
  const position = /position (\d+)/.exec(String(error))?.[1];
  if (position === undefined) return '';
  return ` (line ${text.slice(0, Number(position)).split('\n').length})`;
}
