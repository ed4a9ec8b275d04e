/** The operator's settings, instructions and hooks, which a sandbox shows read-only. Logins are not among them. */
import { basename, join } from 'node:path';
import type { AgentSettings as ProjectAgent } from '../../../src/config/settings.js';

interface ProgramSettings {
  /** Below the home folder, unless the variable names another. */
  readonly folder: string;
  readonly variable: string | null;
  readonly files: readonly string[];
}

/** As documented for Claude Code 2.1.329, codex-cli 0.169.0 and gemini-cli 0.61.0. */
const PROGRAMS: Readonly<Record<string, ProgramSettings>> = {
  claude: {
    folder: '.claude',
    variable: 'CLAUDE_CONFIG_DIR',
    files: ['settings.json', 'CLAUDE.md', 'agents', 'commands', 'skills', 'hooks', 'output-styles', 'plugins', 'rules'],
  },
  codex: {
    folder: '.codex',
    variable: 'CODEX_HOME',
    files: ['config.toml', 'AGENTS.md', 'hooks.json', 'hooks', 'plugins', 'prompts', 'rules', 'skills'],
  },
  gemini: {
    folder: '.gemini',
    variable: null,
    files: ['settings.json', 'GEMINI.md', 'agents', 'commands', 'extensions', 'policies', 'skills'],
  },
};
/** Every agent program calls git. The file with passwords of its `store` helper is not among these. */
const OF_GIT = ['.gitconfig', '.config/git/config', '.config/git/ignore', '.config/git/attributes'];

/** @param home of the operator @returns absolute paths, which may not exist */
export function settingsOf(agent: ProjectAgent, home: string, environment: Readonly<Record<string, string>>): string[] {
  const ofPrograms = programsOf(agent).flatMap((name) => {
    const { folder, variable, files } = PROGRAMS[name] ?? { folder: '', variable: null, files: [] };
    const place = (variable === null ? undefined : environment[variable]) || join(home, folder);
    return files.map((file) => join(place, file));
  });
  return [...OF_GIT.map((file) => join(home, file)), ...ofPrograms];
}

/** A line of `command` may name its program anywhere, as in `npx codex` or `sh -c "codex exec"`. */
function programsOf({ kind, options }: ProjectAgent): string[] {
  if (kind !== 'command') return [kind];
  const words = configuredWords(options).flatMap((word) => word.split(/[\s'"]+/));
  const names = words.map((word) => basename(word));
  return Object.keys(PROGRAMS).filter((name) => names.includes(name) || options.output === name);
}

/** @returns the words of a `command` agent's lines, as the operator wrote them */
export function configuredWords(options: ProjectAgent['options']): string[] {
  return [options.command, options.resume, options.check]
    .flatMap((line: unknown) => (Array.isArray(line) ? line : []))
    .filter((word) => typeof word === 'string');
}
