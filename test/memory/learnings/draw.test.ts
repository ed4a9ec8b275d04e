// covers: memory/learnings/draw.ts memory/learnings/drawFrom.ts memory/learnings/attempts.ts memory/learnings/pattern.ts memory/observed/records.ts memory/show/learningWords.ts
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { archiveSession } from '../../../memory/keeping/archive.js';
import { keepSession } from '../../../memory/keeping/keep.js';
import type { FailureGroup } from '../../../memory/learnings/draw.js';
import { drawFromSessions } from '../../../memory/learnings/drawFrom.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import { failuresOf, refusalsOf } from '../../../memory/show/learningWords.js';
import { drawLearnings } from '../../../memory/verbs/learn.js';
import { ask } from '../../../memory/verbs/verb.js';
import { testFolder } from '../../harness/folder.js';
import { type MemoryScene, memoryScene } from '../scene.js';
import { DOOR } from '../verbs/asked.js';
import { everyFile } from '../worktrees/scene.js';
import { day, fails, type MadeSession, run } from './madeSessions.js';
import { REFUSED, REPEATS, type Repeat, SESSIONS } from './prepared.js';
import { record } from './recorded.js';

const LEAST = 0.9;

let scene: MemoryScene;
let memory: Memory;
let folder: string;

beforeEach(() => {
  scene = memoryScene();
  memory = scene.open();
  memory.places.prepare();
  folder = testFolder();
});

function isOf({ call, error, count, sessions }: Repeat, group: FailureGroup): boolean {
  const words = group.command === '' ? group.tool : `${group.tool}: ${group.command}`;
  return call.test(words) && error.test(group.error) && group.count === count && group.sessions === sessions.length;
}

describe('twelve prepared sessions', () => {
  test('what came back is found, and nothing else', async () => {
    for (const session of SESSIONS) record(memory, folder, session);
    const draw = await drawFromSessions(memory, false);
    const found = failuresOf(draw).filter(({ sessions }) => sessions > 1);
    const right = found.filter((group) => REPEATS.some((repeat) => isOf(repeat, group)));
    const missed = REPEATS.filter((repeat) => !found.some((group) => isOf(repeat, group)));
    const [precision, recall] = [right.length / found.length, 1 - missed.length / REPEATS.length];
    process.stdout.write(
      `learn draw: precision ${precision.toFixed(2)}, recall ${recall.toFixed(2)} of ${REPEATS.length} repeats in ${draw.sessions} sessions\n`,
    );
    for (const { call, error } of missed) process.stdout.write(`  missed: ${call} ${error}\n`);
    for (const group of found.filter((group) => !right.includes(group)))
      process.stdout.write(`  wrong: ${group.command} ${group.error}\n`);
    expect(precision).toBeGreaterThanOrEqual(LEAST);
    expect(recall).toBeGreaterThanOrEqual(LEAST);
    for (const repeat of REPEATS) {
      const ways = [...(found.find((group) => isOf(repeat, group))?.worked.values() ?? [])];
      if (repeat.worked !== undefined)
        expect(
          ways
            .map(
              ({ call, after }) =>
                `${call ?? ''}${call === null ? [...after.values()].map((help) => help.call).join() : ''}`,
            )
            .join('\n'),
        ).toMatch(repeat.worked);
    }
    const said = refusalsOf(draw).flatMap(({ call, said }) => [...said].map((words) => ({ call, said: words })));
    expect(said).toHaveLength(REFUSED.length);
    for (const { call, said: words } of REFUSED)
      expect(said).toContainEqual({ call: expect.stringMatching(call), said: words });
  });
});

const ONE = { provider: 'claude', conversation: '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2b01', at: day(3) } as const;
const REDIS = fails('npm test', 'Error: connect ECONNREFUSED 127.0.0.1:6379');
const made = (deeds: MadeSession['deeds'], more: Partial<MadeSession> = {}): MadeSession => ({
  ...ONE,
  deeds,
  ...more,
});
const drawnOf = async (...deeds: MadeSession['deeds']) => {
  record(memory, folder, made(deeds));
  return drawFromSessions(memory, false);
};

describe('no failure is', () => {
  test.each<readonly [string, MadeSession['deeds'][number]]>([
    ['a search that found nothing', fails('rg needle src', '')],
    ['one in a folder', fails('cd src && grep -rn needle .', '')],
    ['a difference', fails('git diff --exit-code -- src', 'diff --git a/a b/a')],
    ['a test of the shell', fails('[ -f dist/main.js ]', '')],
    ['a comparison', fails('cmp a b', 'a b differ: byte 1, line 1')],
    ['checks of a pull request', fails('gh pr checks 7', 'build\tfail', 8)],
    ["a formatter's answer", fails('npx prettier --check src', '[warn] src/a.ts')],
    ['a denied call', run('npm test', { how: 'denied', said: 'not now' })],
    ['an interrupted call', run('npm test', { how: 'interrupted' })],
    ['a cancelled call', run('npm test', { how: 'cancelled' })],
    ['a call that a hook blocked', run('npm test', { how: 'blocked', output: 'PreToolUse:Bash hook error: no' })],
  ])('%s', async (_, deed) => {
    expect(failuresOf(await drawnOf(deed))).toEqual([]);
  });

  test('in Codex what a person rejected or stopped', async () => {
    const deeds = [run('npm test', { how: 'denied' }), run('npm test', { how: 'interrupted' })];
    record(memory, folder, made(deeds, { provider: 'codex' }));
    expect(failuresOf(await drawFromSessions(memory, false))).toEqual([]);
  });

  test('and the same programs may fail', async () => {
    expect(failuresOf(await drawnOf(fails('rg "(" src', 'rg: regex parse error:', 2)))).toHaveLength(1);
  });
});

describe('sessions', () => {
  test('of another repository are drawn from only if all are', async () => {
    const other = testFolder();
    mkdirSync(join(other, '.git'));
    record(scene.open({}, other), folder, made([REDIS]));
    expect(failuresOf(await drawFromSessions(memory, false))).toEqual([]);
    expect(failuresOf(await drawFromSessions(memory, true))).toMatchObject([{ count: 1 }]);
  });

  test('that are archived, and whose transcripts are gone, are drawn from their kept copies', async () => {
    const id = record(memory, folder, made([REDIS]));
    const session = memory.which(id);
    await keepSession(memory, session, Number.POSITIVE_INFINITY);
    memory.lifecycle.end(session, memory.workspace, { reason: 'completed', lines: () => [] });
    archiveSession(memory, session);
    rmSync(folder, { recursive: true });
    expect(failuresOf(await drawFromSessions(memory, false))).toMatchObject([{ command: 'npm test', count: 1 }]);
  });

  test('and a conversation, a transcript, one session give their own failures; nothing is stored', async () => {
    const first = record(memory, folder, made([REDIS]));
    const conversation = '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2b02';
    record(memory, folder, made([fails('make', 'make: *** No targets.  Stop.', 2)], { conversation }));
    const before = everyFile(scene.home);
    const commands = async (input: object) => {
      const { value } = await ask(drawLearnings, memory, { ...input }, DOOR);
      return (value as { failures: { command: string }[] }).failures.map(({ command }) => command);
    };
    expect(await commands({ of: first })).toEqual(['npm test']);
    expect(await commands({ conversation })).toEqual(['make']);
    expect(await commands({ of: join(folder, `${conversation}.jsonl`) })).toEqual(['make']);
    await expect(commands({ conversation: 'none' })).rejects.toThrow('has a conversation "none"');
    writeFileSync(join(folder, 'other.jsonl'), '{"a":1}\n\0\n');
    for (const name of [join(folder, 'other.jsonl'), '/dev/null'])
      await expect(commands({ of: name })).rejects.toThrow(/holds no record of|is no file/);
    await expect(commands({ of: './none.jsonl' })).rejects.toThrow('there is no file');
    await expect(commands({ of: first, all: true })).rejects.toThrow('exclude each other');
    expect(everyFile(scene.home)).toEqual(before);
  });
});

test('secrets are nowhere in what is drawn, also where a text was cut', async () => {
  const secret = `ghp_${'Ab1'.repeat(12)}`;
  const deeds = [
    fails(
      `curl -H "Authorization: Bearer ${secret}" http://localhost:1/${'x'.repeat(900)}`,
      `Error: ${secret} refused`,
    ),
    run(`deploy --token ${secret}`, { how: 'denied', said: `not with ${secret}` }),
  ];
  record(memory, folder, made(deeds));
  const { value, lines } = await ask(drawLearnings, memory, {}, DOOR);
  expect(JSON.stringify([value, lines])).not.toContain(secret.slice(0, 12));
  expect(JSON.stringify(value)).toContain('refused');
});

test('without texts no words of a person are shown', async () => {
  writeFileSync(join(scene.home, 'settings.json'), '{"texts":false}', { mode: 0o600 });
  record(memory, folder, made([run('npm publish', { how: 'denied', said: 'ask me first' })]));
  const { value, lines } = await ask(drawLearnings, scene.open(), {}, DOOR);
  expect(value).toMatchObject({ refusals: [{ call: 'npm publish', said: [] }] });
  expect(JSON.stringify([value, lines])).not.toContain('ask me');
});

test.each([
  ['a title', 'handoff create --title "Mend the flaky test" --next \'run the test\'', []],
  ['a message', 'git commit -m "Mend the test"', []],
  ['a command for a shell', 'bash -c "yarn test --all"', ['bash -c "yarn test --all"']],
  ['another program on the same', 'yarn "test"', ['yarn "test"']],
])('the word of a failed call in %s', async (_, next, ways) => {
  const at = day(1);
  const deeds = [fails('npm test', 'Error: no Redis'), fails('npm test', 'Error: no Redis'), run(next)];
  record(memory, folder, { provider: 'claude', conversation: '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2e01', at, deeds });
  const draw = await drawFromSessions(memory, false);
  const [group] = failuresOf(draw);
  expect([...(group?.worked.values() ?? [])].map(({ call }) => call)).toEqual(ways);
});
