/** The doctor's check of the agent `claude`: is it installed, does it start, is it logged in, is its login accepted? */
import * as z from 'zod';
import { parseJson } from '../../../src/json.js';
import { type Clock, SECOND } from '../../../src/time.js';
import type { AgentCheck, AgentCheckRequest } from '../program/contract.js';
import { asAgent, type ProbeEnd, runProbe } from '../program/probe.js';
import { findInstallation, HOW_TO_INSTALL } from './installation.js';
import { askForModels, type Credential } from './modelsQuestion.js';
import { SDK_PACKAGE } from './sdk.js';

/** Measured: 0.2 s. The rest allows for a busy machine. */
const START_LIMIT_MS = 15 * SECOND;
/** It is only asked about itself. */
const QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' };
const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];

/** The output of `claude auth status` (seen with 2.1.329). */
const statusSchema = z.object({
  loggedIn: z.boolean(),
  authMethod: z.string().default('unknown'),
  apiProvider: z.string().default('unknown'),
  apiKeySource: z.string().optional(),
});
type Status = z.infer<typeof statusSchema>;

/** @param sdk the required package */
export async function checkClaude(
  request: AgentCheckRequest,
  signal: AbortSignal,
  clock: Clock,
  sdk = SDK_PACKAGE,
): Promise<AgentCheck> {
  const installation = findInstallation(sdk);
  if (installation.kind === 'incomplete') {
    return {
      verdict: 'fault',
      found: installation.why,
      remedy: `${HOW_TO_INSTALL}; after each \`npm ci\` or update again`,
    };
  }
  const { program } = installation;
  if (request.quick) return { verdict: 'ok', found: 'Claude Code is installed', remedy: null };
  const environment = { ...request.environment, ...QUIET };
  const asked = { command: program, args: ['auth', 'status'], limitMs: START_LIMIT_MS };
  const end = await runProbe({ ...request, ...asked, environment }, signal, clock);
  const status = end.kind === 'exited' ? readStatus(end.output) : null;
  if (status === null) return complainOfStart(asAgent(request, [program, '--version']), end);
  if (!status.loggedIn) {
    return {
      verdict: 'fault',
      found: 'Claude Code finds no credentials in what it inherits',
      remedy: `set ANTHROPIC_API_KEY (or CLAUDE_CODE_OAUTH_TOKEN) and name it in AGENT_ENV, or log in: \`${asAgent(request, [program, 'auth', 'login'])}\``,
    };
  }
  return askProvider(status, request, signal, clock);
}

/** @param trial the command line that shows a person the missing part */
function complainOfStart(trial: string, end: ProbeEnd): AgentCheck {
  if (end.kind === 'exited' && (end.code === 0 || end.code === 1)) {
    return {
      verdict: 'warning',
      found: 'Claude Code starts, but does not say whether it is logged in',
      remedy: `${HOW_TO_INSTALL}, which installs the version that is known here`,
    };
  }
  return {
    verdict: 'fault',
    found: `Claude Code does not start: ${describeFailure(end)}`,
    remedy: `start \`${trial}\` by hand to see what is missing; to reinstall it, ${HOW_TO_INSTALL}`,
  };
}

function describeFailure(end: ProbeEnd): string {
  if (end.kind === 'not_started') return end.why;
  if (end.kind === 'late') return `it says nothing within ${START_LIMIT_MS / SECOND} s`;
  return end.code === null ? 'it was ended by a signal' : `it exits with ${end.code}`;
}

async function askProvider(
  status: Status,
  { environment }: AgentCheckRequest,
  signal: AbortSignal,
  clock: Clock,
): Promise<AgentCheck> {
  const login = `Claude Code is logged in (${status.authMethod})`;
  const credential = credentialOf(status, environment);
  if (credential === null) {
    return { verdict: 'ok', found: `${login}; whether that is accepted is only seen at work`, remedy: null };
  }
  if (PROXIES.some((name) => environment[name])) {
    return { verdict: 'ok', found: `${login}; not asked whether that is accepted: a proxy is between`, remedy: null };
  }
  const { kind, words } = await askForModels(credential, environment.ANTHROPIC_BASE_URL, signal, clock);
  const found = `${login}; ${words}`;
  if (kind === 'refused') {
    return { verdict: 'fault', found, remedy: `correct ${credential.name}, or create a new one` };
  }
  if (kind !== 'troubled') return { verdict: 'ok', found, remedy: null };
  const remedy = 'check the network of this host and ANTHROPIC_BASE_URL; then run the doctor again';
  return { verdict: 'warning', found, remedy };
}

/** @returns the credential to check with the provider; null for logins that Claude Code renews or gets elsewhere */
function credentialOf(
  { authMethod, apiProvider, apiKeySource }: Status,
  environment: AgentCheckRequest['environment'],
): (Credential & { readonly name: string }) | null {
  if (apiProvider !== 'firstParty') return null;
  const named = (kind: Credential['kind'], name: string) => {
    const value = environment[name];
    return value ? { kind, name, value } : null;
  };
  if (authMethod === 'api_key' && apiKeySource === 'ANTHROPIC_API_KEY') return named('api_key', 'ANTHROPIC_API_KEY');
  if (authMethod !== 'oauth_token') return null;
  return named('token', 'ANTHROPIC_AUTH_TOKEN') ?? named('token', 'CLAUDE_CODE_OAUTH_TOKEN');
}

function readStatus(output: string): Status | null {
  return statusSchema.safeParse(parseJson(output.slice(output.indexOf('{')))).data ?? null;
}
