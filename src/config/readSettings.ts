/** Reads the environment and `watchkeeper.config.json` into {@link Settings}; reports all faults in one message. */
import { hostname } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import * as z from 'zod';
import { homeOfUser } from '../host/homeOfUser.js';
import { SECRET_VARIABLES } from '../log/redact.js';
import { DAY } from '../time.js';
import { withoutEnd } from '../withoutEnd.js';
import { agentEnvironment, agentUserIn } from './agentUser.js';
import { type CheckAgent, CONFIG_FILE, FOR_TRYING_OUT, readConfigFile } from './configFile.js';
import { didYouMean } from './didYouMean.js';
import type { Faults } from './faults.js';
import { logsPlace } from './logsPlace.js';
import { memorySettings } from './memorySettings.js';
import { wholeNumberText } from './numbers.js';
import { pollingWith } from './polling.js';
import { readProjects } from './projects.js';
import { unusedProxyIn } from './proxies.js';
import { DEFAULT_THRESHOLDS, type Thresholds } from './rules.js';
import { cronPattern, timeZone } from './schedules.js';
import { checkPingUrl, checkRedisUrl, readSecrets, type SecretPlaces, secretValues } from './secrets.js';
import { type Settings, timings } from './settings.js';

/** The environment and folder of the process. */
export interface Surroundings extends SecretPlaces {
  /** If absent, the agents' options are checked only when the agents are created. */
  readonly checkAgent?: CheckAgent;
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const PORT = 'must be a port, from 1 to 65535';
const port = z
  .string()
  .regex(/^\d{1,5}$/, { error: PORT, abort: true })
  .transform(Number)
  .pipe(z.int().min(1, PORT).max(65_535, PORT));
const url = z
  .url({ protocol: /^https?$/, error: 'must be an address such as https://api.example.com' })
  .transform((text) => withoutEnd(text, /\//));
const MEBIBYTE = 1024 * 1024;
/** A log that is rotated with every line is useless. */
const LEAST_LOG_BYTES = 64 * 1024;

/** Every variable that is a setting, except the secrets. */
export const VARIABLES = {
  TELEGRAM_API_ROOT: url,
  GITHUB_API_URL: url,
  WATCHDOG_CRON: cronPattern('in UTC'),
  WATCHDOG_SILENCE_MS: wholeNumberText('milliseconds'),
  WATCHDOG_ERROR_BATCHES: wholeNumberText('failing batches'),
  WATCHDOG_RUNAWAY_MS: wholeNumberText('milliseconds'),
  DAYDREAM_CRON: cronPattern('in its time zone'),
  DAYDREAM_TIME_ZONE: timeZone,
  WATCHKEEPER_CONFIG: z.string(),
  WATCHKEEPER_LOGS: z.string(),
  WATCHKEEPER_HOST: z.string().regex(/^[\w.-]{1,80}$/, 'must be letters, digits, ".", "_" or "-", at most 80'),
  WATCHKEEPER_CONTAINER_DIES_WHOLE: z.enum(['yes', 'no'], 'must be yes or no'),
  WATCHKEEPER_AGENT_USER: z.string(),
  AGENT_CONCURRENCY: wholeNumberText('agents'),
  AGENT_ENV: z.string(),
  HEALTH_PORT: port,
  HEALTH_HOST: z.string().regex(/^[\w.:-]{1,255}$/, 'must be an address of this host, such as 127.0.0.1 or 0.0.0.0'),
  LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`),
  RETENTION_DAYS: wholeNumberText('days'),
  RETENTION_ARCHIVE_DAYS: wholeNumberText('days'),
  RETENTION_ARCHIVE_BYTES: wholeNumberText('bytes'),
  RETENTION_LOG_BYTES: wholeNumberText('bytes', LEAST_LOG_BYTES),
};
type Values = { [Name in keyof typeof VARIABLES]: z.output<(typeof VARIABLES)[Name]> };
type Reader = ReturnType<typeof readerOf>;
/**
 * Not settings: the variables that a run sets for its agent, which are set if the bridge is started from within a run, the home
 * of session memory, and the failpoint of a test, which the command line reads.
 */
const OTHER_NAMES = /^WATCHKEEPER_(?:RUN|LANE|SESSION|ATTEMPT|MEMORY|HOME|FAILPOINT)$/;

/** @throws UsageError with all faults: the variable or key, what is allowed, and a suggestion; never a secret's value */
export async function readSettings(surroundings: Surroundings): Promise<Settings> {
  const { environment, workingDirectory, checkAgent = () => undefined } = surroundings;
  const { secrets, faults } = await readSecrets(surroundings);
  noteUnknownNames(environment, faults);
  const read = readerOf(environment, faults);
  const configFile = read('WATCHKEEPER_CONFIG');
  const found = await readConfigFile(workingDirectory, configFile, checkAgent, faults);
  const file = found ?? FOR_TRYING_OUT;
  const host = read('WATCHKEEPER_HOST') ?? hostname().replace(/[^\w.-]/g, '-');
  const thresholds = thresholdsWith(read, file.thresholds);
  const home = environment.HOME ?? homeOfUser() ?? '/';
  const projects = await readProjects(file, workingDirectory, { thresholds, here: host, home }, faults);
  const logs = logsPlace({ asked: read('WATCHKEEPER_LOGS'), workingDirectory, projects, environment, home }, faults);
  const apiRoot = read('TELEGRAM_API_ROOT') ?? 'https://api.telegram.org';
  const apiUrl = read('GITHUB_API_URL') ?? 'https://api.github.com';
  const { TELEGRAM_BOT_TOKEN: botToken, GITHUB_TOKEN: githubToken } = secrets;
  const agentUser = agentUserIn(read('WATCHKEEPER_AGENT_USER'), faults);
  const unusedProxy = unusedProxyIn(environment, {
    TELEGRAM_API_ROOT: botToken === undefined ? null : apiRoot,
    GITHUB_API_URL: githubToken === undefined ? null : apiUrl,
  });
  const settings: Settings = {
    projects,
    redisUrl: checkRedisUrl(secrets.REDIS_URL, faults),
    telegram: botToken === undefined ? null : { token: botToken, apiRoot },
    github: githubToken === undefined ? null : { token: githubToken, apiUrl },
    watchdogCron: read('WATCHDOG_CRON') ?? '*/5 * * * *',
    daydreamCron: read('DAYDREAM_CRON') ?? file.daydream?.cron ?? null,
    daydreamTimeZone: read('DAYDREAM_TIME_ZONE') ?? file.daydream?.timeZone ?? 'UTC',
    agentConcurrency: read('AGENT_CONCURRENCY') ?? 4,
    agentUser,
    agentEnvironment: agentEnvironment(environment, { named: read('AGENT_ENV'), user: agentUser, secrets }, faults),
    ownFiles: ownFilesIn(surroundings, configFile ?? CONFIG_FILE),
    logsFolder: logs.folder,
    host,
    containerDiesWhole: read('WATCHKEEPER_CONTAINER_DIES_WHOLE') === 'yes',
    logLevel: read('LOG_LEVEL') ?? 'info',
    health: readHealth(read('HEALTH_PORT'), read('HEALTH_HOST')),
    pingUrl: checkPingUrl(secrets.WATCHDOG_PING_URL, faults),
    polling: pollingWith(file.polling),
    timings: file.timings ?? timings.parse({}),
    memory: file.memory ?? memorySettings().parse(undefined),
    retention: retentionWith(read),
    secrets: secretValues(secrets),
    programPath: environment.PATH ?? '',
    unusedProxy,
    notices: [
      ...(found === null ? [noConfigFile(workingDirectory)] : []),
      ...(logs.notice === null ? [] : [logs.notice]),
      ...(unusedProxy === null ? [] : [`${unusedProxy.found}; ${unusedProxy.remedy}`]),
      ...servedElsewhere(projects),
    ],
  };
  faults.throwIfAny();
  return Object.freeze(settings);
}

/** @returns what reads a variable: undefined if it is not set, or if its value is a fault */
function readerOf(environment: Surroundings['environment'], faults: Faults) {
  const schemas: Readonly<{ [Each in keyof Values]: z.ZodType<Values[Each]> }> = VARIABLES;
  return <Name extends keyof Values>(name: Name) => {
    const text = environment[name]?.trim();
    return text ? faults.check({ where: name }, schemas[name], text) : undefined;
  };
}

function thresholdsWith(read: Reader, inFile: Partial<Thresholds> | undefined): Thresholds {
  const common = { ...DEFAULT_THRESHOLDS, ...inFile };
  return {
    ...common,
    silence_ms: read('WATCHDOG_SILENCE_MS') ?? common.silence_ms,
    error_batches: read('WATCHDOG_ERROR_BATCHES') ?? common.error_batches,
    runaway_ms: read('WATCHDOG_RUNAWAY_MS') ?? common.runaway_ms,
  };
}

function retentionWith(read: Reader): Settings['retention'] {
  return {
    keptMs: (read('RETENTION_DAYS') ?? 30) * DAY,
    archiveMs: (read('RETENTION_ARCHIVE_DAYS') ?? 365) * DAY,
    archiveBytes: read('RETENTION_ARCHIVE_BYTES') ?? 1024 * MEBIBYTE,
    logBytes: read('RETENTION_LOG_BYTES') ?? 10 * MEBIBYTE,
  };
}

function noConfigFile(workingDirectory: string): string {
  return `no ${CONFIG_FILE} here: one project "local" works in ${workingDirectory} with the scripted agent, for a trial; to begin, copy watchkeeper.config.example.json, and set WATCHKEEPER_CONFIG if the copy is in another folder`;
}

/** A misspelt name would silently do nothing, so names that begin like ours are checked. */
function noteUnknownNames(environment: Surroundings['environment'], faults: Faults): void {
  const known = [...SECRET_VARIABLES, ...Object.keys(VARIABLES), ...SECRET_VARIABLES.map((name) => `${name}_FILE`)];
  for (const name of Object.keys(environment)) {
    const looksOurs = /^(WATCHDOG|WATCHKEEPER|DAYDREAM|RETENTION)_/.test(name);
    if (looksOurs && !known.includes(name) && !OTHER_NAMES.test(name))
      faults.add(`${name}: no such setting${didYouMean(name, known)}`);
  }
}

function ownFilesIn({ environment, workingDirectory }: Surroundings, configFile: string): Settings['ownFiles'] {
  const secret = [...SECRET_VARIABLES.map((name) => environment[`${name}_FILE`]?.trim() || '.env'), '.env'];
  const { WATCHKEEPER_HOME: memory, XDG_STATE_HOME: state, HOME: home } = environment;
  const states = [...(state ? [state] : []), ...(home ? [join(home, '.local/state')] : [])];
  return {
    secret: secret.map((path) => resolve(workingDirectory, path)),
    settled: [resolve(workingDirectory, configFile)],
    // Each place where a home of memory can be: people's terminals may have other variables than the bridge.
    memories: [...(memory ? [memory] : []), ...states.map((folder) => join(folder, 'watchkeeper'))].filter(isAbsolute),
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
