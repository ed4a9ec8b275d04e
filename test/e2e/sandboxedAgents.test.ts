/**
 * The real agents under bubblewrap, in a project below the home of the person who runs the bridge, and as another user: each finds
 * its settings and login, works, commits under a person's name, and continues its conversation.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { findInstallation } from '../../bridge/agents/claude/installation.js';
import { whyNoSandbox } from '../../bridge/agents/program/sandbox.js';
import { testFolder } from '../harness/folder.js';
import { describeWhereInstalled, type Installable } from '../harness/installed.js';
import { afterThisTest } from '../harness/scope.js';
import { AnthropicPeer } from '../peers/anthropic/anthropicPeer.js';
import { LESS_COMPILING_OF_CLAUDE } from '../peers/anthropic/environment.js';
import { toolResults, userTexts } from '../peers/anthropic/messages.js';
import { GEMINI, geminiOptions } from '../peers/gemini/geminiCli.js';
import { startGeminiPeer } from '../peers/gemini/geminiPeer.js';
import { type Asked, type Block, call, say } from '../peers/modelBlocks.js';
import { CODEX } from '../peers/openai/codexCli.js';
import { startOpenaiPeer } from '../peers/openai/openaiPeer.js';
import { Conversation } from './conversation.js';
import { giveTo, giveToOrdinaryUser, ORDINARY_USER, productStarter } from './ordinaryUser.js';
import { SCENE_MARK } from './sweeper.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

// covers: bridge/agents/program/agentSettings.ts

const trouble = whyNoSandbox(ORDINARY_USER);
const AGENT_USER = 64_002;
const CHAT = 81;
const WITHIN_MS = 60_000;
const WORK = 'echo made >made.txt && git add made.txt && git commit -qm work && cat ~/.bashrc ../../.bashrc';
const IDENTITY = '[user]\n\tname = The Operator\n\temail = op@example.org\n';

interface Prepared {
  readonly agent: { readonly kind: string };
  /** For the agent, besides HOME. */
  readonly environment: Readonly<Record<string, string>>;
  /** Of the operator, below the home. */
  readonly files: Readonly<Record<string, string>>;
  /** What a person pipes into a login. */
  readonly login?: { readonly words: readonly string[]; readonly input: string };
  /** What the model has been asked, oldest first. */
  readonly asked: readonly string[];
}

/** Works once, then answers; what it is asked later it answers at once. */
function modelWith(asked: string[], shell: (command: string) => Block) {
  return ({ texts, results }: Pick<Asked, 'texts' | 'results'>): readonly Block[] => {
    asked.push(texts.join('\n'));
    const isSecond = texts.some((text) => text.includes('and now the second'));
    if (results === 0 && !isSecond) return [shell(WORK)];
    return [say(isSecond ? 'I remember.' : 'It is committed.')];
  };
}

/** What the scene itself writes into the home. */
const OF_SCENE = /^(?:logs|work|memory|process-.*|telegram-.*|github-.*)$/;

/** @returns each file of the operator's home, with what would betray a change */
function snapshot(home: string): Record<string, string> {
  const seen: Record<string, string> = {};
  for (const path of readdirSync(home, { recursive: true, encoding: 'utf8' })) {
    if (OF_SCENE.test(path.split('/')[0] ?? '')) continue;
    const { size, mtimeMs } = lstatSync(join(home, path));
    seen[path] = `${size} ${mtimeMs}`;
  }
  return seen;
}

/** Whom the agent runs as, and in which home. */
interface Kept {
  readonly isolation: 'bubblewrap' | 'none';
  readonly program: string;
  /** Below the scene's folder. */
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Gives the files of the scene to their users. */
  settle(folder: string): void;
}

function underBubblewrap(): Kept {
  const program = productStarter(testFolder());
  const settle = (folder: string) => [folder, dirname(program)].forEach(giveToOrdinaryUser);
  return { isolation: 'bubblewrap', program, home: '.', environment: {}, settle };
}

/** As in the container. */
function asAnotherUser(): Kept {
  const settle = (folder: string) => {
    giveToOrdinaryUser(folder);
    for (const path of ['home', 'work/yard']) giveTo(AGENT_USER, join(folder, path));
  };
  const environment = {
    WATCHKEEPER_PROGRAM: resolve('bin/watchkeeper'),
    WATCHKEEPER_BRIDGE_USER: String(ORDINARY_USER?.uid),
    WATCHKEEPER_AGENT_USER: `${AGENT_USER}:${AGENT_USER}`,
    WATCHKEEPER_SECRET_COPIES: join(testFolder(), 'copies'),
  };
  return { isolation: 'none', program: resolve('deploy/container-entrypoint'), home: 'home', environment, settle };
}

/** Asks the agent of a project twice. @returns the scene, and the operator's home before and after */
async function ask({ agent, environment, files, login, asked }: Prepared, kept: Kept) {
  const scene = await openTestScene({
    redis: 'bridge',
    projects: { yard: { chats: [{ id: CHAT }], agent, isolation: kept.isolation } },
    program: kept.program,
    environment: {
      ...environment,
      ...kept.environment,
      AGENT_ENV: [SCENE_MARK, ...Object.keys(environment)].join(' '),
    },
  });
  const { folder } = scene;
  const home = { HOME: join(folder, kept.home) };
  execFileSync('git', ['init', '-q', join(folder, 'work/yard')]);
  for (const [path, text] of Object.entries({ '.bashrc': 'of-the-operator', ...files })) {
    const file = join(folder, path.startsWith('work/') ? '.' : kept.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  kept.settle(folder);
  if (login !== undefined) {
    const { status, stderr } = spawnSync(kept.program, ['as-agent', 'yard', '--', ...login.words], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...home, ...environment, ...kept.environment, WATCHKEEPER_LOGS: scene.logs },
      input: login.input,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
  }
  await scene.startBridge(home);
  const before = snapshot(folder);
  const first = new Conversation(scene, 'yard', CHAT, 'do the work');
  await first.answered('It is committed.', WITHIN_MS);
  const second = new Conversation(scene, 'yard', CHAT, 'and now the second');
  await second.answered('I remember.', WITHIN_MS);

  const git = ['-c', 'safe.directory=*', '-C', join(folder, 'work/yard'), 'log', '--format=%an: %s'];
  expect(execFileSync('git', git, { encoding: 'utf8' })).toBe('The Operator: work\n');
  expect(scene.evidence.journal(second.session)[1]).toMatchObject({ source: 'resume' });
  expect(asked.findLast((text) => text.includes('and now the second'))).toContain('do the work');
  const shown = JSON.stringify(scene.evidence.journal(first.session));
  return { scene, before, after: snapshot(folder), shown };
}

function tests(prepare: () => Promise<Prepared>, { alsoAsAnotherUser = true } = {}): void {
  (trouble === null ? test : test.skip)(
    'under bubblewrap works, commits and continues, with the settings of the operator and a home of its own',
    async () => {
      const { scene, before, after, shown } = await ask(await prepare(), underBubblewrap());
      expect(shown).not.toContain('of-the-operator');
      expect(after).toEqual(before);
      expect(existsSync(join(scene.logs, 'homes/yard'))).toBe(true);
    },
    2 * SCENE_TIMEOUT_MS,
  );

  if (!alsoAsAnotherUser) return;
  (ORDINARY_USER !== null ? test : test.skip)(
    'as another user works, commits and continues',
    async () => {
      await ask(await prepare(), asAnotherUser());
    },
    2 * SCENE_TIMEOUT_MS,
  );
}

function describeAgent(
  kind: string,
  installable: Installable | null,
  prepare: () => Promise<Prepared>,
  among: { readonly alsoAsAnotherUser?: boolean } = {},
): void {
  const name = `the real ${kind}${trouble === null ? '' : ` (not under bubblewrap: ${trouble.why})`}`;
  const inScenes = () => describeScenes('in a chat', () => tests(prepare, among));
  if (installable !== null) describeWhereInstalled(name, installable, inScenes);
  else if (findInstallation().kind === 'complete') describe(name, inScenes);
  else describe.skip(`${name} (skipped: its SDK is not installed; \`npm run add-claude\` adds it)`, inScenes);
}

describeAgent('claude', null, async () => {
  const asked: string[] = [];
  const model = modelWith(asked, (command) => call('Bash', { command }));
  const peer = new AnthropicPeer((request) =>
    model({ texts: userTexts(request), results: toolResults(request).length }),
  );
  await peer.listen();
  afterThisTest(() => peer.stop());
  return {
    agent: { kind: 'claude' },
    environment: {
      ANTHROPIC_BASE_URL: peer.url,
      ANTHROPIC_API_KEY: peer.apiKey,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      ...LESS_COMPILING_OF_CLAUDE,
    },
    // Without this it may not use its shell.
    files: { '.gitconfig': IDENTITY, '.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash'] } }) },
    asked,
  };
});

describeAgent('codex', CODEX, async () => {
  const asked: string[] = [];
  const peer = await startOpenaiPeer(modelWith(asked, (cmd) => call('exec_command', { cmd })));
  afterThisTest(() => peer.stop());
  const codex = ['codex', 'exec', '--json', '--skip-git-repo-check', '-s', 'danger-full-access'];
  const options = { command: [...codex, '-'], resume: [...codex, 'resume', '{conversation}', '-'], output: 'codex' };
  const provider = `name = "peer"\nbase_url = "${peer.url}/v1"\nwire_api = "responses"\nrequires_openai_auth = true\n`;
  return {
    agent: { kind: 'command', ...options },
    environment: {},
    files: {
      '.gitconfig': IDENTITY,
      '.codex/config.toml': `model = "local"\nmodel_provider = "peer"\n[model_providers.peer]\n${provider}`,
    },
    login: { words: ['codex', 'login', '--with-api-key'], input: 'local-key\n' },
    asked,
  };
});

// What another user needs is the same for each program: the other two show it, at a third of the price.
describeAgent('gemini', GEMINI, prepareGemini, { alsoAsAnotherUser: false });

async function prepareGemini(): Promise<Prepared> {
  const asked: string[] = [];
  const peer = await startGeminiPeer(modelWith(asked, (command) => call('run_shell_command', { command })));
  afterThisTest(() => peer.stop());
  return {
    agent: { kind: 'command', ...geminiOptions },
    environment: {
      GEMINI_API_KEY: 'local',
      GOOGLE_GEMINI_BASE_URL: peer.url,
      GEMINI_TELEMETRY_ENABLED: 'false',
      GEMINI_CLI_NO_RELAUNCH: 'true',
    },
    // Its shell ignores a person's settings of git.
    files: {
      '.gemini/settings.json': JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }),
      'work/yard/.git/config': IDENTITY,
    },
    asked,
  };
}
