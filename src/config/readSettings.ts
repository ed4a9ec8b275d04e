/** Reads the environment and `watchkeeper.config.json` into {@link Settings}; reports all faults in one message. */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { describeFileTrouble, readPlainFile } from '../files/plainFile.js';
import { createRedactor, OWN_SECRET, secretsInAddress } from '../log/redact.js';
import { findAgentUser } from './agentUser.js';
import { type CheckAgent, CONFIG_FILE, readConfigFile } from './configFile.js';
import { cronPattern } from './cronPattern.js';
import { definedOnly } from './definedOnly.js';
import { didYouMean } from './didYouMean.js';
import { Faults } from './faults.js';
import { wholeNumberText } from './numbers.js';
import { pollingWith } from './polling.js';
import { readProjects } from './projects.js';
import { readRetention } from './retention.js';
import type { Settings, Timings } from './settings.js';
import { timeZone } from './timeZone.js';

/** The environment and folder of the process. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** If absent, the agents' options are checked only when the agents are created. */
  readonly checkAgent?: CheckAgent;
  /** Called with every secret as soon as it is known, even if the settings are then rejected for another reason. */
  onSecret?(secret: string): void;
}

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
  'DAYDREAM_TIME_ZONE',
  'WATCHKEEPER_CONFIG',
  'WATCHKEEPER_LOGS',
  'WATCHKEEPER_HOST',
  'WATCHKEEPER_CONTAINER_DIES_WHOLE',
  'WATCHKEEPER_AGENT_USER',
  'AGENT_CONCURRENCY',
  'AGENT_ENV',
  'HEALTH_PORT',
  'HEALTH_HOST',
  'LOG_LEVEL',
  'RETENTION_DAYS',
  'RETENTION_ARCHIVE_DAYS',
  'RETENTION_ARCHIVE_BYTES',
  'RETENTION_LOG_BYTES',
] as const;
/**
 * Not settings: the variables that a run sets for its agent, which are set if the bridge is started from within a run, and the
 * failpoint of a test, which the command line reads.
 */
const OTHER_NAMES = [
  'WATCHKEEPER_RUN',
  'WATCHKEEPER_LANE',
  'WATCHKEEPER_SESSION',
  'WATCHKEEPER_ATTEMPT',
  'WATCHKEEPER_FAILPOINT',
];
/** What every program needs; everything else must be named in AGENT_ENV. */
const AGENT_BASICS = ['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TERM', 'TMPDIR'];
const LONGEST_SECRET_BYTES = 64 * 1024;
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export const DEFAULT_TIMINGS: Timings = {
  runLeaseMs: 180_000,
  killGraceMs: 10_000,
  drainMs: 20_000,
  reportWaitMs: 10_000,
  proofMs: 600_000,
  watchdogLeaseMs: 10_000,
  progressEveryMs: 5_000,
  backlogMs: 600_000,
  bridgeGoneMs: 120_000,
  stallMs: 60_000,
};

const PORT = 'must be a port, from 1 to 65535';
const port = z
  .string()
  .regex(/^\d{1,5}$/, { error: PORT, abort: true })
  .transform(Number)
  .pipe(z.int().min(1, PORT).max(65_535, PORT));
const HOST = 'must be letters, digits, ".", "_" or "-", at most 80';
const LEVEL = `must be one of ${LOG_LEVELS.join(', ')}`;
const address = z.string().regex(/^[\w.:-]{1,255}$/, 'must be an address of this host, such as 127.0.0.1 or 0.0.0.0');
const yesOrNo = z.enum(['yes', 'no'], 'must be yes or no');
const url = z
  .url({ protocol: /^https?$/, error: 'must be an address such as https://api.example.com' })
  .transform((text) => text.replace(/\/+$/, ''));

/**
 * @returns the settings, frozen
 * @throws UsageError with all faults: the variable or key, what is allowed, and a suggestion; never a secret's value
 */
export async function readSettings(surroundings: Surroundings): Promise<Settings> {
  const { environment, workingDirectory, checkAgent = () => undefined } = surroundings;
  const { secrets, faults } = await readSecrets(surroundings);
  noteUnknownNames(environment, faults);
  const value = (name: (typeof NAMES)[number]) => environment[name]?.trim() || undefined;
  const optional = <T>(name: (typeof NAMES)[number], schema: z.ZodType<T>): T | undefined => {
    const text = value(name);
    return text === undefined ? undefined : faults.check({ where: name }, schema, text);
  };

  const notices: string[] = [];
  const named = value('WATCHKEEPER_CONFIG');
  const file = await readConfigFile({ named, workingDirectory, faults, notices, checkAgent });
  const host =
    optional('WATCHKEEPER_HOST', z.string().regex(/^[\w.-]{1,80}$/, HOST)) ?? hostname().replace(/[^\w.-]/g, '-');
  const thresholds = {
    silence_ms: optional('WATCHDOG_SILENCE_MS', wholeNumberText('milliseconds')),
    error_batches: optional('WATCHDOG_ERROR_BATCHES', wholeNumberText('failing batches')),
    runaway_ms: optional('WATCHDOG_RUNAWAY_MS', wholeNumberText('milliseconds')),
  };
  const projects = await readProjects(file, workingDirectory, faults, thresholds, host);
  notices.push(...servedElsewhere(projects));
  const apiRoot = optional('TELEGRAM_API_ROOT', url) ?? 'https://api.telegram.org';
  const apiUrl = optional('GITHUB_API_URL', url) ?? 'https://api.github.com';
  const { TELEGRAM_BOT_TOKEN: botToken, GITHUB_TOKEN: githubToken } = secrets;
  const agentUser = agentUserIn(value('WATCHKEEPER_AGENT_USER'), faults);
  const settings: Settings = {
    projects,
    redisUrl: checkRedisUrl(secrets.REDIS_URL, faults),
    telegram: botToken === undefined ? null : { token: botToken, apiRoot },
    github: githubToken === undefined ? null : { token: githubToken, apiUrl },
    watchdogCron: optional('WATCHDOG_CRON', cronPattern()) ?? '*/5 * * * *',
    daydreamCron: optional('DAYDREAM_CRON', cronPattern('in its time zone')) ?? file.daydream?.cron ?? null,
    daydreamTimeZone: optional('DAYDREAM_TIME_ZONE', timeZone()) ?? file.daydream?.timeZone ?? 'UTC',
    agentConcurrency: optional('AGENT_CONCURRENCY', wholeNumberText('agents')) ?? 4,
    agentUser,
    agentEnvironment: {
      ...agentEnvironment(environment, value('AGENT_ENV'), secrets, faults),
      ...(agentUser?.home && { HOME: agentUser.home }),
      ...(agentUser?.name && { USER: agentUser.name }),
    },
    ownFiles: {
      secret: [...SECRETS.map((name) => environment[`${name}_FILE`]?.trim() || '.env'), '.env'].map((path) =>
        resolve(workingDirectory, path),
      ),
      settled: [resolve(workingDirectory, named ?? CONFIG_FILE)],
    },
    logsFolder: resolve(workingDirectory, value('WATCHKEEPER_LOGS') ?? 'logs'),
    host,
    containerDiesWhole: optional('WATCHKEEPER_CONTAINER_DIES_WHOLE', yesOrNo) === 'yes',
    logLevel: optional('LOG_LEVEL', z.enum(LOG_LEVELS, LEVEL)) ?? 'info',
    health: readHealth(optional('HEALTH_PORT', port), optional('HEALTH_HOST', address)),
    pingUrl: checkPingUrl(secrets.WATCHDOG_PING_URL, faults),
    polling: pollingWith(file.polling),
    timings: { ...DEFAULT_TIMINGS, ...definedOnly(file.timings ?? {}) },
    retention: readRetention(optional),
    secrets: secretValues(secrets),
    programPath: environment.PATH ?? '',
    notices,
  };
  faults.throwIfAny();
  return Object.freeze(settings);
}

/** A misspelt name would silently do nothing, so names that begin like ours are checked. */
function noteUnknownNames(environment: Surroundings['environment'], faults: Faults): void {
  const known = [...NAMES, ...SECRETS.map((name) => `${name}_FILE`)];
  for (const name of Object.keys(environment)) {
    const looksOurs = /^(WATCHDOG|WATCHKEEPER|DAYDREAM|RETENTION)_/.test(name);
    if (looksOurs && !known.includes(name) && !OTHER_NAMES.includes(name))
      faults.add(`${name}: no such setting${didYouMean(name, known)}`);
  }
}

function servedElsewhere(projects: Settings['projects']): string[] {
  const elsewhere = [...projects.values()].filter(({ isServedHere }) => !isServedHere);
  return elsewhere.map(
    ({ key, host, directory }) =>
      `project "${key}" is served by ${host}, not here: there is no ${directory}; its messages are handed over`,
  );
}

type Secrets = Partial<Record<(typeof SECRETS)[number], string>>;

/** First of all, so that no later error message shows one. */
async function readSecrets({ environment, workingDirectory, onSecret }: Surroundings): Promise<{
  secrets: Secrets;
  faults: Faults;
}> {
  const secrets: Secrets = {};
  const complaints: string[] = [];
  for (const name of SECRETS) {
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
  const values = secretValues(secrets);
  for (const value of [...values, ...secretsInAddress(secrets.REDIS_URL ?? '')]) if (value) onSecret?.(value);
  const faults = new Faults(createRedactor(values));
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

function secretValues(secrets: Secrets): string[] {
  const values = [secrets.TELEGRAM_BOT_TOKEN, secrets.GITHUB_TOKEN, secrets.WATCHDOG_PING_URL];
  try {
    values.push(decodeURIComponent(new URL(secrets.REDIS_URL ?? '').password));
  } catch {
    // Not a URL, or one that is reported as a fault: it has no password to hide.
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

function agentUserIn(text: string | undefined, faults: Faults): Settings['agentUser'] {
  const user = text === undefined ? null : findAgentUser(text);
  if (text !== undefined && user === null)
    faults.add('WATCHKEEPER_AGENT_USER: must be a user of this host, or uid:gid, and not root');
  return user;
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
  secrets: Secrets,
  faults: Faults,
): Record<string, string> {
  const names = (named ?? '').split(/[\s,]+/).filter((name) => name !== '');
  for (const name of names) {
    const isOurs = SECRETS.some((secret) => name === secret || name === `${secret}_FILE`);
    if (isOurs) faults.add(`AGENT_ENV: ${name} is Watchkeeper's own secret and is never given to an agent; remove it`);
    else if (holdsSecret(environment[name] ?? '', secrets)) {
      faults.add(
        `AGENT_ENV: ${name} holds one of Watchkeeper's own secrets, which are never given to an agent; remove it, or give agents a secret of their own there`,
      );
    }
  }
  const inherited: Record<string, string> = {};
  for (const name of [...AGENT_BASICS, ...names]) {
    const value = environment[name];
    if (value !== undefined) inherited[name] = value;
  }
  return inherited;
}

/** @returns whether the value is one of our secrets, or contains one in any form in which they occur */
function holdsSecret(value: string, secrets: Secrets): boolean {
  const own = [...secretValues(secrets), ...secretsInAddress(secrets.REDIS_URL ?? '')].filter(
    (secret) => secret !== '',
  );
  return (
    own.includes(value.trim()) || createRedactor(own)(value).split(OWN_SECRET).length > value.split(OWN_SECRET).length
  );
}
