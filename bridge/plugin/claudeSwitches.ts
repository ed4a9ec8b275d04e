/** The switches of Claude Code that turn all hooks off, here or everywhere. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Surroundings } from '../../memory/sessions/surroundings.js';
import { realOf } from '../../memory/workspaces/workspace.js';
import { fileWithoutHooks } from '../../src/agents/claudeSettings.js';
import { programOfProcess } from '../../src/agents/programs.js';
import { listPids, readArguments, readDirectory, showsOwnNamespace } from '../../src/host/procfs.js';
import { textIfThere, unlessAbsent } from './absent.js';
import { parsedJson } from './agent.js';
import type { Trouble } from './installation.js';

/** On Linux, and on macOS. */
const MANAGED = ['/etc/claude-code', '/Library/Application Support/ClaudeCode'];
const MANAGED_FILE = 'managed-settings.json';
const settings = z.object({ disableAllHooks: z.boolean().optional(), allowManagedHooksOnly: z.boolean().optional() });
/** Words, and the variables that Claude Code sets for them. */
const MODES = [
  ['--bare', 'CLAUDE_CODE_SIMPLE'],
  ['--safe-mode', 'CLAUDE_CODE_SAFE_MODE'],
] as const;

export interface SwitchedOff extends Trouble {
  /** Whether it is so in this directory or shell only. */
  readonly isHere: boolean;
}

/**
 * @param configuration the folder of the user
 * @param managed folders of the administrator's settings
 * @returns null if hooks run
 */
export function hooksSwitchedOff(
  configuration: string,
  { directory, variables }: Surroundings,
  managed: readonly string[] = MANAGED,
): SwitchedOff | null {
  for (const path of managed.flatMap(managedFiles)) {
    const { disableAllHooks, allowManagedHooksOnly } = settingsIn(path);
    const key = disableAllHooks ? 'disableAllHooks' : allowManagedHooksOnly ? 'allowManagedHooksOnly' : null;
    if (key !== null) return offBy(`\`${key}\` in ${path}`, 'ask the administrator of this machine', false);
  }
  for (const [word, variable] of MODES)
    if (variables[variable]) return offBy(`${variable} is set, as by \`${word}\``, `unset ${variable}`, true);
  const deciding = fileWithoutHooks(configuration, directory);
  if (deciding === null) return null;
  const isHere = deciding !== join(configuration, 'settings.json');
  return offBy(`\`disableAllHooks\` in ${deciding}`, 'remove that line to have sessions recorded', isHere);
}

/** @returns a fault for each window of this directory that was started without hooks */
export function windowsWithoutHooks({ directory }: Surroundings): Trouble[] {
  const here = realOf(directory);
  return (showsOwnNamespace() ? listPids() : []).flatMap((pid) => {
    const words = readArguments(pid);
    const mode = MODES.find(([word]) => words.includes(word))?.[0];
    if (mode === undefined || programOfProcess(words) !== 'claude' || readDirectory(pid) !== here) return [];
    return [
      {
        found: `process ${pid} was started with \`${mode}\`, so it runs no hooks`,
        remedy: `start claude without ${mode} to have a session record itself from its beginning`,
      },
    ];
  });
}

function offBy(why: string, remedy: string, isHere: boolean): SwitchedOff {
  return { found: `all hooks are off${isHere ? ' here' : ''}: ${why}`, remedy, isHere };
}

function managedFiles(folder: string): string[] {
  const more = join(folder, 'managed-settings.d');
  const names = unlessAbsent(() => readdirSync(more), []).filter((name) => name.endsWith('.json'));
  return [join(folder, MANAGED_FILE), ...names.sort().map((name) => join(more, name))];
}

/** A file that is missing or damaged says nothing; Claude Code complains of it itself. */
function settingsIn(path: string): z.infer<typeof settings> {
  const text = textIfThere(path) ?? '';
  return settings.safeParse(parsedJson(text)).data ?? {};
}
