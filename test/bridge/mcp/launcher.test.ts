/** How an agent starts the server: by the line of `plugin/.mcp.json`, without a path of the plugin. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { SURROUNDING_VARIABLES } from '../../../memory/sessions/surroundings.js';
import { packageRoot } from '../../../src/host/program.js';
import { testFolder } from '../../harness/folder.js';

const FILE = join(packageRoot(), 'plugin/.mcp.json');
const text = readFileSync(FILE, 'utf8');
const { command, args, env_vars } = JSON.parse(text).mcpServers.watchkeeper;
const DISCOVER = `${JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
})}\n`;

let user = '';
let home = '';

beforeEach(() => {
  user = testFolder();
  home = join(user, '.local/state/watchkeeper');
});

/** As `watchkeeper plugin install` leaves it. */
function install(place = home, root = packageRoot()): void {
  mkdirSync(place, { recursive: true, mode: 0o700 });
  writeFileSync(join(place, 'installation'), `${root}\n${process.execPath}\n`, { mode: 0o600 });
}

function start(variables: Readonly<Record<string, string>> = {}) {
  const env = { HOME: user, PATH: dirname(process.execPath), ...variables };
  const { status, stdout, stderr } = spawnSync(`/bin/${command}`, args, { env, input: DISCOVER, encoding: 'utf8' });
  return { status, answered: stdout.includes('"serverInfo"'), stderr };
}

const works = { status: 0, answered: true, stderr: '' };
const fails = { status: 1, answered: false, stderr: expect.stringContaining('watchkeeper plugin install') };

test('starts the server of the installation, wherever the home is', () => {
  expect(start()).toEqual(fails);
  install();
  expect(start()).toEqual(works);
  const other = join(user, 'other home');
  expect(start({ WATCHKEEPER_HOME: other })).toEqual(fails);
  install(other);
  expect(start({ WATCHKEEPER_HOME: other })).toEqual(works);
  install(join(user, 'state/watchkeeper'));
  expect(start({ HOME: '/nowhere', XDG_STATE_HOME: join(user, 'state') })).toEqual(works);
});

test.each([
  ['the home', '', 0o720],
  ['the home', '', 0o702],
  ['the file', 'installation', 0o660],
  ['the file', 'installation', 0o606],
])('starts nothing if others can write %s', (_, name, mode) => {
  install();
  chmodSync(join(home, name), mode);
  expect(start()).toEqual(fails);
});

test.each([
  ['an older installation, without a server', '/usr'],
  ['a relative path', 'usr'],
  ['nothing', ''],
])('says what to do about %s', (_, root) => {
  install(home, root);
  expect(start()).toEqual(fails);
});

test('has nothing that only one of the programs expands, and hands on every variable that is ours', () => {
  expect(text).not.toMatch(/\$\{|\.\.\//);
  const ours = SURROUNDING_VARIABLES.filter((name) =>
    /^(WATCHKEEPER|XDG_STATE|MAESTRO|CODEX_HOME|CLAUDE_CONFIG_DIR|TMPDIR)/.test(name),
  );
  expect(env_vars).toEqual(expect.arrayContaining(ours));
});
