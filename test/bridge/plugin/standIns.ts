/** Programs that stand in for `claude` and `codex`: they record what they are called with, and answer what the test says. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemProgram } from '../../../bridge/agents/program/findProgram.js';
import { programRunner } from '../../../bridge/command/runProgram.js';
import type { AgentName, Asker } from '../../../bridge/plugin/agent.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';

/** By the words of a call; a text that begins with `exit ` is the code, with a complaint. */
export type Answers = Readonly<Record<string, unknown>>;

/** What both print where nothing is installed. */
const NOTHING: Readonly<Record<AgentName, Answers>> = {
  claude: { 'plugin list --json': [], 'plugin marketplace list --json': [] },
  codex: {
    'plugin list --json': { installed: [] },
    'plugin marketplace list --json': { marketplaces: [] },
    'mcp list --json': [],
  },
};

/** The server of Codex answers the second question as soon as it was asked, and goes on. */
const SCRIPT = `#!/bin/sh
folder=\${0%/bin/*}
name=\${0##*/}
echo "$name $*" >>"$folder/calls"
answer=$folder/$name/$(echo "$*" | tr ' /' '__')
if [ "$*" = app-server ]; then
  while read -r line; do case $line in *hooks/list*) echo '{"method":"noise"}'; cat "$answer"; echo; esac; done
elif [ -f "$answer" ]; then
  read -r first <"$answer"
  case $first in exit*) echo 'WARNING: ignore this' >&2; echo "sorry: no" >&2; exit "\${first#exit }" ;; *) cat "$answer" ;; esac
fi
`;

export interface StandIns {
  readonly folder: string;
  readonly home: string;
  readonly asker: Asker;
  /** Changes what a program answers from now on. */
  answer(name: AgentName, answers: Answers): void;
  /** All calls so far that do not only ask. */
  changes(): string[];
}

export function standIns(names: readonly AgentName[] = ['claude', 'codex']): StandIns {
  const folder = testFolder();
  const home = join(folder, 'home');
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'calls'), '');
  const answer = (name: AgentName, answers: Answers) => {
    for (const [words, value] of Object.entries(answers)) {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      writeFileSync(join(folder, name, words.replaceAll(/[ /]/g, '_')), `${text}\n`);
    }
  };
  for (const name of names) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'bin', name), SCRIPT, { mode: 0o755 });
    answer(name, NOTHING[name]);
  }
  const PATH = join(folder, 'bin');
  // Nothing else of the system's: there may be a real agent, which would change what its owner has.
  for (const name of ['cat', 'tr']) symlinkSync(systemProgram(name) ?? name, join(PATH, name));
  const surroundings = {
    directory: folder,
    process: readProcessIdentity('here'),
    variables: { PATH, HOME: folder, WATCHKEEPER_HOME: home },
  };
  return {
    folder,
    home,
    asker: { run: programRunner({ PATH, HOME: folder }, systemClock), surroundings },
    answer,
    changes: () =>
      readFileSync(join(folder, 'calls'), 'utf8')
        .split('\n')
        .filter((line) => line !== '' && !line.endsWith('--json') && !/app-server$|features list$|mcp get/.test(line)),
  };
}

/** A server that lists its tools. */
export const SERVES = {
  command: systemProgram('sh') ?? 'sh',
  args: [
    '-c',
    `while read -r line; do case $line in *tools/list*) echo '{"id":2,"result":{"tools":[{}]}}'; esac; done`,
  ],
};

/** What Claude Code lists of one plugin. */
export function ofClaude(id: string, more: object = {}) {
  return { id, version: '0.1.0', scope: 'user', enabled: true, mcpServers: { watchkeeper: SERVES }, ...more };
}

/** What Codex answers when it has the plugin; each hook has one of these trusts. */
export function ofCodex(trust: readonly string[], more: object = {}): Answers {
  const hooks = trust.map((trustStatus) => ({
    pluginId: 'watchkeeper@watchkeeper',
    enabled: true,
    trustStatus,
    ...more,
  }));
  return {
    'plugin list --json': { installed: [{ pluginId: 'watchkeeper@watchkeeper', name: 'watchkeeper', enabled: true }] },
    'mcp list --json': [{ name: 'watchkeeper', enabled: true, transport: { ...SERVES, env_vars: [] } }],
    'app-server': {
      id: 2,
      result: { data: [{ hooks: [{ pluginId: null, enabled: false, trustStatus: 'x' }, ...hooks] }] },
    },
  };
}
