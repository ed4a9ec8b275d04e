/** `plugin install`, `remove` and `status` for a program that only gets copies of the skills. */

import { join } from 'node:path';
import type { Surroundings } from '../../../memory/sessions/surroundings.js';
import { UsageError } from '../../../src/errors.js';
import { packageRoot } from '../../../src/host/program.js';
import type { CommandContext, ExitCode } from '../../command/command.js';
import {
  lookAtSkillAgent,
  SKILL_AGENTS,
  type SkillAgentLook,
  type SkillAgentName,
  skillFolder,
} from '../../plugin/skillAgents.js';
import { copySkills, removeSkills, skillsOf } from '../../plugin/skillCopies.js';

export interface SkillCall {
  readonly context: CommandContext;
  readonly agent: SkillAgentName;
  readonly isPrinted: boolean;
  print(lines: readonly string[], value: unknown): void;
}

export const SKILL_WORDS: Readonly<Record<string, (call: SkillCall) => ExitCode>> = { install, status, remove };

function install(call: SkillCall): ExitCode {
  const { agent, isPrinted, print } = call;
  const [folder, root] = [folderOf(call), packageRoot()];
  const names = [...skillsOf(root).keys()];
  if (isPrinted) {
    print([`copies into ${folder}:`, ...names.map((name) => `  ${name}`)], { agent, folder, skills: names });
    return 0;
  }
  const { skills, changed, foreign } = copySkills(folder, root);
  const look = lookAtSkillAgent(agent, call.context.surroundings, root);
  const lines = [
    `copied ${skills.length} skills into ${folder}`,
    ...leftLines(folder, { changed, foreign }),
    ...(look === null ? [] : lackLines(look)),
  ];
  print(lines, { agent, folder, skills, changed, foreign });
  return changed.length + foreign.length === 0 ? 0 : 1;
}

function status({ context, agent, print }: SkillCall): ExitCode {
  const look = lookAtSkillAgent(agent, context.surroundings, packageRoot());
  if (look === null) throw homeless();
  print(statusLines(look), look);
  return look.skills === 'copied' ? 0 : 1;
}

function remove(call: SkillCall): ExitCode {
  const { agent, isPrinted, print } = call;
  const folder = folderOf(call);
  if (isPrinted) {
    print([`removes its copies of the skills from ${folder}`], { agent, folder });
    return 0;
  }
  const { lines, value } = removedFrom(agent, call.context.surroundings);
  print(lines, value);
  return value.changed.length === 0 ? 0 : 1;
}

/** Removes the copies of a program. @returns what was done, for a person and for a program. @throws UsageError if HOME is not set */
export function removedFrom(agent: SkillAgentName, surroundings: Surroundings) {
  const folder = skillFolder(agent, surroundings);
  if (folder === null) throw homeless();
  const { removed, changed } = removeSkills(folder);
  const said = removed.length === 0 ? 'nothing was installed' : `removed ${removed.length} skills from ${folder}`;
  return {
    lines: [said, ...leftLines(folder, { changed, foreign: [] })],
    value: { agent, folder, removed, changed },
  };
}

/** @returns the state of such a program, and what it lacks */
export function statusLines(look: SkillAgentLook): string[] {
  const { agent, skills, folder, in_the_way: blocked, changed, foreign } = look;
  const { title } = SKILL_AGENTS[agent];
  const where = [`${title}: skills ${skills}, in ${folder}`, ...(blocked === null ? [] : [blocked])];
  return [...where, ...leftLines(folder, { changed, foreign }), ...lackLines(look)];
}

/** @returns what it lacks of all that an agent can have, and what to do about it */
function lackLines({ agent, skills, server }: SkillAgentLook): string[] {
  const { title, addServer } = SKILL_AGENTS[agent];
  const program = join(packageRoot(), 'bin/watchkeeper');
  return [
    `${title} lacks hooks: its sessions are recorded only by commands and tools`,
    ...(skills === 'copied'
      ? []
      : [
          `${title} lacks ${skills === 'none' ? '' : 'the present '}skills: watchkeeper plugin install --agent ${agent}`,
        ]),
    ...(server === 'on'
      ? []
      : [
          `${title} lacks the MCP server${server === 'unknown' ? ', or has settings that cannot be read here' : ''}: ${addServer(program)}`,
        ]),
  ];
}

function leftLines(folder: string, { changed, foreign }: Pick<SkillAgentLook, 'changed' | 'foreign'>): string[] {
  return [
    ...changed.map((name) => `left alone, because it was changed by hand: ${join(folder, name)}`),
    ...foreign.map((name) => `left alone, because it is not of Watchkeeper: ${join(folder, name)}`),
  ];
}

function folderOf({ agent, context }: SkillCall): string {
  const folder = skillFolder(agent, context.surroundings);
  if (folder === null) throw homeless();
  return folder;
}

function homeless(): UsageError {
  return new UsageError('HOME is not set, so it is not known where the skills go');
}
