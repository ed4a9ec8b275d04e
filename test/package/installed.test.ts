/** A package that a user installs, far from the checkout: every command, the demo, the plugin with the real Claude Code, and its end. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/host/program.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { MINUTE } from '../../src/time.js';
import { codeSpans, tableBelow } from '../docs/markdown.js';
import { eventually } from '../e2e/eventually.js';
import { canScan, findByEnvironment } from '../e2e/processScan.js';
import { contextsIn, worklogsIn } from '../e2e/recorded.js';
import { testFolder } from '../harness/folder.js';
import { describeWhereInstalled } from '../harness/installed.js';
import { afterThisTest } from '../harness/scope.js';
import { AnthropicPeer } from '../peers/anthropic/anthropicPeer.js';
import { claudeEnvironment } from '../peers/anthropic/environment.js';
import { say } from '../peers/modelBlocks.js';
import { packCheckout } from './packing.js';
import { NAME, tracesOfCheckout, UserScene } from './userScene.js';

const LIMIT_MS = 4 * MINUTE;
const CLAUDE = { program: 'claude', remedy: 'npm install -g @anthropic-ai/claude-code' };
const TRANSCRIPT = join(packageRoot(), 'test/fixtures/transcripts/claude/deeds.jsonl');

/** A user who has installed the package. The tests follow one another in it: what the last one finds left is of all of them. */
let scene: UserScene;

beforeAll(async () => {
  const packed = await packCheckout();
  scene = new UserScene(testFolder());
  // No registry can be asked: the package brings everything.
  expect(await scene.install(packed)).toMatchObject({ code: 0, err: '' });
}, LIMIT_MS);

/** @returns a bridge, and the id of a session that it has answered */
async function answered(): Promise<{ bridge: ChildProcess; id: string }> {
  const bridge = scene.start(['bridge']);
  // Files are looked at again and again, because each command would be a process of its own.
  const says = (name: string, words: RegExp) => {
    const file = join(scene.work, 'logs', name);
    return existsSync(file) && words.test(readFileSync(file, 'utf8'));
  };
  const isUp = () => says('bridge.log', /the bridge is up/);
  await eventually(isUp, { what: 'a bridge that takes messages', withinMs: MINUTE });
  const order = ['enqueue', '--project', 'local', '--text', 'say hello', '--json'];
  const { session_id: id } = await scene.json<{ session_id: string }>(order);
  const hasAnswered = () => says(`sessions/${id}/tool_use.jsonl`, /"event":"session_end"/);
  await eventually(hasAnswered, { what: 'an answer', withinMs: MINUTE });
  const isCompleted = async () => {
    const { sessions } = await scene.json<{ sessions: AgentSession[] }>(['sessions', '--json']);
    return sessions.some(({ session_id, status }) => session_id === id && status === 'completed');
  };
  await eventually(isCompleted, { what: 'the end of a session', withinMs: MINUTE });
  return { bridge, id };
}

async function stop(bridge: ChildProcess): Promise<void> {
  bridge.kill('SIGTERM');
  expect(await once(bridge, 'exit')).toEqual([0, null]);
}

/** Of each command, calls with the exit codes that they may have, while a bridge runs that has answered a message. */
const CALLS: Readonly<Record<string, readonly (readonly [string, readonly number[]])[]>> = {
  // It runs. Without a call, the help is asked for.
  bridge: [],
  watchdog: [['--once --json', [0]]],
  // What is amiss depends on the host.
  doctor: [['--quick --json', [0, 1]]],
  'as-agent': [['local -- true', [0, 1, 2, 3]]],
  enqueue: [['--project local --text hello --json', [0]]],
  sessions: [['--json', [0]]],
  session: [['ID --json', [0]]],
  cancel: [['ID --json', [1]]],
  events: [['--json', [0]]],
  daydream: [['--json', [0]]],
  incidents: [['--json', [0]]],
  reload: [['--json', [0]]],
  assess: [['logs/sessions --json', [0]]],
  backtest: [['logs/sessions --json', [0]]],
  track: [
    ['init purpose --step first --json', [0]],
    ['step 1 --start --json', [0]],
    ['status --json', [0]],
    ['done --complete --json', [0]],
  ],
  work: [['list --all --json', [0]]],
  handoff: [['list --json', [0]]],
  learn: [
    ['draw --json', [0]],
    ['--json', [0]],
  ],
  // The project is no repository.
  worktree: [['end feature/none --merge --json', [2]]],
  mcp: [],
  state: [],
  plugin: [['status --json', [0, 1, 2]]],
  import: [['transcript.jsonl --out journal.jsonl --json', [0]]],
  demo: [],
};

(canScan() ? describe : describe.skip)('a package that is installed', () => {
  test(
    'runs a bridge, with the Redis in the package, and every command, all without the checkout',
    async () => {
      copyFileSync(TRANSCRIPT, join(scene.work, 'transcript.jsonl'));
      const { bridge, id } = await answered();
      expect(readFileSync(join(scene.work, 'logs/redis/endpoint.json'), 'utf8')).toContain('js-redis-server');
      const { out: help } = await scene.run('watchkeeper', ['--help']);
      const [, , list = ''] = help.split('\n\n');
      const names = [...list.matchAll(/^ {2}([\w-]+)/gm)].map(([, name]) => name);
      expect(names.sort()).toEqual(Object.keys(CALLS).sort());
      for (const [name, calls] of Object.entries(CALLS)) {
        if (calls.length === 0)
          expect((await scene.run('watchkeeper', [name, '--help'])).out).toMatch(/^usage: watchkeeper /);
        for (const [words, codes] of calls) {
          const said = await scene.run('watchkeeper', [name, ...words.replace('ID', id).split(' ')]);
          if (!codes.includes(said.code ?? -1)) throw new Error(`${name} ${words}: ${JSON.stringify(said)}`);
        }
      }
      expect(await scene.run('session-tracker', ['init', 'other', '--step', 'first'])).toMatchObject({
        code: 0,
        err: '',
      });
      expect(tracesOfCheckout(bridge.pid ?? 0)).toEqual([]);
      await stop(bridge);
    },
    LIMIT_MS,
  );

  test(
    'plays the demo, and every claim holds',
    async () => {
      const { holds, claims, page } = await scene.json<{ holds: boolean; claims: unknown[]; page: string }>([
        'demo',
        '--json',
      ]);
      expect([holds, claims.length > 5, existsSync(page)]).toEqual([true, true, true]);
    },
    LIMIT_MS,
  );
});

describeWhereInstalled('a package and the real Claude Code', CLAUDE, () => {
  test(
    'record sessions by the plugin; when both are removed, nothing is left that docs/installation.md does not name',
    async () => {
      // Only now: each command that looks for agents would ask it, too.
      scene.gets('claude');
      const before = scene.files();
      for (const own of ['transcript.jsonl', 'journal.jsonl']) rmSync(join(scene.work, own), { force: true });
      const peer = new AnthropicPeer(() => [say('done')]);
      await peer.listen();
      afterThisTest(() => peer.stop());
      const { CLAUDE_CONFIG_DIR: _, ...surroundings } = claudeEnvironment(peer, scene.home);
      const ask = (prompt: string) =>
        scene.run('claude', ['-p', prompt], { ...surroundings, DISABLE_AUTOUPDATER: '1' });
      const started = join(scene.installed, 'bin/watchkeeper');
      const notOnPath = await scene.run(started, ['plugin', 'install'], { PATH: join(scene.folder, 'system') });
      expect(notOnPath).toMatchObject({ code: 0, out: expect.stringContaining(`put ${scene.installed}/bin on PATH`) });
      expect(await scene.run('watchkeeper', ['plugin', 'install'])).toMatchObject({ code: 0, err: '' });
      expect((await scene.json<{ trouble: unknown[] }>(['plugin', 'status', '--json'])).trouble).toEqual([]);
      expect(await ask('paint the door')).toMatchObject({ code: 0, out: 'done\n' });
      expect(await ask('and the window')).toMatchObject({ code: 0, out: 'done\n' });
      const logs = worklogsIn({ home: join(scene.home, '.local/state/watchkeeper') });
      expect([...logs.values()].flat().filter(({ event }) => event === 'conversation')).toHaveLength(2);
      expect(contextsIn(peer.requests.at(-1)?.request ?? {})).toEqual([expect.stringContaining('paint the door')]);
      expect(await scene.run('watchkeeper', ['plugin', 'remove'])).toMatchObject({ code: 0, err: '' });
      expect(await scene.run('npm', ['uninstall', '--global', NAME])).toMatchObject({ code: 0, err: '' });
      expect(before.filter((path) => path.startsWith('prefix/')).length).toBeGreaterThan(50);
      const named = placesNamed();
      const living = () => findByEnvironment('HOME', scene.home);
      await eventually(() => living().length === 0, {
        what: 'the end of every process',
        withinMs: MINUTE,
        instead: () => JSON.stringify(living()),
      });
      const left = scene.files();
      expect(left.filter((path) => !named.some((place) => path.startsWith(place)))).toEqual([]);
    },
    LIMIT_MS,
  );
});

/** @returns the places that the documents say are left, as paths below the folder of the scene */
function placesNamed(): string[] {
  const rows = tableBelow(readFileSync(join(packageRoot(), 'docs/installation.md'), 'utf8'), '## Remove');
  const places = rows.flatMap(([, where = '']) => codeSpans(where)).filter((place) => /^~?[./\w-]+$/.test(place));
  expect(places.length).toBeGreaterThan(5);
  return places.map((place) => {
    if (place.startsWith('~/')) return `home/${place.slice('~/'.length)}`;
    return place.startsWith('/tmp/') ? place.slice(1).replace(/UID.*$/, '') : `work/${place}`;
  });
}
