/** A real Claude Code that works in a worktree, and is killed there: it is found there, and the next agent there is told. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { SessionRow } from '../../memory/look/list.js';
import { call, say } from '../peers/modelBlocks.js';
import {
  askClaude,
  ClaudeTerminal,
  type Deeds,
  describeWithAnyClaude,
  nextOf,
  type TerminalPlace,
  terminalPlace,
} from './claudeTerminal.js';
import { eventually } from './eventually.js';
import { contextsIn, killAtOnce, LASTING, processesOf, shown, worklogsIn } from './recorded.js';
import { filesOf, type ShownWork } from './shownWork.js';

const LIMIT_MS = 240_000;
const CALL_MS = 20_000;
const HALF = 'half';
const ALLOWED = { defaultMode: 'acceptEdits', allow: ['Bash', 'Write', 'EnterWorktree'] };

const painting = [
  [call('Write', { file_path: './roof.ts', content: HALF })],
  [call('Bash', { command: LASTING, timeout: 600_000 })],
];
const HAND_OVER = 'watchkeeper handoff create --title "The roof" --learning "It leaks" --next "Mend it" --file roof.ts';
const DEEDS: Deeds = {
  'go aside and paint the roof': [[call('EnterWorktree', { name: 'aside' })], ...painting],
  'paint the roof': painting,
  'go on here': [[say('I was told.')]],
  'paint the door': [[say('The door is green.')]],
  'varnish it': [[say('It shines.')]],
  'go aside and hand over': [
    [call('EnterWorktree', { name: 'aside' })],
    [call('Write', { file_path: './roof.ts', content: HALF })],
    [call('Bash', { command: `watchkeeper track file roof.ts --done && ${HAND_OVER}` })],
    [say('Handed over.')],
  ],
};

interface InWorktree {
  readonly place: TerminalPlace;
  /** The worktree in which the agent is in the end. */
  readonly at: string;
  /** Where it is started, and how. */
  readonly from: string;
  readonly words?: string;
  readonly prompt: string;
  /** Whether Claude Code has made the worktree, and locked it. */
  readonly isLocked: boolean;
  /** Whether both agents have a terminal, which costs twice as much; false by default. */
  readonly hasTerminal?: boolean;
}

function git({ environment }: TerminalPlace, directory: string, ...words: string[]): string {
  const author = ['-c', 'user.name=n', '-c', 'user.email=e'];
  return execFileSync('git', [...author, ...words], { cwd: directory, env: environment, encoding: 'utf8' });
}

/** A repository in which people work. */
async function repositoryPlace(further: readonly string[] = []): Promise<TerminalPlace> {
  const place = await terminalPlace((request) => nextOf(DEEDS, request) ?? [say('A title.')], ALLOWED, further);
  git(place, place.work, 'init', '-q', '-b', 'main');
  writeFileSync(join(place.work, 'kept.txt'), 'kept');
  git(place, place.work, 'add', '.');
  git(place, place.work, 'commit', '-q', '-m', 'first');
  return place;
}

const SCENES: readonly (readonly [string, () => Promise<InWorktree>])[] = [
  [
    'that it entered',
    async () => {
      const place = await repositoryPlace();
      const at = join(place.work, '.claude/worktrees/aside');
      return { place, at, from: place.work, prompt: 'go aside and paint the roof', isLocked: true, hasTerminal: true };
    },
  ],
  [
    'for which it was started, with `--worktree`',
    async () => {
      const place = await repositoryPlace();
      const at = join(place.work, '.claude/worktrees/aside');
      return { place, at, from: place.work, words: '--worktree aside', prompt: 'paint the roof', isLocked: true };
    },
  ],
  [
    'of ours, from a shell there',
    async () => {
      const place = await repositoryPlace(['work.worktrees/fix-roof']);
      execFileSync('rm', ['-r', join(place.folder, 'work.worktrees')]);
      shown(place, 'worktree start roof --type fix --yes');
      const at = shown<string>(place, 'worktree path roof').trim();
      return { place, at, from: at, prompt: 'paint the roof', isLocked: false, hasTerminal: true };
    },
  ],
  [
    'of a `.bare` container, which it entered',
    async () => {
      const entered = 'container/.bare/.claude/worktrees/aside';
      const place = await repositoryPlace(['container', 'container/main', entered]);
      const container = join(place.folder, 'container');
      // They are trusted now, and made again.
      execFileSync('rm', ['-r', join(container, 'main'), join(container, '.bare')]);
      git(place, place.folder, 'clone', '-q', '--bare', place.work, join(container, '.bare'));
      git(place, join(container, '.bare'), 'remote', 'remove', 'origin');
      writeFileSync(join(container, '.git'), 'gitdir: ./.bare\n');
      git(place, join(container, '.bare'), 'worktree', 'add', '-q', join(container, 'main'), 'main');
      const at = join(place.folder, entered);
      return { place, at, from: join(container, 'main'), prompt: 'go aside and paint the roof', isLocked: true };
    },
  ],
];

interface Listed {
  readonly worktrees: readonly {
    readonly path: string;
    readonly lock: { readonly by: { readonly pid: number; readonly is_alive: boolean } | null } | null;
    readonly agents: readonly { readonly pid: number; readonly session_id: string | null }[];
    readonly sessions: readonly {
      readonly session_id: string;
      readonly agent: string;
      readonly agent_is_here: boolean;
    }[];
  }[];
}

function listedAt({ place, at }: InWorktree) {
  const { worktrees } = shown<Listed>({ ...place, work: at }, 'worktree list --json');
  return worktrees.find(({ path }) => path === at);
}

describeWithAnyClaude('a real Claude Code in a worktree', (claude) => {
  test.each(SCENES)(
    '%s is found there; killed there, it is reported there, and the next agent there is told',
    async (_, prepare) => {
      const scene = await prepare();
      const { place, at, from, words, prompt, isLocked, hasTerminal = false } = scene;
      const there = { ...place, work: at };
      const victim = hasTerminal
        ? new ClaudeTerminal(place, claude, from, words)
        : askClaude(place, claude, prompt, { directory: from, words: words?.split(' ') ?? [] });
      if (victim instanceof ClaudeTerminal) await victim.type(prompt);
      await eventually(() => existsSync(join(at, 'started')), { what: 'the last call', withinMs: CALL_MS });
      const isWritten = () => transcriptsOf(place).includes(LASTING);
      await eventually(isWritten, { what: 'the last call in the transcript', withinMs: CALL_MS });
      const [[id, log] = ['', []]] = [...worklogsIn(place)];
      const pid = processesOf(log).at(-1) ?? 0;
      const agents = [{ pid, session_id: id }];
      expect(listedAt(scene)).toMatchObject({
        agents,
        sessions: [{ session_id: id, agent: 'at_work', agent_is_here: true }],
      });
      expect(shown(there, 'work list --here --json')).toMatchObject([{ session_id: id }]);
      expect(shown(there, 'track status --json')).toMatchObject({ session_id: id });
      expect(shown<string>(there, 'track crash-detect')).toContain('no crashed session here');

      await killAtOnce(pid);
      await victim.ended;
      const gone = listedAt(scene);
      expect(gone).toMatchObject({ agents: [], sessions: [{ session_id: id, agent: 'lost', agent_is_here: true }] });
      expect(gone?.lock?.by ?? null).toEqual(isLocked ? expect.objectContaining({ pid, is_alive: false }) : null);
      const [crash] = shown<{ session_id: string; files: { path: string; size: number }[] }[]>(
        there,
        'track crash-detect --json',
      );
      expect(crash?.session_id).toBe(id);
      expect(crash?.files.map(({ path, size }) => [path.split('/').at(-1), size])).toEqual([['roof.ts', HALF.length]]);

      if (hasTerminal) {
        const next = new ClaudeTerminal(place, claude, at);
        await next.shows(`an agent here crashed, just now: ${prompt}`);
        await next.type('go on here');
        await next.shows('I was told.');
      } else {
        const next = askClaude(place, claude, 'go on here', { directory: at });
        expect(await next.ended).toMatchObject({ out: 'I was told.\n' });
      }
      const [context = ''] = toldWith(place, 'go on here');
      expect(context).toContain(`Session ${id}: "${prompt}"`);
      expect(context).toContain(`roof.ts": ${HALF.length} bytes`);
    },
    LIMIT_MS,
  );

  test(
    'after /clear, exit and resume has one session; ending that leaves worktree and handoff, and removing the worktree leaves the session',
    async () => {
      const place = await repositoryPlace();
      const aside = join(place.work, '.claude/worktrees/aside');
      const window = new ClaudeTerminal(place, claude, place.work);
      await window.type('paint the door');
      await window.shows('The door is green.');
      const conversations = () =>
        [...worklogsIn(place).values()].flat().filter(({ event }) => event === 'conversation');
      for (const count of [2, 3, 4]) {
        await window.type('/clear');
        await window.until(`conversation ${count}`, () => conversations().length === count);
      }
      await window.type('varnish it');
      await window.shows('It shines.');
      await window.type('/exit');
      await window.ended;
      const last = String(conversations().at(-1)?.conversation);
      const words = ['--resume', last];
      expect(await askClaude(place, claude, 'go aside and hand over', { words }).ended).toMatchObject({
        out: 'Handed over.\n',
      });

      const [[id = ''] = [], ...more] = [...worklogsIn(place)];
      expect(more).toEqual([]);
      const four = conversations()
        .slice(0, 4)
        .map(({ conversation }) => conversation);
      expect(new Set(four).size).toBe(4);
      expect(conversations().map(({ source, conversation }) => [source, four.indexOf(conversation)])).toEqual([
        ['startup', 0],
        ['clear', 1],
        ['clear', 2],
        ['clear', 3],
        ['resume', 3],
      ]);
      const listed = () => shown<SessionRow[]>({ ...place, work: aside }, 'work list --here --all --json');
      const isListed = () => listed().length > 0;
      await eventually(isListed, { what: 'the session where its agent has ended', everyMs: 300 });
      expect(listed()).toMatchObject([{ session_id: id, directory: place.work, agent_directory: aside }]);
      expect(shown(place, 'work list --here --all --json')).toMatchObject([{ session_id: id }]);
      expect(filesOf(shown<ShownWork>(place, `work show ${id} --json`))).toEqual({
        '.claude/worktrees/aside/roof.ts': 'created',
      });

      const offered = () => shown<{ handoff_id: string; status: string }[]>(place, 'handoff list --json');
      const branch = 'worktree-aside';
      expect(offered()).toMatchObject([{ session_id: id, root: aside, branch, status: 'offered' }]);
      const log = readFileSync(join(place.home, 'handoffs', `${offered()[0]?.handoff_id}.jsonl`), 'utf8');
      const head = git(place, aside, 'rev-parse', 'HEAD').trim();
      const stamps = four.map((conversation) => ({ provider: 'claude', conversation }));
      expect(JSON.parse(log.split('\n')[0] ?? '')).toMatchObject({ branch, head, dirty: 1, conversations: stamps });

      const logs = join(place.home, 'workspaces');
      const isNoted = () => readdirSync(logs).some((name) => readFileSync(join(logs, name), 'utf8').includes(branch));
      await eventually(isNoted, { what: 'the note on the worktree, without which nothing says how it comes back' });
      shown(place, `work end ${id}`);
      expect(existsSync(join(aside, 'roof.ts'))).toBe(true);
      expect(offered()).toMatchObject([{ session_id: id, status: 'offered' }]);
      git(place, place.work, 'worktree', 'remove', '-f', '-f', aside);
      const line = `git -C ${place.work} worktree add ${aside} ${branch}`;
      for (const words of [`work show ${id}`, `track resume ${id}`]) {
        const text = shown<string>(place, words);
        process.stdout.write(`${text}\n`);
        expect(text).toContain('paint the door');
        expect(text).toContain(line);
      }
      expect(shown(place, 'work list --repository --all --json')).toMatchObject([{ session_id: id }]);
      execFileSync('sh', ['-c', line], { env: place.environment, stdio: 'pipe' });
      expect(shown<string>(place, `work show ${id}`)).not.toContain('does not exist');
    },
    LIMIT_MS,
  );
});

/** @returns what the first request with the prompt says of other sessions */
function toldWith({ peer }: TerminalPlace, prompt: string): string[] {
  const seen = peer.requests.find(({ request }) => nextOf({ [prompt]: [] }, request) !== null);
  if (seen === undefined) throw new Error(`no request has the prompt ${prompt}`);
  return contextsIn(seen.request);
}

/** All transcripts: one moves when its agent does. */
function transcriptsOf({ folder }: TerminalPlace): string {
  const projects = join(folder, 'user/.claude/projects');
  const names = existsSync(projects) ? readdirSync(projects, { recursive: true, encoding: 'utf8' }) : [];
  const paths = names.filter((name) => /^[^/]+\/[^/]+\.jsonl$/.test(name)).map((name) => join(projects, name));
  return paths.map((path) => (existsSync(path) ? readFileSync(path, 'utf8') : '')).join('');
}
