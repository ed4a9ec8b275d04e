import { describeError, errorCode, UsageError } from '../../src/errors.js';
import { runInForeground } from '../agents/program/foreground.js';
import { confinementOf, homeOf, refuseOpen, refuseUserWithoutRights } from '../agents/program/isolation.js';
import { type Command, sayLines } from '../command/command.js';
import { readOptions } from '../command/options.js';

const SHELL = '/bin/sh';

export const command: Command = {
  help: `usage: watchkeeper as-agent PROJECT [-- COMMAND [ARG…]]

Runs a command as the agents of a project run: in its directory, with their
environment, as their user and in their sandbox. Use it to log in, because in a
sandbox agents have a home folder of their own, and to see what they can reach.
Without a command it starts a shell.

exit code: 0 if the command's is 0, 1 if it is another, 2 no such project,
wrong usage, or the command cannot be started

examples:
  watchkeeper as-agent popoto -- codex login
  printenv OPENAI_API_KEY | watchkeeper as-agent popoto -- codex login --with-api-key`,
  async run(args, { io, readSettings }) {
    const { positionals } = readOptions(args, {}, Number.POSITIVE_INFINITY);
    const [key, ...words] = positionals;
    if (key === undefined) throw new UsageError('which project? `watchkeeper as-agent --help` shows how to name it');
    const settings = await readSettings();
    const project = settings.projects.get(key);
    if (project === undefined) {
      throw new UsageError(`no project "${key}" (known: ${[...settings.projects.keys()].join(', ')})`);
    }
    refuseUserWithoutRights(settings);
    refuseOpen(project, settings);
    const { agentEnvironment: environment, agentUser: user } = settings;
    const confinement = confinementOf(settings, key);
    if (confinement?.home != null) sayLines(io, `its home folder is kept in ${homeOf(settings, key)}`);
    const [name = environment.SHELL || SHELL, ...rest] = words;
    const surroundings = { workingDirectory: project.directory, environment, user, confinement };
    const code = await runInForeground({ command: name, args: rest }, surroundings).catch((error: unknown) => {
      throw new UsageError(`${name} cannot be started (${errorCode(error) || describeError(error)})`);
    });
    return code === 0 ? 0 : 1;
  },
};
