/** Reads the environment and `watchkeeper.config.json` into {@link Settings}; reports all faults in one message. */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { agentEnvironment, agentUserIn } from './agentEnvironment.js';
import { type CheckAgent, CONFIG_FILE, readConfigFile } from './configFile.js';
import { cronPattern } from './cronPattern.js';
import { definedOnly } from './definedOnly.js';
import { didYouMean } from './didYouMean.js';
import type { Faults } from './faults.js';
import { wholeNumberText } from './numbers.js';
import { pollingWith } from './polling.js';
import { readProjects } from './projects.js';
import { readRetention } from './retention.js';
import { checkPingUrl, checkRedisUrl, readSecrets, SECRETS, type SecretPlaces, secretValues } from './secrets.js';
import type { Settings, Timings } from './settings.js';
import { timeZone } from './timeZone.js';

/** The environment and folder of the process. */
export interface Surroundings extends SecretPlaces {
  /** If absent, the agents' options are checked only when the agents are created. */
  readonly checkAgent?: CheckAgent;
}

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
  const projects = await readProjects(file, {
    baseFolder: workingDirectory,
    faults,
    fromEnvironment: thresholds,
    here: host,
  });
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
    agentEnvironment: agentEnvironment(environment, { named: value('AGENT_ENV'), user: agentUser, secrets }, faults),
    ownFiles: ownFilesIn(surroundings, named ?? CONFIG_FILE),
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

function ownFilesIn({ environment, workingDirectory }: Surroundings, configFile: string): Settings['ownFiles'] {
  const secret = [...SECRETS.map((name) => environment[`${name}_FILE`]?.trim() || '.env'), '.env'];
  return {
    secret: secret.map((path) => resolve(workingDirectory, path)),
    settled: [resolve(workingDirectory, configFile)],
  };
}

function servedElsewhere(projects: Settings['projects']): string[] {
  const elsewhere = [...projects.values()].filter(({ isServedHere }) => !isServedHere);
  return elsewhere.map(
    ({ key, host, directory }) =>
      `project "${key}" is served by ${host}, not here: there is no ${directory}; its messages are handed over`,
  );
}

function readHealth(port: number | undefined, host = '127.0.0.1'): Settings['health'] {
  return port === undefined ? null : { host, port };
}
