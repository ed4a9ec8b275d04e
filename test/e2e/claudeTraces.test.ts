/** What the plugin leaves behind in a real Claude Code with 200 calls: which processes, and nothing in the repository. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { listPids, readArguments } from '../../src/host/procfs.js';
import { packageRoot } from '../../src/host/program.js';
import { toolResults } from '../peers/anthropic/messages.js';
import { type Block, call, say } from '../peers/modelBlocks.js';
import { askClaude, type Deeds, describeWithClaude, nextOf, terminalPlace } from './claudeTerminal.js';
import { eventually } from './eventually.js';
import { startAgent, worklogsIn } from './recorded.js';

const LIMIT_MS = 240_000;
const CALLS = 200;
const AT_ONCE = 20;
const PERMISSIONS = { defaultMode: 'acceptEdits', allow: ['Bash', 'Read', 'Write', 'Agent'] };
/** Words of prompts and answers that nothing else has. */
const WORDS = ['Xylophone', 'Marimba', 'Vibraphone', 'Glockenspiel'] as const;
const [ASKED, ANSWERED, DELEGATED, REPORTED] = WORDS;

const read = call('Read', { file_path: './kept.txt' });
const inner = { description: 'look', prompt: `play the ${DELEGATED}`, subagent_type: 'general-purpose' };
const most: readonly Block[][] = Array.from({ length: CALLS / AT_ONCE - 1 }, () => new Array(AT_ONCE).fill(read));
const DEEDS: Deeds = {
  [`play the ${ASKED}`]: [
    ...most,
    [
      ...new Array(AT_ONCE - 3).fill(call('Bash', { command: 'true' })),
      call('Write', { file_path: './new.txt', content: 'new' }),
      call('Bash', { command: 'git add new.txt' }),
      call('Agent', { ...inner, run_in_background: false }),
    ],
    [say(`The ${ANSWERED} is loud.`)],
  ],
  [`play the ${DELEGATED}`]: [[say(`The ${REPORTED} is soft.`)]],
};

/** @returns every file below the folder with the digest of what it holds */
function filesBelow(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = paths.filter((path) => statSync(join(folder, path)).isFile());
  const digest = (path: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, path)))
      .digest('hex');
  return Object.fromEntries(files.map((path) => [path, digest(path)]));
}

function changedBetween(before: Record<string, string>, after: Record<string, string>): string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]).sort();
}

/** @returns the programs of this package that were started, each with the words by which it is known */
function ofOurs(trace: string): string[] {
  // A call that others interrupt has its result on a line of its own.
  const calls = trace
    .split('\n')
    .filter((line) => /execve\(.*(?: = 0| <unfinished \.\.\.>)$/.test(line) && !line.includes('--plugin-dir'));
  return calls.flatMap((line) => {
    const words = [...line.matchAll(/"([^"]*)"/g)].map(([, word = '']) => word);
    const at = words.findLastIndex((word) => word.startsWith(`${packageRoot()}/`));
    if (at < 0) return [];
    const name =
      words[at]
        ?.split('/')
        .slice(-3)
        .join('/')
        .replace(/^.*(?=hooks\/run$)/, '') ?? '';
    return [[name, ...words.slice(at + 1, at + 3)].join(' ')];
  });
}

describeWithClaude('a real Claude Code with 200 calls', (claude) => {
  if (spawnSync('strace', ['--version']).status !== 0)
    describe.skip('(skipped: `strace` is not on PATH)', () => test('works', () => {}));
  else
    test(
      'starts no process of ours per call; its repository is as the agent left it; without texts no word of prompts and answers is kept',
      async () => {
        const place = await terminalPlace((request) => nextOf(DEEDS, request) ?? [say('Good.')], PERMISSIONS);
        mkdirSync(place.home, { recursive: true });
        writeFileSync(join(place.home, 'settings.json'), '{"texts":false}', { mode: 0o600 });
        writeFileSync(join(place.work, 'kept.txt'), 'kept\n');
        const git = (...words: string[]) =>
          execFileSync('git', words, { cwd: place.work, env: place.environment, encoding: 'utf8' });
        git('init', '-q');
        git('add', '.');
        git('-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-q', '-m', 'first');
        const before = filesBelow(place.work);

        const trace = join(place.folder, 'trace');
        const strace = [
          'strace',
          '-f',
          '--seccomp-bpf',
          '-qq',
          '-s',
          '400',
          '-e',
          'trace=execve',
          '-e',
          'signal=none',
          '-o',
          trace,
        ] as const;
        const plugin = ['--plugin-dir', join(packageRoot(), 'plugin')];
        const { code, err } = await startAgent(place, [...strace, claude, ...plugin, '-p', `play the ${ASKED}`]).ended;
        expect([code, err]).toEqual([0, '']);
        const last = place.peer.requests.findLast(({ request }) => toolResults(request).length === CALLS);
        expect(toolResults(last?.request ?? { model: '', messages: [] }).filter((result) => result.is_error)).toEqual(
          [],
        );
        // A start, a sub-agent and an end: the shell of each becomes the program of the hook.
        const hooks = ['SessionStart', 'SubagentStart', 'SessionEnd'].flatMap((event) => [
          `hooks/run ${event}`,
          `bridge/hook/main.cjs ${event}${event === 'SessionEnd' ? ' --spooled' : ''}`,
        ]);
        const started = ofOurs(readFileSync(trace, 'utf8'));
        const isOfServer = (words: string) => words.includes('mcp/');
        expect(started.filter((words) => !isOfServer(words))).toEqual([...hooks, 'bridge/cli/main.js work keep']);
        // The agent starts the server once; its launcher looks up where the build is.
        const server = ['plugin/mcp/run', 'bridge/mcp/main.cjs', 'bridge/mcp/main.cjs'];
        expect(started.filter(isOfServer)).toEqual(server);

        const left = filesBelow(place.work);
        const [object = ''] = Object.keys(left).filter((path) => path.startsWith('.git/objects/') && !(path in before));
        expect(changedBetween(before, left)).toEqual(['.git/index', object, 'new.txt'].sort());
        await askClaude(place, claude, 'once more', { words: ['--continue'] }).ended;
        const events = () => [...worklogsIn(place).values()].flat().map(({ event }) => event);
        await eventually(() => events().filter((event) => event === 'kept').length === 2, { what: 'the kept copy' });
        // It writes generated files after that line, each by a name of its own first.
        const isAtWork = (pid: number) => readArguments(pid).includes(place.home);
        await eventually(() => !listPids().some(isAtWork), { what: 'the end of whatever works on the home' });
        expect(events()).toContain('context_given');
        expect(changedBetween(left, filesBelow(place.work))).toEqual([]);
        expect(git('status', '--porcelain')).toBe('A  new.txt\n');

        for (const path of Object.keys(filesBelow(place.home)))
          for (const word of WORDS)
            expect([path, readFileSync(join(place.home, path), 'utf8').includes(word)]).toEqual([path, false]);
        expect(existsSync(join(place.home, 'sessions'))).toBe(true);
      },
      LIMIT_MS,
    );
});
