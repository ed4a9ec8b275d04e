/**
 * An agent that tries to get at the bridge that started it. What it got is the table of docs/agents.md, "What an agent can
 * reach".
 */
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { refuseWithoutSandbox } from '../../bridge/agents/program/isolation.js';
import { whyNoSandbox } from '../../bridge/agents/program/sandbox.js';
import { checkIsolation } from '../../bridge/doctor/isolationChecks.js';
import type { Project } from '../../src/config/settings.js';
import { project, testSettings } from '../bridge/telegram/scene.js';
import { firstCells, tableBelow } from '../docs/markdown.js';
import { openToOthers, testFolder } from '../harness/folder.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation } from './conversation.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

// covers: bridge/agents/program/isolation.ts

const CHAT = 71;

interface Attempt {
  /** For a shell; succeeds where the agent got it. */
  readonly does: string;
  /** Of what is written, only the effect counts: a sandbox may have files of its own. */
  readonly leaves?: (scene: BridgeScene, session: string) => boolean;
}

/** What is tried, by its name in the table. */
const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  "read the bridge's environment": { does: 'grep -qs "TELEGRAM_BOT[_]TOKEN=" /proc/[0-9]*/environ' },
  'see what the bridge has open': { does: 'ls /proc/$BRIDGE/fd | grep -q .' },
  'signal the bridge': { does: 'kill -0 "$BRIDGE"' },
  'read the logs': { does: 'cat "$LOGS"/*.log | grep -q .' },
  'read a secret file': { does: 'grep -q . "$SECRET"' },
  "reach the bridge's own Redis": { does: 'node -e "$KNOCK" "$LOGS/redis/redis.sock"' },
  'write its own journal': {
    does: 'echo forged >>"$LOGS/sessions/$WATCHKEEPER_SESSION/tool_use.jsonl"',
    leaves: ({ logs }, session) => holds(join(logs, 'sessions', session, 'tool_use.jsonl'), 'forged'),
  },
  'write critical events': {
    does: 'echo forged >>"$LOGS/critical_events.jsonl"',
    leaves: ({ logs }) => holds(join(logs, 'critical_events.jsonl'), 'forged'),
  },
  "change the bridge's configuration": {
    does: 'echo "  forged  " >>"$CONFIGURATION"',
    leaves: ({ folder }) => holds(join(folder, 'watchkeeper.config.json'), '\n  forged  '),
  },
  'write elsewhere': { does: 'touch "$ELSEWHERE"', leaves: ({ folder }) => existsSync(join(folder, 'elsewhere')) },
};
const KNOCK =
  'require("net").connect(process.argv[1]).on("connect", () => process.exit(0)).on("error", () => process.exit(1))';

/** What an agent must be able to do wherever it works. */
const WORK = {
  'write in its project': 'echo x >mine',
  'write in its home': 'echo x >"$HOME/.agent-was-here"',
  'write temporary files': 'mktemp',
} as const;

function script(): string {
  const attempts = Object.entries(ATTEMPTS).map(([name, { does }]) => [name, does]);
  const tries = [...attempts, ...Object.entries(WORK)].map(
    ([name = '', command = '']) => `if (${command}) >/dev/null 2>&1; then echo ${quote(`got: ${name}`)}; fi`,
  );
  return ['. ./places', ...tries, 'echo that is all'].join('\n');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function holds(path: string, word: string): boolean {
  return existsSync(path) && readFileSync(path, 'utf8').includes(word);
}

interface Haul {
  readonly got: readonly string[];
  readonly works: readonly string[];
}

/** @returns what an agent got that tried everything */
async function raid(scene: BridgeScene, bridge: number): Promise<Haul> {
  const project = join(scene.folder, 'work', 'yard');
  const places = {
    BRIDGE: String(bridge),
    LOGS: scene.logs,
    SECRET: join(scene.folder, 'github-token'),
    CONFIGURATION: join(scene.folder, 'watchkeeper.config.json'),
    ELSEWHERE: join(scene.folder, 'elsewhere'),
    KNOCK,
  };
  writeFileSync(
    join(project, 'places'),
    Object.entries(places)
      .map(([name, value]) => `${name}=${quote(value)}\n`)
      .join(''),
  );
  const asked = new Conversation(scene, 'yard', CHAT, 'try it');
  const { text } = await asked.answered('that is all');
  const got = text.split('\n').flatMap((line) => (line.startsWith('got: ') ? [line.slice('got: '.length)] : []));
  const attempts = Object.entries(ATTEMPTS).filter(
    ([name, { leaves }]) => leaves?.(scene, asked.session) ?? got.includes(name),
  );
  return { got: attempts.map(([name]) => name), works: got.filter((name) => Object.keys(WORK).includes(name)) };
}

interface Surroundings {
  readonly program?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly prepare?: (folder: string) => void;
}

async function openYard(words: string, isolation: 'bubblewrap' | 'none', program?: string): Promise<BridgeScene> {
  const agent = { kind: 'command', command: ['bash', '-c', words], output: 'text' };
  const projects = { yard: { chats: [{ id: CHAT }], agent, isolation } };
  return openTestScene({ redis: 'bridge', projects, ...(program && { program }) });
}

/** One of the bridge's secrets is in a file. */
async function raidIn(isolation: 'bubblewrap' | 'none', around: Surroundings = {}): Promise<Haul> {
  const scene = await openYard(script(), isolation, around.program);
  const secret = join(scene.folder, 'github-token');
  const home = join(scene.folder, 'home');
  writeFileSync(secret, scene.github.token, { mode: 0o600 });
  mkdirSync(home);
  around.prepare?.(scene.folder);
  const secrets = { GITHUB_TOKEN: '', GITHUB_TOKEN_FILE: secret };
  const bridge = await scene.startBridge({ HOME: home, ...secrets, ...around.environment });
  const haul = await raid(scene, bridge.pid);
  await bridge.stop();
  return haul;
}

const rows = tableBelow(readFileSync('docs/agents.md', 'utf8'), '## What an agent can reach');
/** @returns what stands in a column of the table, by the attempt */
function told(column: number): string[] {
  return rows.filter((cells) => cells[column]?.trim() === 'yes').map((cells) => cells[0]?.trim() ?? '');
}

const describeSandbox = whyNoSandbox() === null ? describeScenes : skipped(`${whyNoSandbox()}`);

function skipped(why: string) {
  return (name: string, tests: () => void) => describe.skip(`${name} (skipped: ${why})`, tests);
}

describe('the table of what an agent can reach', () => {
  test('has a line for each access that is tried', () => {
    expect(firstCells(rows)).toEqual(Object.keys(ATTEMPTS));
    for (const cells of rows) expect(cells.slice(1)).toHaveLength(3);
  });
});

describe('the doctor', () => {
  const settings = (isolation: Project['isolation']) =>
    testSettings([{ ...project('yard', '/srv/yard', [CHAT]), isolation }]);

  test('shows for each project what isolates its agents, or what they can reach without isolation', () => {
    expect(checkIsolation(settings(null), null)).toMatchObject([{ name: 'isolation of yard', verdict: 'ok' }]);
    expect(checkIsolation(settings('none'), null)).toMatchObject([
      { verdict: 'ok', found: expect.stringMatching(/^chosen: .*environment with its tokens/) },
    ]);
    const [open] = checkIsolation(settings(null), 'bubblewrap is not installed');
    expect(open).toMatchObject({ verdict: 'warning', remedy: expect.stringMatching(/install bubblewrap/) });
    expect(open?.found).toMatch(/^bubblewrap is not installed: .*signal the bridge$/);
    expect(checkIsolation(settings('bubblewrap'), 'bubblewrap is not installed')).toMatchObject([{ verdict: 'fault' }]);
    const demanding = [...settings('bubblewrap').projects.values()];
    expect(() => refuseWithoutSandbox(demanding, 'bubblewrap is not installed')).toThrow(
      /^projects.yard.isolation: .*not installed/,
    );
    expect(() => refuseWithoutSandbox(demanding, null)).not.toThrow();
  });
});

describeScenes('an agent without isolation', () => {
  test(
    'can reach what the documents list: everything of the bridge',
    async () => {
      const { got, works } = await raidIn('none');
      expect(works).toEqual(Object.keys(WORK));
      expect(got).toEqual(told(1));
      expect(got).toEqual(Object.keys(ATTEMPTS));
    },
    SCENE_TIMEOUT_MS,
  );
});

describeSandbox('an agent under bubblewrap', () => {
  // rule: a-sandbox-keeps-agents-in
  test(
    'can reach nothing of the bridge, and can do its work',
    async () => {
      const { got, works } = await raidIn('bubblewrap');
      expect(works).toEqual(Object.keys(WORK));
      expect(got).toEqual([]);
      expect(told(2)).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );
});

const BRIDGE_USER = 64_001;
const AGENT_USER = 64_002;
const mayBeAnother = process.getuid?.() === 0 && existsSync('/usr/bin/setpriv');
const describeUsers = mayBeAnother ? describeScenes : skipped('it takes root and setpriv');
const ENTRY_POINT = resolve('deploy/container-entrypoint');
const copies = join(testFolder(), 'copies');
const AS_IN_THE_CONTAINER = {
  WATCHKEEPER_PROGRAM: resolve('bin/watchkeeper'),
  WATCHKEEPER_BRIDGE_USER: String(BRIDGE_USER),
  WATCHKEEPER_AGENT_USER: `${AGENT_USER}:${AGENT_USER}`,
  WATCHKEEPER_SECRET_COPIES: copies,
};

function giveToAgents(folder: string, ...paths: readonly string[]): void {
  for (const open of [folder, dirname(copies)]) openToOthers(open);
  for (const path of paths) chownSync(join(folder, path), AGENT_USER, AGENT_USER);
}

function processesOf(uid: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid);
}

describeUsers('an agent that runs as another user than the bridge, as in the container', () => {
  // rule: a-sandbox-keeps-agents-in
  test(
    'can reach nothing of the bridge, and can do its work',
    async () => {
      const { got, works } = await raidIn('none', {
        program: ENTRY_POINT,
        environment: AS_IN_THE_CONTAINER,
        prepare: (folder) => giveToAgents(folder, 'home', 'work/yard'),
      });
      expect(works).toEqual(Object.keys(WORK));
      expect(got).toEqual([]);
      expect(told(3)).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-sandbox-keeps-agents-in
  test(
    'is ended whole by the bridge, with processes that have left its environment and its session',
    async () => {
      const daemon = `(env -i setsid /bin/sh -c 'trap "" TERM; id -u >up; sleep 61; sleep 62' &)`;
      const scene = await openYard(`${daemon}; trap "" TERM; while :; do sleep 0.1; done`, 'none', ENTRY_POINT);
      giveToAgents(scene.folder, 'work/yard');
      const bridge = await scene.startBridge(AS_IN_THE_CONTAINER);
      const asked = new Conversation(scene, 'yard', CHAT, 'begin');
      const up = join(scene.folder, 'work', 'yard', 'up');
      await scene.until('a tool that works', () => holds(up, String(AGENT_USER)));
      expect(processesOf(AGENT_USER).length).toBeGreaterThan(2);
      expect(statSync(scene.logs).mode & 0o777).toBe(0o700);
      await scene.run(['cancel', asked.session], AS_IN_THE_CONTAINER);
      await scene.until('the end of all its processes', () => processesOf(AGENT_USER).length === 0, 30_000);
      await bridge.stop();
    },
    SCENE_TIMEOUT_MS,
  );
});
