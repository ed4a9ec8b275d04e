import { delimiter, join } from 'node:path';
import { seenFile } from '../../../src/files/seenFile.js';
import { isCheckout, packageRoot } from '../../../src/host/program.js';
import { shellLine } from '../../../src/log/shellWords.js';
import type { ExitCode } from '../../command/command.js';
import { commandsOfInstall, type Done, install as installPlugin } from '../../plugin/change.js';
import { wholeStatusOf } from '../../plugin/status.js';
import type { PluginCall } from './call.js';
import { doneLines, doneValue, troubleLines } from './lines.js';

export async function install(call: PluginCall): Promise<ExitCode> {
  const { context, places, agents, isPrinted, print } = call;
  const root = packageRoot();
  const file = places.installation;
  if (isPrinted) {
    const commands = commandsOfInstall(agents, root).map(shellLine);
    print([`writes ${file}: ${root}`, ...commands], { installation: file, root, commands });
    return 0;
  }
  const asker = { run: context.runProgram, surroundings: context.surroundings };
  const done = await installPlugin({ places, root, node: process.execPath }, agents, asker);
  const { trouble: all } = await wholeStatusOf(places, agents, asker);
  const next = [
    ...(isOnPath(context.surroundings.variables.PATH ?? '')
      ? []
      : [isCheckout(root) ? `\`npm link\` in ${root} puts watchkeeper on PATH` : `put ${join(root, 'bin')} on PATH`]),
    ...agents.filter(({ name }) => isWithoutFault(name, done)).flatMap((agent) => agent.next ?? []),
    ...all.flatMap(({ isNext, remedy, found }) => (isNext ? `${remedy}: ${found}` : [])),
  ];
  const trouble = all.filter(({ isNext }) => !isNext);
  const lines = [
    `wrote ${file}: ${root}`,
    ...doneLines(done),
    ...next.map((each) => `next: ${each}`),
    ...troubleLines(trouble, context),
  ];
  print(lines, { installation: file, root, commands: done.map(doneValue), next, trouble });
  // A step that only a person can take is no failure of the installation.
  return done.every(({ fault }) => fault === null) && trouble.length === 0 ? 0 : 1;
}

/** In an agent's own shell it is, by the plugin; in a person's it need not be. */
function isOnPath(path: string): boolean {
  return path.split(delimiter).some((folder) => seenFile(join(folder, 'watchkeeper')) !== undefined);
}

function isWithoutFault(name: string, done: readonly Done[]): boolean {
  return done.every(({ command: [program], fault }) => program !== name || fault === null);
}
