/** `watchkeeper plugin`: sessions in terminals that record themselves. */
import { homeFolder, Places } from '../../../memory/home/places.js';
import { didYouMean } from '../../../src/config/didYouMean.js';
import { UsageError } from '../../../src/errors.js';
import { type Command, type CommandContext, type ExitCode, printJson, printLines } from '../../command/command.js';
import { readOptions } from '../../command/options.js';
import { AGENT_NAMES, type AgentName, isInstalled, type PluginAgent } from '../../plugin/agent.js';
import { SKILL_AGENT_NAMES, type SkillAgentName } from '../../plugin/skillAgents.js';
import { AGENTS, agentsHere } from '../../plugin/status.js';
import type { PluginCall } from './call.js';
import { install } from './install.js';
import { remove } from './remove.js';
import { SKILL_WORDS } from './skills.js';
import { status } from './status.js';

const WORDS: Readonly<Record<string, (call: PluginCall) => Promise<ExitCode>>> = { install, status, remove };

export const command: Command = {
  help: `usage: watchkeeper plugin WORD [--agent NAME] [--print] [--json]

Has sessions in terminals record themselves, with no command typed: the plugin
brings hooks and skills to Claude Code and Codex. It is put in place by their
own installers, for each of the two that is on PATH. Gemini CLI and Cursor get
copies of the skills, if you name them.

  install
      writes where this installation is, and installs the plugin. It can be
      repeated, and has to be after an update or a move of this folder
  status
      what each agent has of the plugin and what it lacks, whether it is there
      twice or only as copied skills, whether its hooks find the program, and
      whether anything keeps them from recording
  remove
      takes the plugin back. What is recorded stays

  --agent NAME  only this agent: claude, codex, gemini or cursor
  --print       of install and remove: only show the commands of a first
                installation, or of a whole removal; nothing is started
  --json        the result as JSON

exit code: 0 done, 1 something is amiss, or not installed, 2 usage, or no such
agent is on PATH, 3 the memory cannot be read or written, or the folder of an
agent's skills cannot be written

examples:
  watchkeeper plugin install
  watchkeeper plugin install --agent codex --print
  watchkeeper plugin status --json`,
  async run(args, context) {
    const options = { agent: { type: 'string' }, print: { type: 'boolean' }, json: { type: 'boolean' } } as const;
    const { values, positionals } = readOptions(args, options, 1);
    const [name = ''] = positionals;
    const word = Object.hasOwn(WORDS, name) ? WORDS[name] : undefined;
    if (word === undefined) {
      const known = Object.keys(WORDS);
      const what = name === '' ? 'a word is missing' : `unknown word ${JSON.stringify(name)}`;
      throw new UsageError(`${what}${didYouMean(name, known)} (known: ${known.join(', ')})`);
    }
    if (values.print && name === 'status')
      throw new UsageError('--print is for install and remove; status changes nothing');
    const print: PluginCall['print'] = (lines, value) =>
      values.json ? printJson(context.io, value) : printLines(context.io, lines);
    const only = values.agent === undefined ? null : nameOf(values.agent);
    if (isSkillAgent(only))
      return SKILL_WORDS[name]?.({ context, agent: only, isPrinted: values.print === true, print }) ?? 2;
    return word({
      context,
      places: new Places(homeFolder(context.surroundings.variables)),
      agents: agentsOf(only, context, values.print === true),
      isOfOne: only !== null,
      isPrinted: values.print === true,
      print,
    });
  },
};

function nameOf(given: string): AgentName | SkillAgentName {
  const all = [...AGENT_NAMES, ...SKILL_AGENT_NAMES];
  const name = all.find((known) => known === given);
  if (name !== undefined) return name;
  throw new UsageError(`--agent ${JSON.stringify(given)}${didYouMean(given, all)} (known: ${all.join(', ')})`);
}

function isSkillAgent(name: AgentName | SkillAgentName | null): name is SkillAgentName {
  return SKILL_AGENT_NAMES.some((known) => known === name);
}

/** Commands can be shown without the agent that they are for. */
function agentsOf(only: AgentName | null, context: CommandContext, isPrinted: boolean): readonly PluginAgent[] {
  if (only !== null && (isPrinted || isInstalled(only, context.surroundings))) return [AGENTS[only]];
  const here = only === null ? agentsHere(context.surroundings) : [];
  if (here.length > 0) return here;
  if (isPrinted) return AGENT_NAMES.map((name) => AGENTS[name]);
  throw new UsageError(
    `${only === null ? `neither ${AGENT_NAMES.join(' nor ')} is` : `${only} is not`} on PATH, so there is nothing to do`,
  );
}
