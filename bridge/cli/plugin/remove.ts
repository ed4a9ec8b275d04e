import { Memory } from '../../../memory/sessions/memory.js';
import { counted } from '../../../src/counted.js';
import { UnreachableError, UsageError } from '../../../src/errors.js';
import { packageRoot } from '../../../src/host/program.js';
import { shellLine } from '../../../src/log/shellWords.js';
import { systemClock } from '../../../src/time.js';
import type { CommandContext, ExitCode } from '../../command/command.js';
import { commandsOfRemoval, remove as removePlugin } from '../../plugin/change.js';
import { lookAtSkillAgent, SKILL_AGENT_NAMES } from '../../plugin/skillAgents.js';
import { AGENTS, isUnknown, statusOf } from '../../plugin/status.js';
import type { PluginCall } from './call.js';
import { doneLines, doneValue, troubleLines } from './lines.js';
import { removedFrom } from './skills.js';

const KEPT =
  'what is recorded stays; to delete it: watchkeeper work purge --older-than 0d (names the sessions; with --yes, it removes them)';

export async function remove(call: PluginCall): Promise<ExitCode> {
  const { context, places, agents, isOfOne, isPrinted, print } = call;
  const file = places.installation;
  if (isPrinted) {
    const commands = commandsOfRemoval(agents).map(shellLine);
    print([...commands, ...(isOfOne ? [] : [`removes ${file}`])], {
      installation: isOfOne ? null : file,
      commands,
    });
    return 0;
  }
  const asker = { run: context.runProgram, surroundings: context.surroundings };
  const { done, wasInstalled } = await removePlugin(places, { agents, everywhere: !isOfOne }, asker);
  const copies = isOfOne ? [] : removeCopies(context);
  const { agents: looks } = await statusOf(places, agents, asker);
  const left = looks.flatMap(({ agent, plugins }) => (plugins ?? []).map((plugin) => ({ agent, ...plugin })));
  const trouble = looks.flatMap(({ agent, unanswered }) => unanswered.map((each) => ({ agent, ...each })));
  const running = done.length === 0 && !wasInstalled ? [] : runningSessions(call);
  const lines = [
    ...doneLines(done),
    ...(wasInstalled ? [`removed ${file}`] : []),
    ...copies.flatMap(({ lines }) => lines),
    ...(done.length === 0 && !wasInstalled && copies.length === 0 ? ['nothing was installed'] : [KEPT]),
    ...(running.length === 0
      ? []
      : [
          `${counted(running.length, 'session')} ${running.length === 1 ? 'is' : 'are'} running, and will look crashed when the agent has ended, because no hook sees it: ${running.join(', ')}`,
          `${running.length === 1 ? 'End it' : 'End each'} then: watchkeeper work end ${running.length === 1 ? running[0] : 'ID'}`,
        ]),
    ...left.map(
      ({ agent, id, scope, project }) =>
        `left: ${id} of ${agent}, scope ${scope}${project === null ? '' : ` of ${project}`}; remove it there`,
    ),
    ...looks.filter(isUnknown).map(({ agent }) => `${AGENTS[agent].title} did not say whether it has the plugin now`),
    ...troubleLines(trouble, context),
  ];
  print(lines, {
    installation: wasInstalled ? file : null,
    commands: done.map(doneValue),
    copies: copies.map(({ value }) => value),
    left,
    running,
    trouble,
  });
  return done.every(({ fault }) => fault === null) && left.length === 0 && trouble.length === 0 ? 0 : 1;
}

/** Programs that are not on PATH any more may have them, too. */
function removeCopies({ surroundings }: CommandContext) {
  const root = packageRoot();
  return SKILL_AGENT_NAMES.filter(
    (name) => (lookAtSkillAgent(name, surroundings, root)?.skills ?? 'none') !== 'none',
  ).map((name) => removedFrom(name, surroundings));
}

/** @returns the ids of sessions on which one of the agents is at work now; none if the memory cannot be read */
function runningSessions({ context, places, agents }: PluginCall): string[] {
  const { surroundings, redact } = context;
  const names: readonly (string | null)[] = agents.map(({ name }) => name);
  try {
    const memory = new Memory({ surroundings, folder: places.root, clock: systemClock, redact });
    return memory.sessions.ids().filter((id) => {
      const log = memory.sessions.endsEnded(id) ? undefined : memory.look(id)?.log.state;
      if (log === undefined || log.lifecycle === 'ended') return false;
      const runs = log.runs.filter(({ agent }) => names.includes(agent));
      return memory.runsOf({ ...log, runs }).alive.length > 0;
    });
  } catch (error) {
    if (error instanceof UsageError || error instanceof UnreachableError) return [];
    throw error;
  }
}
