/** What keeps an agent from beginning, prepared as an operator would meet it, and what the doctor's own program says of it. */
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findInstallation } from '../../../bridge/agents/claude/installation.js';
import type { CheckResult } from '../../../bridge/doctor/checkResult.js';
import { packageRoot } from '../../../src/host/program.js';
import { testFolder } from '../../harness/folder.js';
import { describeWhereInstalled } from '../../harness/installed.js';
import { pathWith } from '../../harness/searchPath.js';
import { AnthropicPeer } from '../../peers/anthropic/anthropicPeer.js';
import { claudeEnvironment } from '../../peers/anthropic/environment.js';
import { say } from '../../peers/modelBlocks.js';
import { CODEX } from '../../peers/openai/codexCli.js';
import type { Said } from '../cli/program.js';
import { doctorIn } from './inProcess.js';

const ROOT = packageRoot();
const SCOPE = '@anthropic-ai';
const SDK = 'claude-agent-sdk';
const PROGRAM_PACKAGE = `${SDK}-${process.platform}-${process.arch}`;
const SECRET = 'sk-ant-of-somebody-else-0123456789';
const TIMEOUT_MS = 60_000;

interface Given {
  readonly agent: object;
  /** The package to run; this one where it is left out. */
  readonly root?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly quick?: boolean;
}

/** @returns what the doctor says of the one project's agent, and with what exit code */
async function lookAt({ agent, root = ROOT, environment = {}, quick = false }: Given) {
  const folder = testFolder();
  const directory = join(folder, 'yard');
  execFileSync('git', ['init', '--quiet', directory]);
  for (const [name, mode, text] of [
    ['plain', 0o644, '#!/bin/sh\nexit 0\n'],
    ['runs', 0o755, '#!/bin/sh\nexit 0\n'],
    ['orphan', 0o755, '#!/no/such/interpreter\n'],
  ] as const) {
    writeFileSync(join(directory, name), text);
    chmodSync(join(directory, name), mode);
  }
  writeFileSync(
    join(folder, 'watchkeeper.config.json'),
    JSON.stringify({ projects: { yard: { directory, agent, isolation: 'none' } } }),
  );
  const args = ['--json', ...(quick ? ['--quick'] : [])];
  const env = {
    PATH: pathWith('git', 'sh'),
    HOME: folder,
    AGENT_ENV: Object.keys(environment).join(' '),
    ...environment,
  };
  // Another package is another program.
  const { code, out, err } =
    root === ROOT ? await doctorIn(folder, args, env) : await runIn(folder, [programOf(root), 'doctor', ...args], env);
  expect(out + err).not.toContain(SECRET);
  const { checks }: { checks: CheckResult[] } = JSON.parse(out);
  const { name, ...check } = checks.find((each) => each.name === 'agent of yard') ?? { name: out + err };
  return { code, name, check, directory };
}

const programOf = (root: string) => join(root, 'dist/bridge/cli/main.js');

function runIn(cwd: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<Said> {
  return new Promise((resolve) => {
    execFile(process.execPath, words, { cwd, env }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });
}

/** @returns the root of a copy of this package, whose modules of Claude's are those that are made in the given folder */
function packageWith(makeModules: (folder: string) => void): string {
  const root = testFolder();
  cpSync(join(ROOT, 'package.json'), join(root, 'package.json'));
  cpSync(join(ROOT, 'dist/bridge'), join(root, 'dist/bridge'), { recursive: true });
  mkdirSync(join(root, 'node_modules', SCOPE), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== SCOPE) symlinkSync(join(ROOT, 'node_modules', name), join(root, 'node_modules', name));
  }
  makeModules(join(root, 'node_modules', SCOPE));
  return root;
}

function writeModule(folder: string, name: string, file: string, content: string): void {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, 'package.json'), JSON.stringify({ name: `${SCOPE}/${name}`, main: file }));
  writeFileSync(join(folder, name, file), content);
  chmodSync(join(folder, name, file), 0o755);
}

const claudeThatRuns = (script: string) =>
  packageWith((folder) => {
    writeModule(folder, SDK, 'sdk.js', '');
    writeModule(folder, PROGRAM_PACKAGE, 'claude', script);
  });
const says = (status: object) => `#!/bin/sh\necho '${JSON.stringify(status)}'\n`;

describe('the doctor says of an agent `claude`', () => {
  const agent = { kind: 'claude' };
  const add = /npm run add-claude/;

  test.each([
    ['whose SDK is absent', () => packageWith(() => {}), /needs the package .*, which is not installed/, add],
    [
      'whose SDK came without its program',
      () => packageWith((folder) => writeModule(folder, SDK, 'sdk.js', '')),
      /without its program for \w+-\w+/,
      add,
    ],
    [
      'whose program does not start',
      () => claudeThatRuns('no program at all'),
      /does not start: /,
      /--version` by hand/,
    ],
    [
      'whose program ends at once',
      () => claudeThatRuns('#!/bin/sh\nexit 127\n'),
      /exits with 127/,
      /--version` by hand/,
    ],
    ['that is logged out', () => claudeThatRuns(says({ loggedIn: false })), /no credentials/, /AGENT_ENV.*auth login/],
  ] as const)(
    '%s what to do',
    async (_, makeRoot, found, remedy) => {
      const { code, check } = await lookAt({ agent, root: makeRoot() });
      expect(check).toEqual({
        verdict: 'fault',
        found: expect.stringMatching(found),
        remedy: expect.stringMatching(remedy),
      });
      expect(code).toBe(1);
    },
    TIMEOUT_MS,
  );

  test(
    'that it cannot check a login that Claude Code renews by itself',
    async () => {
      const root = claudeThatRuns(says({ loggedIn: true, authMethod: 'claude.ai', apiProvider: 'firstParty' }));
      const { check } = await lookAt({ agent, root });
      expect(check).toMatchObject({ verdict: 'ok', found: expect.stringMatching(/\(claude\.ai\).*only seen at work/) });
    },
    TIMEOUT_MS,
  );

  test(
    'that it does not ask the provider through a proxy',
    async () => {
      const key = { authMethod: 'api_key', apiProvider: 'firstParty', apiKeySource: 'ANTHROPIC_API_KEY' };
      const root = claudeThatRuns(says({ loggedIn: true, ...key }));
      const environment = { ANTHROPIC_API_KEY: SECRET, HTTPS_PROXY: 'http://127.0.0.1:1' };
      const { check } = await lookAt({ agent, root, environment });
      expect(check).toMatchObject({ verdict: 'ok', found: expect.stringContaining('a proxy is between') });
    },
    TIMEOUT_MS,
  );

  test(
    'only whether it is installed, with --quick',
    async () => {
      const root = claudeThatRuns('no program at all');
      expect((await lookAt({ agent, root, quick: true })).check).toMatchObject({ verdict: 'ok' });
      const none = packageWith(() => {});
      expect((await lookAt({ agent, root: none, quick: true })).check).toMatchObject({ verdict: 'fault' });
    },
    TIMEOUT_MS,
  );
});

if (findInstallation().kind !== 'complete') {
  describe.skip('the doctor and the real Claude Code (skipped: `npm run add-claude` adds it)', () => {
    test('works', () => {});
  });
} else {
  describe('the doctor and the real Claude Code:', () => {
    const agent = { kind: 'claude' };
    const peer = new AnthropicPeer(() => [say('?')]);
    const asking = (changes: Readonly<Record<string, string>> = {}) => {
      const { HOME: _, ...environment } = claudeEnvironment(peer, testFolder());
      return { agent, environment: { ...environment, ...changes } };
    };
    beforeAll(() => peer.listen());
    afterAll(() => peer.stop());

    test(
      'an accepted key is recognised, and no model is called',
      async () => {
        const { check } = await lookAt(asking());
        expect(check).toMatchObject({ verdict: 'ok', found: expect.stringMatching(/\(api_key\); .* accepts it/) });
        expect(peer.requests).toEqual([]);
      },
      TIMEOUT_MS,
    );

    // rule: the-doctor-names-each-fault
    test.each([
      ['ANTHROPIC_API_KEY', { ANTHROPIC_API_KEY: SECRET }],
      ['ANTHROPIC_AUTH_TOKEN', { ANTHROPIC_API_KEY: '', ANTHROPIC_AUTH_TOKEN: SECRET }],
      ['CLAUDE_CODE_OAUTH_TOKEN', { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: SECRET }],
    ])(
      'a refused %s is named',
      async (name, changes) => {
        const { code, check } = await lookAt(asking(changes));
        expect(check).toEqual({
          verdict: 'fault',
          found: expect.stringMatching(/127\.0\.0\.1:\d+ refuses it \(401\)/),
          remedy: expect.stringContaining(`correct ${name}`),
        });
        expect(code).toBe(1);
      },
      TIMEOUT_MS,
    );

    test(
      'missing credentials are a fault',
      async () => {
        const { check } = await lookAt(asking({ ANTHROPIC_API_KEY: '' }));
        expect(check).toMatchObject({ verdict: 'fault', found: expect.stringContaining('no credentials') });
      },
      TIMEOUT_MS,
    );

    test(
      'an unreachable provider is a warning',
      async () => {
        const { code, check } = await lookAt(
          asking({ ANTHROPIC_API_KEY: SECRET, ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }),
        );
        expect(check).toEqual({
          verdict: 'warning',
          found: expect.stringMatching(/127\.0\.0\.1:1 could not be asked \(\w+/),
          remedy: expect.stringContaining('ANTHROPIC_BASE_URL'),
        });
        expect(code).toBe(0);
      },
      TIMEOUT_MS,
    );
  });
}

describe('the doctor says of an agent `command`', () => {
  const command = (words: readonly string[], further: object = {}) => ({ kind: 'command', command: words, ...further });
  const shell = (script: string) => ({ check: ['sh', '-c', script] });
  const environment = { MY_TOKEN: SECRET };

  test.each([
    ['that is not on PATH', command(['no-such-agent']), /not on the PATH/, /install it/],
    ['at a path that does not exist', command(['./gone']), /\.\/gone is not there/, /whole path/],
    ['that is not executable', command(['./plain']), /may not be executed/, /chmod \+x/],
    [
      'whose check does not exist',
      command(['./runs'], { check: ['gone-check'] }),
      /gone-check is not on/,
      /install it/,
    ],
    [
      'whose check says no, without its secrets',
      command(['./runs'], shell('printf "\\033]0;x\\007Not logged in with %s" "$MY_TOKEN" >&2; exit 1')),
      /runs is there, but `sh -c .*exits with 1: \]0;x Not logged in with \[redacted/,
      /log in as the project's agents do/,
    ],
    [
      'whose check needs an interpreter that is not installed',
      command(['./runs'], { check: ['./orphan'] }),
      /`\.\/orphan` cannot be started \(ENOENT\)/,
      /exits with 0/,
    ],
    [
      'whose check asks a person',
      command(['./runs'], shell('read answer </dev/tty || exit 3')),
      /exits with/,
      /log in/,
    ],
  ] as const)(
    '%s what to do',
    async (_, agent, found, remedy) => {
      const { code, check } = await lookAt({ agent, environment });
      expect(check).toEqual({
        verdict: 'fault',
        found: expect.stringMatching(found),
        remedy: expect.stringMatching(remedy),
      });
      expect(code).toBe(1);
    },
    TIMEOUT_MS,
  );

  test(
    'that it is well if its check passes, in the directory of the agent and with what it inherits',
    async () => {
      const agent = command(['./runs'], shell('test -x runs && test -n "$MY_TOKEN" && test -z "$AGENT_ENV"'));
      expect((await lookAt({ agent, environment })).check).toMatchObject({ verdict: 'ok', remedy: null });
    },
    TIMEOUT_MS,
  );

  test(
    'nothing of its check with --quick',
    async () => {
      const agent = command(['./runs'], shell('exit 1'));
      expect((await lookAt({ agent, quick: true })).check).toMatchObject({ verdict: 'ok' });
    },
    TIMEOUT_MS,
  );
});

/** The recipes as the documents show them. */
function recipe(program: string): { readonly agent: object } {
  const text = readFileSync(join(ROOT, 'docs/agents.md'), 'utf8');
  const blocks = [...text.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) => JSON.parse(json));
  return blocks.find(({ agent }) => agent.command?.[0] === program);
}

test(
  'the recipe for gemini has a check for its key',
  async () => {
    const bin = testFolder();
    writeFileSync(join(bin, 'gemini'), '#!/bin/sh\n');
    chmodSync(join(bin, 'gemini'), 0o755);
    const environment = { PATH: `${bin}:${pathWith('git', 'sh')}` };
    const without = await lookAt({ ...recipe('gemini'), environment });
    expect(without.check).toMatchObject({
      verdict: 'fault',
      found: expect.stringContaining('GEMINI_API_KEY is not set'),
    });
    const withKey = await lookAt({ ...recipe('gemini'), environment: { ...environment, GEMINI_API_KEY: SECRET } });
    expect(withKey.check).toMatchObject({ verdict: 'ok' });
  },
  TIMEOUT_MS,
);

describeWhereInstalled('the recipe for codex', CODEX, () => {
  test(
    'has a check for its login',
    async () => {
      const environment = { PATH: process.env.PATH ?? '', CODEX_HOME: testFolder() };
      const loggedOut = await lookAt({ ...recipe('codex'), environment });
      expect(loggedOut.check).toMatchObject({ verdict: 'fault', found: expect.stringContaining('Not logged in') });
      execFileSync('codex', ['login', '--with-api-key'], { env: environment, input: SECRET, stdio: 'pipe' });
      expect((await lookAt({ ...recipe('codex'), environment })).check).toMatchObject({ verdict: 'ok' });
    },
    TIMEOUT_MS,
  );
});
