/** Programs that know skills and no plugin of ours: they get copies of the skills, and record nothing by themselves. */
import { join } from 'node:path';
import type { Surroundings } from '../../memory/sessions/surroundings.js';
import { parseObject } from '../../src/json.js';
import { findProgram } from '../agents/program/findProgram.js';
import { textIfThere } from './absent.js';
import type { ServerState } from './agent.js';
import { inTheWayOf } from './inTheWay.js';
import { type CopiedSkills, lookAtCopies } from './skillCopies.js';

export const SKILL_AGENT_NAMES = ['gemini', 'cursor'] as const;
export type SkillAgentName = (typeof SKILL_AGENT_NAMES)[number];

interface SkillAgent {
  readonly title: string;
  /** Its programs, any of which shows that it is there. */
  readonly programs: readonly string[];
  /** Below the user's home: where it looks for skills of all projects. */
  readonly skills: string;
  /** Below the user's home: its file with `mcpServers`. */
  readonly settings: string;
  /** @param program the command line of the installation. @returns how a person adds the server of tools */
  addServer(program: string): string;
}

/** Gemini CLI 0.61 and Cursor 2.4 read these folders (geminicli.com/docs/cli/using-agent-skills, cursor.com/docs/context/skills). */
export const SKILL_AGENTS: Readonly<Record<SkillAgentName, SkillAgent>> = {
  gemini: {
    title: 'Gemini CLI',
    programs: ['gemini'],
    skills: '.gemini/skills',
    settings: '.gemini/settings.json',
    addServer: (program) => `gemini mcp add --scope user watchkeeper ${program} mcp`,
  },
  cursor: {
    title: 'Cursor',
    programs: ['cursor-agent', 'cursor'],
    skills: '.cursor/skills',
    settings: '.cursor/mcp.json',
    addServer: (program) =>
      `put {"mcpServers":{"watchkeeper":{"command":"${program}","args":["mcp"]}}} into ~/.cursor/mcp.json`,
  },
};

/** As `plugin status --json` has it, next to the agents with a plugin. */
export interface SkillAgentLook {
  readonly agent: SkillAgentName;
  readonly hooks: 'none';
  readonly skills: CopiedSkills['state'];
  readonly server: ServerState;
  readonly folder: string;
  /** What is in the place of the folder, and what to do. Null if nothing is. */
  readonly in_the_way: string | null;
  /** Skills of ours that a person has changed, and skills of others with such a name. */
  readonly changed: readonly string[];
  readonly foreign: readonly string[];
}

/** @returns null if it is not known where the user's home is */
export function skillFolder(name: SkillAgentName, { variables: { HOME } }: Surroundings): string | null {
  return HOME === undefined || HOME === '' ? null : join(HOME, SKILL_AGENTS[name].skills);
}

/** @returns those that are on PATH, or have got the skills already */
export function skillAgentsHere(surroundings: Surroundings, root: string): SkillAgentName[] {
  return SKILL_AGENT_NAMES.filter((name) => {
    const isOnPath = SKILL_AGENTS[name].programs.some(
      (program) => findProgram(program, surroundings.variables.PATH ?? '', surroundings.directory).kind === 'found',
    );
    return isOnPath || (lookAtSkillAgent(name, surroundings, root)?.skills ?? 'none') !== 'none';
  });
}

/** @param root of the package. @returns null if the user's home is unknown */
export function lookAtSkillAgent(
  name: SkillAgentName,
  surroundings: Surroundings,
  root: string,
): SkillAgentLook | null {
  const folder = skillFolder(name, surroundings);
  if (folder === null) return null;
  const { state, changed, foreign } = lookAtCopies(folder, root);
  const server = serverIn(join(surroundings.variables.HOME ?? '', SKILL_AGENTS[name].settings));
  return {
    agent: name,
    hooks: 'none',
    skills: state,
    server,
    folder,
    in_the_way: inTheWayOf(folder),
    changed,
    foreign,
  };
}

function serverIn(path: string): ServerState {
  const text = textIfThere(path);
  if (text === null) return 'none';
  const settings = parseObject<{ readonly mcpServers: unknown }>(text);
  // The file may have comments, which are no JSON.
  if (settings === null) return 'unknown';
  return Object.values(Object(settings.mcpServers)).some(isOurs) ? 'on' : 'none';
}

function isOurs(server: unknown): boolean {
  const { command, args } = Object(server);
  const words = [command, ...(Array.isArray(args) ? args : [])].map(String);
  return words.some((word) => word.includes('watchkeeper')) && words.includes('mcp');
}
