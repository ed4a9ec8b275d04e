// covers: memory/logs/settledCounts.ts memory/sessions/write.ts memory/sessions/memory.ts
/** Faults of a record, and of those who ask for it: each is named, and keeps nobody from the rest. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { worklogKind } from '../../../../memory/fold/rules/kind.js';
import { Log } from '../../../../memory/logs/log.js';
import { settledCounts } from '../../../../memory/logs/settledCounts.js';
import { writeOrRefuse } from '../../../../memory/sessions/write.js';
import { DAY } from '../../../../src/time.js';
import { testFolder } from '../../../harness/folder.js';
import { memoryScene } from '../../../memory/scene.js';
import { everythingBelow } from '../../../secrets/planted.js';
import { WorkScene } from './scene.js';

let scene: WorkScene;

beforeEach(() => {
  scene = new WorkScene();
});

function worklog(id: string): string {
  return join(scene.home, 'sessions', id, 'worklog.jsonl');
}

/** @returns the id of a session whose log is a folder, as no log can be read that another program has spoiled */
async function unreadable(): Promise<string> {
  const id = (await scene.json('track', ['init', 'broken', '--concurrent'])).session_id;
  rmSync(worklog(id));
  mkdirSync(worklog(id));
  return id;
}

/** As if everything in its log had been written so long ago. */
function age(id: string, ms: number): void {
  const then = new Date(Date.now() - ms).toISOString();
  writeFileSync(
    worklog(id),
    readFileSync(worklog(id), 'utf8').replaceAll(/"timestamp":"[^"]+"/g, `"timestamp":"${then}"`),
  );
}

describe('a log that cannot be read', () => {
  test('is named, and keeps no other session from being archived or removed', async () => {
    const old = await Promise.all(
      ['first', 'last'].map(async (name) => scene.json('track', ['init', name, '--concurrent'])),
    );
    const ids = old.map(({ session_id }) => session_id);
    for (const id of ids) age(id, 40 * DAY);
    const broken = await unreadable();
    const archived = await scene.say('work', ['archive', '--due']);
    expect([archived.code, archived.err]).toEqual([3, expect.stringContaining(broken)]);
    for (const id of ids) expect(archived.out).toContain(`session ${id} is in the archive`);
    const removed = await scene.say('work', ['purge', '--older-than', '30d', '--yes']);
    expect([removed.code, removed.err]).toEqual([3, expect.stringContaining(broken)]);
    for (const id of ids) expect(removed.out).toContain(`session ${id} is removed`);
    expect(existsSync(worklog(broken))).toBe(true);
  });

  test('is named where its session might be meant by name', async () => {
    await scene.say('track', ['init', 'T', '--name', 'mine']);
    const broken = await unreadable();
    const found = await scene.say('track', ['note', 'n', '--session', 'mine']);
    expect([found.code, found.out, found.err]).toEqual([0, 'noted, normal\n', expect.stringContaining(broken)]);
    const missing = await scene.say('track', ['note', 'n', '--session', 'other']);
    expect(missing).toMatchObject({ code: 3, err: 'there is no session "other" among those that can be read' });
  });

  test('hides no crash and no candidate', async () => {
    const other = await scene.json('track', ['init', 'T', '--concurrent']);
    const broken = await unreadable();
    expect(await scene.say('track', ['crash-detect'])).toMatchObject({ code: 3, err: expect.stringContaining(broken) });
    expect(await scene.say('track', ['log', 'x'])).toMatchObject({
      code: 2,
      err: expect.stringContaining(other.session_id),
    });
  });
});

describe('a step that there is not', () => {
  test('is refused by name, and nothing is written', async () => {
    const id = await scene.begin('T');
    const before = readFileSync(worklog(id), 'utf8');
    for (const words of [
      ['file', 'a.ts', '--working', '--step', '99'],
      ['log', 'x', '--step', '99'],
    ])
      expect(await scene.say('track', words)).toMatchObject({ code: 1, err: 'there is no step "99" (known: 1)' });
    expect(readFileSync(worklog(id), 'utf8')).toBe(before);
    for (const words of [
      ['file', 'a.ts', '--working', '--step', '1'],
      // A task of the agent's own list.
      ['log', 'x', '--step', 't3'],
    ])
      expect((await scene.say('track', words)).code).toBe(0);
  });

  test('has no errors', () => {
    const { open } = memoryScene();
    const memory = open();
    const session = memory.sessions.begin({ purpose: 'T' }, []);
    const line = worklogKind.line('error', { type: 'runtime', message: 'm', step: '1' });
    expect(() => writeOrRefuse(session, memory.stamp, () => [line])).toThrow(
      'there is no step "1" (the session has none)',
    );
  });
});

describe('WATCHKEEPER_SESSION', () => {
  test('is named if it names no session', async () => {
    await scene.begin('T');
    for (const name of ['../x', 'nobody', 'x'.repeat(500)])
      expect(await scene.say('track', ['status'], { variables: { WATCHKEEPER_SESSION: name } })).toMatchObject({
        code: 2,
        err: expect.stringMatching(
          /^WATCHKEEPER_SESSION is "[./a-z]{3,80}", and there is no such session in .*; unset it/,
        ),
      });
    const variables = { WATCHKEEPER_SESSION: 'nobody', WATCHKEEPER_MEMORY: scene.home };
    expect(await scene.say('track', ['status'], { variables })).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^WATCHKEEPER_SESSION is nobody, and its record cannot be seen in /),
    });
  });
});

describe('a damaged first line', () => {
  test('is said plainly, and the directory still finds its session, and gets free of it', async () => {
    const id = await scene.begin('T');
    writeFileSync(worklog(id), readFileSync(worklog(id), 'utf8').replace('{"v"', '{v'));
    const shown = await scene.say('work', ['show']);
    expect(shown.out).toContain(`${id}: (the beginning of its record cannot be read)`);
    expect(shown.out).toMatch(/1 line of its log cannot be read/);
    expect((await scene.json('work', ['show'])).log).toMatchObject({ unreadable: 1 });
    expect(await scene.say('track', ['init', 'another'])).toMatchObject({ code: 1, err: expect.stringContaining(id) });
    expect((await scene.say('track', ['done', '--as', 'failed'])).code).toBe(0);
    expect((await scene.say('track', ['init', 'another'])).code).toBe(0);
  });

  test('keeps the session from nothing that it could do before', async () => {
    const id = await scene.begin('T');
    await scene.say('track', ['step', '1', '--start']);
    writeFileSync(worklog(id), readFileSync(worklog(id), 'utf8').replace('{"v"', '{v'));
    for (const [command, words] of [
      ['track', ['note', 'n']],
      ['track', ['checkpoint', 'c']],
      ['work', ['rebuild', id]],
      ['work', ['verify', id]],
      ['work', ['export', id]],
      ['work', ['archive', id]],
      ['work', ['unarchive', id]],
    ] as const)
      expect([words, await scene.say(command, words)]).toEqual([
        words,
        expect.objectContaining({ code: words[0] === 'verify' ? 1 : 0 }),
      ]);
    expect((await scene.say('track', ['status'])).out).toContain(id);
  });
});

describe('a last line that was cut off', () => {
  const longAgo = (id: string) => utimesSync(worklog(id), 0, 0);

  test('is said by everything that says whether the record is whole', async () => {
    const id = await scene.begin('T');
    await scene.say('track', ['step', '1', '--start']);
    truncateSync(worklog(id), statSync(worklog(id)).size - 40);
    longAgo(id);
    expect(await scene.say('work', ['verify', id])).toMatchObject({
      code: 1,
      out: expect.stringContaining('FAULTY  worklog: 3 lines, 1 unreadable'),
    });
    for (const [command, words] of [
      ['track', ['status']],
      ['work', ['show', id]],
    ] as const)
      expect((await scene.say(command, words)).out).toContain(`1 line of its log cannot be read: ${worklog(id)}`);
    expect((await scene.say('work', ['list'])).out).toContain('planned, damaged');
    expect((await scene.json('track', ['status'])).log).toMatchObject({ lines: 3, unreadable: 1 });
    await scene.say('track', ['note', 'n']);
    expect((await scene.json('track', ['status'])).log).toMatchObject({ lines: 4, unreadable: 1 });
  });

  test('is none if its writer completes it meanwhile', async () => {
    const id = await scene.begin('T');
    const whole = readFileSync(worklog(id));
    writeFileSync(worklog(id), whole.subarray(0, -40));
    const log = Log.read(worklog(id), worklogKind);
    if (log === null) throw new Error('there is no log');
    const counts = settledCounts(log);
    appendFileSync(worklog(id), whole.subarray(-40));
    expect(await counts).toMatchObject({ unreadable: 0 });
  });

  test('may be all that is left, such as zeros', async () => {
    const id = await scene.begin('T');
    writeFileSync(worklog(id), Buffer.alloc(1_500));
    longAgo(id);
    expect(await scene.say('work', ['verify', id])).toMatchObject({
      code: 1,
      out: expect.stringContaining('FAULTY  worklog: 1 line, 1 unreadable'),
    });
    expect(await scene.json('work', ['list'])).toMatchObject([{ session_id: id, unreadable: 1 }]);
  });
});

test("a damaged first line of a directory's log is written again by the next command that changes it", async () => {
  const id = await scene.begin('T');
  const [name = ''] = readdirSync(join(scene.home, 'workspaces'));
  const path = join(scene.home, 'workspaces', name);
  writeFileSync(path, readFileSync(path, 'utf8').replace('{"v"', '{v'));
  expect((await scene.json('track', ['status'])).session_id).toBe(id);
  await scene.say('track', ['note', 'n', '--workspace']);
  const away = { where: testFolder() };
  // From another directory: its place is found by its log alone.
  expect((await scene.say('work', ['archive', id], away)).code).toBe(0);
  expect(readFileSync(path, 'utf8')).toContain('"event":"released"');
});

test('a session that works on very many files names some of them, and counts the rest', async () => {
  const id = await scene.begin('T');
  const line = (path: string) =>
    JSON.stringify({
      ...{ v: 1, id: path, timestamp: new Date().toISOString(), event: 'file', origin: 'agent' },
      ...{ session_id: id, path, to: 'working' },
    });
  appendFileSync(worklog(id), Array.from({ length: 2_500 }, (_, index) => `${line(`f${index}`)}\n`).join(''));
  const { out } = await scene.say('track', ['status']);
  expect(out.split('\n').filter((shown) => /^ {2}f\d+$/.test(shown))).toHaveLength(50);
  expect(out).toContain('… and 1950 more, see --json');
  expect(await scene.json('track', ['status'])).toMatchObject({ more: { files: 500 } });
});

describe('a clock', () => {
  /** @returns what is shown of a session in each way */
  async function shown(id: string): Promise<string[]> {
    const out = join(scene.home, 'out');
    const said = [];
    for (const [command, words] of [
      ['track', ['status']],
      ['track', ['status', '--json']],
      ['track', ['resume', id]],
      ['track', ['resume', id, '--json']],
      ['track', ['crash-detect']],
      ['track', ['init', 'another']],
      ['work', ['list', '--all']],
      ['work', ['show', id, '--json']],
      ['work', ['export', id]],
      ['work', ['export', id, '--format', 'session-tracker', '--out', out]],
      ['work', ['export', id, '--format', 'idumb', '--out', `${out}2`]],
      ['work', ['rebuild', id]],
    ] as const) {
      const { out: text, err, code } = await scene.say(command, words);
      expect([words, code]).toEqual([words, words[0] === 'init' ? 1 : 0]);
      said.push(text, err);
    }
    return [...said, ...[...everythingBelow(scene.home)].map(([, text]) => text)];
  }

  test('that jumps makes no negative time, and the order stays that of the file', async () => {
    const id = await scene.begin('T');
    await scene.say('track', ['step', '1', '--start', '--file', 'a.ts']);
    await scene.say('track', ['note', 'before']);
    await scene.say('track', ['step', '1', '--done']);
    await scene.say('track', ['note', 'after']);
    const lines = readFileSync(worklog(id), 'utf8').trimEnd().split('\n');
    // Two days ahead, then two days back, line by line.
    const jumps = lines.map((line, index) => {
      const then = new Date(Date.now() + (index % 2 === 0 ? 2 : -2) * DAY).toISOString();
      return line.replace(/"timestamp":"[^"]+"/, `"timestamp":"${then}"`);
    });
    for (const all of [jumps, jumps.slice(0, -1)]) {
      writeFileSync(worklog(id), `${all.join('\n')}\n`);
      const texts = await shown(id);
      const negative = texts.flatMap(
        (text) => text.match(/[^\w]-\d+(?:\.\d+)? ?(?:s|min|h|days?|hours?)\b.{0,20}/g) ?? [],
      );
      const inJson = texts.flatMap(
        (text) => text.match(/"\w*(?:hours|seconds|minutes|duration|age|_ms)\w*":-.{0,20}/g) ?? [],
      );
      expect([...negative, ...inJson]).toEqual([]);
    }
    const { steps, notes } = await scene.json('work', ['show', id]);
    expect(steps).toMatchObject([{ status: 'completed' }]);
    expect(notes.map(({ text }: { text: string }) => text)).toEqual(['before']);
  });
});
