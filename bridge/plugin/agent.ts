/** An agent that can load the plugin, as the installer knows it. */
import type * as z from 'zod';
import type { Surroundings } from '../../memory/sessions/surroundings.js';
import { shellLine } from '../../src/log/shellWords.js';
import { SECOND } from '../../src/time.js';
import { findProgram } from '../agents/program/findProgram.js';
import type { ProgramEnd, RunProgram } from '../command/runProgram.js';
import type { Trouble } from './installation.js';

/** Names of the plugin, and of the marketplace that the package is. */
export const PLUGIN = 'watchkeeper';
export const MARKETPLACE = 'watchkeeper';
export const PLUGIN_ID = `${PLUGIN}@${MARKETPLACE}`;
export const AGENT_NAMES = ['claude', 'codex'] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

const ASK_LIMIT_MS = 20 * SECOND;
const INSTALL_LIMIT_MS = 120 * SECOND;

/** How the agents are asked. */
export interface Asker {
  readonly run: RunProgram;
  readonly surroundings: Surroundings;
}

export interface FoundPlugin {
  /** `watchkeeper@watchkeeper`: the plugin, and the marketplace that it came from. */
  readonly id: string;
  /** In Claude Code: `user`, `project` or `local`. */
  readonly scope: string;
  readonly enabled: boolean;
  /** The project, if it is installed for one. */
  readonly project: string | null;
}

/** `untrusted`: they run only after a person has trusted them. `unknown`: the agent did not say. */
export type HookState = 'on' | 'off' | 'untrusted' | 'unknown' | 'none';

/** `off`: a person has switched it off. `unknown`: the agent did not say. `none`: the plugin is not installed, or has no server. */
export type ServerState = 'on' | 'off' | 'fails' | 'none' | 'unknown';

/** The state of an agent after `plugin install`. */
export const AS_INSTALLED = {
  plugins: [{ id: PLUGIN_ID, scope: 'user', enabled: true, project: null }],
  marketplaces: ['the package'],
} satisfies Pick<AgentLook, 'plugins' | 'marketplaces'>;

/** The plugin as it is found in an agent. */
export interface AgentLook {
  readonly agent: AgentName;
  /** Null if the agent did not say: it may have some. */
  readonly plugins: readonly FoundPlugin[] | null;
  /** The sources of marketplaces of our name. Null if the agent did not say. */
  readonly marketplaces: readonly string[] | null;
  readonly hooks: HookState;
  /** Whether they are off in this directory or shell, and may be on elsewhere. */
  readonly off_here: boolean;
  /** `unknown`: the agent did not say whether it has the plugin, and none is copied by hand. */
  readonly skills: 'plugin' | 'by hand' | 'none' | 'unknown';
  readonly server: ServerState;
  /** Why the agent did not say what is null above. */
  readonly unanswered: readonly Trouble[];
  /** All troubles, those of {@link unanswered} among them. */
  readonly trouble: readonly Trouble[];
}

/** A program and its arguments. */
export type AgentCommand = readonly [AgentName, ...string[]];

export interface PluginAgent {
  readonly name: AgentName;
  readonly title: string;
  look(asker: Asker): Promise<AgentLook>;
  /**
   * @param root of the package
   * @param look null if nothing is known, as before a first installation
   */
  installing(root: string, look: AgentLook | null): AgentCommand[];
  /** @param look null for the state after a first installation, which also counts for what the agent did not say */
  removing(look: AgentLook | null): AgentCommand[];
  /** A hint for the person after an installation; null if the troubles say all. */
  readonly next: string | null;
}

/** @returns whether the agent's program is on PATH */
export function isInstalled(name: AgentName, { variables, directory }: Surroundings): boolean {
  return findProgram(name, variables.PATH ?? '', directory).kind === 'found';
}

/** Runs a command of an agent that changes something. @returns what went wrong; null if nothing did */
export async function carryOut([program, ...args]: AgentCommand, { run, surroundings }: Asker): Promise<string | null> {
  const end = await run({ program, args, directory: surroundings.directory, limitMs: INSTALL_LIMIT_MS });
  return end.kind === 'exited' && end.code === 0 ? null : describeEnd(end);
}

/** @returns what the agent prints as JSON; null if it does not, after a word on that to `trouble` */
export async function askForJson<T>(
  [program, ...args]: AgentCommand,
  { run, surroundings }: Asker,
  schema: z.ZodType<T>,
  trouble: Trouble[],
): Promise<T | null> {
  const end = await run({ program, args, directory: surroundings.directory, limitMs: ASK_LIMIT_MS });
  const parsed = end.kind === 'exited' && end.code === 0 ? schema.safeParse(parsedJson(end.out)) : null;
  if (parsed?.success === true) return parsed.data;
  const why = parsed === null ? describeEnd(end) : 'it answered with something else than is expected';
  trouble.push({
    found: `\`${shellLine([program, ...args])}\`: ${why}`,
    remedy: `run it yourself, and update ${program}`,
  });
  return null;
}

/** @returns the look at an agent that did not say which plugins it has */
export function unknownLook(
  agent: AgentName,
  marketplaces: AgentLook['marketplaces'],
  unanswered: readonly Trouble[],
): AgentLook {
  return {
    agent,
    plugins: null,
    marketplaces,
    hooks: 'unknown',
    off_here: false,
    skills: 'unknown',
    server: 'unknown',
    unanswered,
    trouble: unanswered,
  };
}

/** @returns undefined if it is no JSON */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @returns a clause; the program's words are its first line of complaint */
export function describeEnd(end: ProgramEnd): string {
  switch (end.kind) {
    case 'late':
      return 'it took too long and was ended';
    case 'not_started':
      return `it could not be started (${end.why})`;
    case 'exited': {
      const lines = `${end.err}\n${end.out}`.split('\n').map((line) => line.trim());
      const words = lines.find((line) => line !== '' && !/^WARNING\b/i.test(line)) ?? 'it said nothing';
      return `exit code ${end.code ?? 'none'}: ${words}`;
    }
  }
}
