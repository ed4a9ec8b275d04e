/** `watchkeeper plugin` with programs that stand in for the agents. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { command } from '../../../../bridge/cli/plugin/plugin.js';
import type { RunProgram } from '../../../../bridge/command/runProgram.js';
import { checkPlugin } from '../../../../bridge/doctor/pluginChecks.js';
import { worklogKind } from '../../../../memory/fold/rules/kind.js';
import { Memory } from '../../../../memory/sessions/memory.js';
import { packageRoot } from '../../../../src/host/program.js';
import { redactShapes } from '../../../../src/log/redact.js';
import { systemClock } from '../../../../src/time.js';
import { ofClaude, ofCodex, type StandIns, standIns } from '../../plugin/standIns.js';
import { runCommand } from '../inProcess.js';

const ROOT = packageRoot();
const ID = 'watchkeeper@watchkeeper';
const OF_CLAUDE = [`claude plugin marketplace add ${ROOT}`, `claude plugin install ${ID}`];
const OF_CODEX = [`codex plugin marketplace add ${ROOT}`, `codex plugin add ${ID}`];

const call = ({ asker }: StandIns, ...args: string[]) =>
  runCommand(command, args, { surroundings: asker.surroundings, runProgram: asker.run });

/** As after an installation. */
function installed(scene: StandIns) {
  scene.answer('claude', {
    'plugin list --json': [ofClaude(ID)],
    'plugin marketplace list --json': [{ name: 'watchkeeper', path: ROOT }],
  });
  scene.answer('codex', {
    ...ofCodex(['trusted']),
    'plugin marketplace list --json': { marketplaces: [{ name: 'watchkeeper', root: ROOT }] },
  });
}

/** The scene, whose Claude Code takes too long to answer some of its first questions about what it has. */
function slow(scene: StandIns, question: string, times = Number.POSITIVE_INFINITY): StandIns {
  let left = times;
  const run: RunProgram = async (call) => {
    if ([call.program, ...call.args].join(' ') !== question || left === 0) return scene.asker.run(call);
    left -= 1;
    return { kind: 'late' };
  };
  return { ...scene, asker: { ...scene.asker, run } };
}

const LIST = 'claude plugin list --json';
const REMOVAL = [`claude plugin uninstall ${ID} --scope user`, 'claude plugin marketplace remove watchkeeper'];

describe('plugin install', () => {
  // rule: the-agents-install-the-plugin
  test('writes the installation, runs the installers of both agents, and says what comes next', async () => {
    const scene = standIns();
    scene.answer('codex', ofCodex(['untrusted']));
    const { out } = await call(scene, 'install', '--json');
    const said = JSON.parse(out);
    const file = join(scene.home, 'installation');
    expect(readFileSync(file, 'utf8')).toBe(`${ROOT}\n${process.execPath}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(said).toMatchObject({ installation: file, root: ROOT });
    expect(said.commands.map((each: { command: string }) => each.command)).toEqual([...OF_CLAUDE, ...OF_CODEX]);
    const link = expect.stringMatching(/^`npm link` in .* puts watchkeeper on PATH$/);
    expect(said.next).toEqual([link, expect.stringMatching(/^Claude Code: /), expect.stringMatching(/\/hooks/)]);
    expect(scene.changes().sort()).toEqual([...OF_CLAUDE, ...OF_CODEX].sort());
  });

  test('can be repeated, and tells Codex first to forget an installation that has moved', async () => {
    const scene = standIns(['codex']);
    installed({ ...scene, answer: (name, answers) => name === 'codex' && scene.answer(name, answers) });
    await call(scene, 'install');
    expect(scene.changes()).toEqual(OF_CODEX);
    scene.answer('codex', {
      'plugin marketplace list --json': { marketplaces: [{ name: 'watchkeeper', root: '/moved' }] },
    });
    await call(scene, 'install');
    expect(scene.changes().slice(2)).toEqual(['codex plugin marketplace remove watchkeeper', ...OF_CODEX]);
  });

  test('goes no further with an agent whose installer fails, and says why', async () => {
    const scene = standIns();
    scene.answer('claude', { [`plugin marketplace add ${ROOT}`]: 'exit 7' });
    const { code, out } = await call(scene, 'install');
    expect(code).toBe(1);
    expect(out).toContain(`${OF_CLAUDE[0]}\n    exit code 7: sorry: no\n`);
    expect(out).not.toContain('Claude Code: sessions');
    expect(scene.changes().sort()).toEqual([OF_CLAUDE[0], ...OF_CODEX].sort());
  });

  test.each([['claude'], ['codex']] as const)('of %s alone leaves the other one as it is', async (name) => {
    const scene = standIns();
    await call(scene, 'install', '--agent', name);
    expect(scene.changes()).toEqual(name === 'claude' ? OF_CLAUDE : OF_CODEX);
  });

  test('--print shows everything, and starts and writes nothing, whether the agents are there or not', async () => {
    const scene = standIns([]);
    const { code, out } = await call(scene, 'install', '--print');
    expect(code).toBe(0);
    expect(out.trim().split('\n')).toEqual([
      `writes ${join(scene.home, 'installation')}: ${ROOT}`,
      ...OF_CLAUDE,
      ...OF_CODEX,
    ]);
    const removal = await call(scene, 'remove', '--agent', 'codex', '--print', '--json');
    expect(JSON.parse(removal.out)).toEqual({
      installation: null,
      commands: [`codex plugin remove ${ID}`, 'codex plugin marketplace remove watchkeeper'],
    });
    expect(readFileSync(join(scene.folder, 'calls'), 'utf8')).toBe('');
    expect(existsSync(scene.home)).toBe(false);
  });

  test('needs an agent on PATH, and a word that it knows', async () => {
    const scene = standIns(['codex']);
    await expect(call(scene, 'install', '--agent', 'claude')).rejects.toThrow('claude is not on PATH');
    await expect(call(standIns([]), 'status')).rejects.toThrow('neither claude nor codex is on PATH');
    await expect(call(scene, 'install', '--agent', 'code')).rejects.toThrow('did you mean "codex"?');
    await expect(call(scene, 'instal')).rejects.toThrow('did you mean "install"?');
    await expect(call(scene)).rejects.toThrow('known: install, status, remove');
    await expect(call(scene, 'status', '--print')).rejects.toThrow('--print');
  });

  test('needs a home that can be written', async () => {
    const scene = standIns(['claude']);
    mkdirSync(join(scene.home, 'installation/full'), { recursive: true });
    await expect(call(scene, 'install')).rejects.toThrow(join(scene.home, 'installation'));
    expect(scene.changes()).toEqual([]);
  });
});

describe('plugin status', () => {
  test('shows what each agent has; exit code 1 if none has the plugin, or something is amiss', async () => {
    const scene = standIns();
    expect(await call(scene, 'status')).toMatchObject({
      code: 1,
      out: expect.stringContaining('no agent has the plugin'),
    });
    await call(scene, 'install');
    installed(scene);
    const { code, out } = await call(scene, 'status', '--json');
    const said = JSON.parse(out);
    expect(said).toMatchObject({
      installation: { file: join(scene.home, 'installation'), root: ROOT, node: process.execPath },
      agents: [
        { agent: 'claude', hooks: 'on', skills: 'plugin', marketplace: ROOT, plugins: [{ id: ID, scope: 'user' }] },
        { agent: 'codex', hooks: 'on', skills: 'plugin', marketplace: ROOT, plugins: [{ id: ID }] },
      ],
    });
    expect(code).toBe(said.trouble.length === 0 ? 0 : 1);
    mkdirSync(join(scene.folder, '.claude'));
    const settings = join(scene.folder, '.claude/settings.local.json');
    writeFileSync(settings, '{"disableAllHooks":true}');
    const off = await call(scene, 'status');
    expect(off).toMatchObject({ code: 1, out: expect.stringMatching(/^Claude Code +off here +plugin/m) });
    expect(off.out.replaceAll(/\s+/g, ' ')).toContain(`all hooks are off here: \`disableAllHooks\` in ${settings}`);
    rmSync(settings);
    scene.answer('codex', ofCodex(['modified']));
    const amiss = await call(scene, 'status');
    expect(amiss).toMatchObject({ code: 1, out: expect.stringMatching(/Codex +untrusted +plugin/) });
    expect(amiss.out).toMatch(/codex: it runs no hook .*\n {4}→ start `codex`/);
  });
});

describe('an agent that does not say what it has', () => {
  test('counts as neither with nor without the plugin', async () => {
    const scene = standIns();
    const { code, out } = await call(slow(scene, LIST), 'status');
    expect(code).toBe(1);
    expect(out).not.toContain('no agent has the plugin');
    expect(out).toMatch(/^Claude Code +unknown +unknown +unknown +did not answer$/m);
    expect(out).toContain('Claude Code did not say whether it has the plugin\n');
    const said = await call(slow(scene, LIST), 'status', '--json');
    expect(JSON.parse(said.out).agents).toMatchObject([
      { agent: 'claude', is_unanswered: true, plugins: [], marketplace: null, hooks: 'unknown', skills: 'unknown' },
      { agent: 'codex', is_unanswered: false, plugins: [], marketplace: null, hooks: 'none', skills: 'none' },
    ]);
  });

  test('gets the plugin removed; that it is gone is said only if the agent says so', async () => {
    const scene = standIns(['claude']);
    const silent = await call(slow(scene, LIST), 'remove');
    expect(scene.changes()).toEqual([REMOVAL[0]]);
    expect(silent.code).toBe(1);
    expect(silent.out).not.toContain('nothing was installed');
    expect(silent.out).toContain('Claude Code did not say whether it has the plugin now\n');
    expect(silent.out).toMatch(
      /claude: `claude plugin list --json`: it took too long and was ended\n +→ run it yourself/,
    );
    const said = JSON.parse((await call(slow(scene, LIST), 'remove', '--json')).out);
    expect(said).toMatchObject({ left: [], trouble: [{ agent: 'claude', remedy: expect.any(String) }] });
    expect(await call(slow(scene, LIST, 1), 'remove')).toMatchObject({ code: 0 });
  });

  test('gets the marketplace removed, too, if it does not name those that it has', async () => {
    const scene = standIns(['claude']);
    const { code, out } = await call(slow(scene, 'claude plugin marketplace list --json'), 'remove');
    expect({ code, changes: scene.changes() }).toEqual({ code: 1, changes: [REMOVAL[1]] });
    expect(out).toContain('claude plugin marketplace list --json`: it took too long');
  });
});

describe('plugin status, while hooks that are on can record nothing', () => {
  /** Everything but what each test breaks is well. */
  async function working() {
    const scene = standIns();
    await call(scene, 'install');
    installed(scene);
    return scene;
  }

  test('names a home that takes no files, as the doctor does', async () => {
    const scene = await working();
    const sessions = join(scene.home, 'sessions');
    rmSync(sessions, { recursive: true, force: true });
    writeFileSync(sessions, '', { mode: 0o700 });
    const { code, out } = await call(scene, 'status');
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringMatching(/Claude Code +on/) });
    expect(out).toContain(
      `\n${sessions} cannot be written (ENOTDIR): no session of this user can be recorded\n    → make`,
    );
  });

  test('names the fault of the settings in a line', async () => {
    const scene = await working();
    const settings = join(scene.home, 'settings.json');
    writeFileSync(settings, '{"keep_days":"x"}');
    const { code, out } = await call(scene, 'status');
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringMatching(/Claude Code +on/) });
    expect(out).toContain(`\n${settings} has a fault: keep_days: must be a number; given "x"\n    → correct that`);
  });
});

describe('plugin remove', () => {
  test('takes back what was installed, and forgets the installation', async () => {
    const scene = standIns();
    await call(scene, 'install');
    installed(scene);
    const before = scene.changes().length;
    await call(scene, 'remove');
    expect(scene.changes().slice(before).sort()).toEqual([
      'claude plugin marketplace remove watchkeeper',
      `claude plugin uninstall ${ID} --scope user`,
      'codex plugin marketplace remove watchkeeper',
      `codex plugin remove ${ID}`,
    ]);
    expect(existsSync(join(scene.home, 'installation'))).toBe(false);
  });

  test('names the sessions that are running, whose end no hook will see', async () => {
    const scene = standIns();
    await call(scene, 'install');
    installed(scene);
    const memory = new Memory({
      ...{ surroundings: scene.asker.surroundings, folder: null, clock: systemClock, redact: redactShapes },
    });
    const begin = (agent: string, more: object) => {
      const { id, log } = memory.lifecycle.begin(memory.workspace, {
        ...{ purpose: agent, fields: {}, plan: [], concurrent: true },
      });
      const process = { ...scene.asker.surroundings.process, ...more };
      log.write(() => [worklogKind.line('run_started', { process, agent })], memory.stamp, { isFact: true });
      return id;
    };
    const id = begin('claude', {});
    begin('claude', { pid_start: '1' });
    begin('codex', {});
    const { out } = await call(scene, 'remove', '--agent', 'claude');
    expect(out).toContain(
      `what is recorded stays; to delete it: watchkeeper work purge --older-than 0d (names the sessions; with --yes, it removes them)\n1 session is running, and will look crashed when the agent has ended, because no hook sees it: ${id}\nEnd it then: watchkeeper work end ${id}\n`,
    );
    expect(JSON.parse((await call(scene, 'remove', '--json')).out).running).toHaveLength(2);
  });

  test('names what is left, which a person has to remove; of one agent it keeps the installation', async () => {
    const scene = standIns(['claude']);
    await call(scene, 'install');
    const project = ofClaude(ID, { scope: 'project', projectPath: '/shop' });
    scene.answer('claude', { 'plugin list --json': [project] });
    const before = scene.changes().length;
    const { code, out } = await call(scene, 'remove', '--agent', 'claude');
    expect({ code, more: scene.changes().slice(before) }).toEqual({ code: 1, more: [] });
    expect(out).toContain(`left: ${ID} of claude, scope project of /shop`);
    expect(existsSync(join(scene.home, 'installation'))).toBe(true);
  });

  test('does not take a file that it may not see for none', async () => {
    const scene = standIns();
    symlinkSync(scene.home, scene.home);
    await expect(call(scene, 'remove')).rejects.toThrow(`${join(scene.home, 'installation')} cannot be removed`);
  });

  test('is no error if nothing was installed', async () => {
    expect(await call(standIns(), 'remove')).toMatchObject({ code: 0, out: 'nothing was installed\n' });
  });
});

describe('the doctor', () => {
  const inShort = async ({ asker }: StandIns, isQuick = false) =>
    (await checkPlugin(asker, isQuick)).map(({ verdict, found }) => `${verdict}: ${found}`);

  // rule: the-doctor-looks-at-the-plugin
  test('looks at the plugin, too, and asks no agent if it has to be quick', async () => {
    const scene = standIns();
    expect(await inShort(scene)).toEqual([expect.stringMatching(/^ok: no agent has it/)]);
    expect(await inShort(scene, true)).toEqual([]);
    installed(scene);
    expect(await inShort(scene)).toEqual([expect.stringMatching(/^warning: .*installation is missing/)]);
    expect(await inShort(scene, true)).toEqual([]);
    const relative = { ...scene.asker.surroundings, variables: { WATCHKEEPER_HOME: 'here' } };
    expect(await inShort({ ...scene, asker: { ...scene.asker, surroundings: relative } })).toEqual([]);
  });
});
