/** What was sent is known to every process that shares the logs folder, whatever Redis has forgotten. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { DeliveryService } from '../../../bridge/chat/deliveryService.js';
import { SendFile } from '../../../bridge/chat/sendFile.js';
import { type FinalText, foldedLines } from '../../../bridge/chat/sendLine.js';
import { SendMemory } from '../../../bridge/chat/sendMemory.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { revivalOf } from '../../../src/jobs/newRecords.js';
import { HOUR, MINUTE, SECOND } from '../../../src/time.js';
import { eventually } from '../../e2e/eventually.js';
import { testFolder } from '../../harness/folder.js';
import { describeWithRedis } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';
import { must } from '../../monitoring/incident/saga/sagaScene.js';
import {
  activeSession,
  answered,
  CHAT,
  deadProcess,
  deliveryOf,
  openScene,
  runIdOf,
  type Scene,
} from '../telegram/scene.js';

const ANSWER = 'forty-two';
const TEXT: FinalText = { sessionId: 'tg_popoto_1_1', kind: 'failure', digest: 'abc', of: 1 };

describeWithRedis('a final message that Redis has forgotten', () => {
  // rule: a-send-is-remembered-on-disk
  test('is not sent again by another process that shares the logs folder, and counts as sent', async () => {
    const scene = await openScene();
    const logsFolder = testFolder();
    const session = await answered(scene, await activeSession(scene), ANSWER);
    const before = await snapshot(scene);
    await serviceOn(scene, logsFolder).runOnce();
    expect(shown(scene)).toEqual([ANSWER]);
    await restore(scene, before);
    expect(await scene.store.records.outboxEntry(session.session_id)).toMatchObject({ state: 'queued' });
    const standby = await otherProcess();
    await serviceOn({ ...scene, here: standby }, logsFolder).runOnce();
    expect(shown(scene)).toEqual([ANSWER]);
    expect(await scene.store.records.outboxEntry(session.session_id)).toMatchObject({ state: 'sent', parts_done: 1 });
    // As in the record, so in every later one.
    await restore(scene, before);
    await serviceOn(scene, logsFolder).runOnce();
    expect(shown(scene)).toEqual([ANSWER]);
  });

  // rule: a-send-is-remembered-on-disk
  test('is left to the process that is sending it', async () => {
    const scene = await openScene();
    const logsFolder = testFolder();
    const session = await answered(scene, await activeSession(scene), ANSWER);
    const before = await snapshot(scene);
    const hang = scene.peer.inject({ kind: 'hang', method: 'sendMessage' });
    const sending = serviceOn(scene, logsFolder).runOnce();
    await scene.peer.waitFor(() => hang.used === 1);
    await restore(scene, before);
    const other = serviceOn({ ...scene, here: await otherProcess() }, logsFolder);
    await other.runOnce();
    const entry = await scene.store.records.outboxEntry(session.session_id);
    expect(entry).toMatchObject({ state: 'queued', last_error: 'another process is sending it' });
    expect(scene.peer.calls.filter(({ method }) => method === 'sendMessage')).toHaveLength(1);
    // The send is given up, and nobody knows whether it arrived: an edit brings it.
    await scene.clock.advance(2 * MINUTE);
    await sending;
    await other.runOnce();
    expect(shown(scene)).toEqual([ANSWER]);
    expect(await scene.store.records.outboxEntry(session.session_id)).toMatchObject({ state: 'sent' });
  });

  // rule: a-send-is-remembered-on-disk
  test('is recorded on disk as being sent before Telegram gets it', async () => {
    const scene = await openScene();
    const logsFolder = testFolder();
    await answered(scene, await activeSession(scene), ANSWER);
    const known: string[] = [];
    scene.peer.inject({
      kind: 'reset',
      method: 'sendMessage',
      match: () => {
        known.push(readFileSync(join(logsFolder, 'sends', 'sends.jsonl'), 'utf8'));
        return false;
      },
    });
    await serviceOn(scene, logsFolder).runOnce();
    expect(known).toEqual([expect.stringContaining('"did":"sending"')]);
    expect(known[0]).not.toContain(ANSWER);
  });

  // rule: a-send-is-remembered-on-disk
  test('is still sent once by each process if the disk cannot be written', async () => {
    const scene = await openScene();
    const folder = join(testFolder(), 'logs');
    writeFileSync(folder, 'no folder');
    await answered(scene, await activeSession(scene), ANSWER);
    const before = await snapshot(scene);
    const service = serviceOn(scene, folder);
    await service.runOnce();
    await restore(scene, before);
    await service.runOnce();
    expect(shown(scene)).toEqual([ANSWER]);
    expect(scene.logged.filter((line) => line.includes('the memory of sent messages'))).toHaveLength(1);
  });
});

describeWithRedis('the memory of sent messages', () => {
  // rule: a-send-is-remembered-on-disk
  test('that the disk refused is written when the disk works again, and is known to the other process', async () => {
    const scene = await openScene();
    const logsFolder = join(testFolder(), 'logs');
    writeFileSync(logsFolder, 'no folder');
    const one = new SendMemory(scene, logsFolder);
    expect(await one.claim(TEXT, 0)).toBe('ours');
    await one.arrived(TEXT, 0);
    const withdrawn = { ...TEXT, sessionId: 'tg_popoto_1_2' };
    expect(await one.claim(withdrawn, 0)).toBe('ours');
    await one.withdraw(withdrawn, 0);
    unlinkSync(logsFolder);
    const other = new SendMemory({ ...scene, here: await otherProcess() }, logsFolder);
    expect(await other.partsSent(TEXT)).toBe(0);
    await scene.clock.advance(SECOND / 2);
    await eventually(async () => (await other.partsSent(TEXT)) === 1, { what: 'what was sent' });
    expect(await other.claim(withdrawn, 0)).toBe('ours');
  });

  test('recognises a claim of a living process, of a dead one, and a withdrawn one', async () => {
    const scene = await openScene();
    const logsFolder = testFolder();
    const one = new SendMemory(scene, logsFolder);
    const other = new SendMemory({ ...scene, here: await otherProcess() }, logsFolder);
    expect(await one.claim(TEXT, 0)).toBe('ours');
    expect(await other.claim(TEXT, 0)).toBe('elsewhere');
    await one.withdraw(TEXT, 0);
    expect(await other.claim(TEXT, 0)).toBe('ours');
    await other.withdraw(TEXT, 0);
    const dead = new SendMemory({ ...scene, here: await deadProcess() }, logsFolder);
    expect(await dead.claim(TEXT, 0)).toBe('ours');
    expect(await one.claim(TEXT, 0)).toBe('in_doubt');
    // One of its own that was broken off is in doubt, too.
    const part = { ...TEXT, digest: 'def' };
    expect(await one.claim(part, 0)).toBe('ours');
    expect(await one.claim(part, 0)).toBe('in_doubt');
    await scene.clock.advance(SECOND);
  });

  test('allows no second wording of the same end, whichever attempt reports it', async () => {
    const scene = await openScene();
    const memory = new SendMemory(scene, testFolder());
    await memory.arrived({ ...TEXT, sessionId: 'tg_popoto_1_1_r1' }, 0);
    const again: FinalText = { ...TEXT, digest: 'def' };
    expect(await memory.partsSent(again)).toBe(Number.POSITIVE_INFINITY);
    expect(await memory.partsSent({ ...again, kind: 'answer' })).toBe(0);
    expect(await memory.lastSent('tg_popoto_1_1', 0)).toBe('failure');
    expect(await memory.lastSent('tg_popoto_1_1_r1', 0)).toBe('failure');
    expect(await memory.lastSent('tg_popoto_1_2', 0)).toBeNull();
    await scene.clock.advance(SECOND);
    await memory.arrived({ ...TEXT, kind: 'answer' }, 0);
    expect(await memory.lastSent('tg_popoto_1_1', 0)).toBe('answer');
  });

  test('reports no end for a later message with the same number, nor one with missing parts', async () => {
    const scene = await openScene();
    const memory = new SendMemory(scene, testFolder());
    await memory.arrived({ ...TEXT, of: 2 }, 0);
    expect(await memory.lastSent(TEXT.sessionId, 0)).toBeNull();
    await memory.arrived({ ...TEXT, of: 2 }, 1);
    expect(await memory.lastSent(TEXT.sessionId, scene.clock.now())).toBe('failure');
    expect(await memory.lastSent(TEXT.sessionId, scene.clock.now() + 1)).toBeNull();
  });

  // rule: a-reported-end-is-the-only-end
  test('is the end of its message although the clock was set back since it was accepted', async () => {
    const scene = await openScene();
    const logsFolder = testFolder();
    for (const attempt of [1, 2]) {
      const asked = await activeSession(scene);
      const second = revivalOf(asked, scene.clock.now() + MINUTE);
      if (attempt === 2) must(await scene.store.regain.active(second, { ...must(asked.run), run_id: 'again' }, MINUTE));
      scene.clock.moveWallClock(-HOUR);
      const session = attempt === 1 ? asked : second;
      must(
        await scene.store.transitions.complete(session.session_id, attempt === 1 ? runIdOf(asked) : 'again', ANSWER),
      );
      await serviceOn(scene, logsFolder).runOnce();
      const memory = new SendMemory(scene, logsFolder);
      expect(await memory.lastSent(session.session_id, asked.created_at)).toBe('answer');
      expect(await memory.lastSent(session.session_id, asked.created_at + 1)).toBeNull();
    }
  });

  // rule: a-send-is-remembered-on-disk
  test('treats a reworded failure, and a failure after an answer, as sent; not an answer after a failure', async () => {
    const scene = await openScene();
    const memory = new SendMemory(scene, testFolder());
    await memory.arrived({ ...TEXT, of: 2 }, 0);
    expect(await memory.partsSent({ ...TEXT, of: 2 })).toBe(1);
    expect(await memory.partsSent({ ...TEXT, digest: 'other' })).toBe(0);
    await memory.arrived({ ...TEXT, of: 2 }, 1);
    expect(await memory.partsSent({ ...TEXT, digest: 'other' })).toBe(Number.POSITIVE_INFINITY);
    const answer: FinalText = { ...TEXT, kind: 'answer', digest: 'answer', of: 3 };
    expect(await memory.partsSent(answer)).toBe(0);
    const answeredFirst = { ...answer, sessionId: 'tg_popoto_1_2', of: 1 };
    await memory.arrived(answeredFirst, 0);
    expect(await memory.partsSent({ ...TEXT, sessionId: answeredFirst.sessionId })).toBe(Number.POSITIVE_INFINITY);
  });
});

describeWithRedis('an outage of the chat', () => {
  // rule: a-send-is-remembered-on-disk
  test('of 5,000 tries by two processes drops nothing sent or in doubt from memory, and the folder stays small', async () => {
    const scene = await openScene();
    const logsFolder = testFolder();
    const processes = [scene.here, await otherProcess()].map((here) => new SendMemory({ ...scene, here }, logsFolder));
    const [sent, doubtful, waiting] = [textsOf('sent', 50), textsOf('doubtful', 5), textsOf('waiting', 50)];
    const dead = new SendMemory({ ...scene, here: await deadProcess() }, logsFolder);
    for (const text of [...sent, ...doubtful]) expect(await dead.claim(text, 0)).toBe('ours');
    for (const text of sent) await dead.arrived(text, 0);
    for (let round = 0; round < 100; round += 1) {
      await Promise.all(
        waiting.map(async (text, place) => {
          const memory = processes[(place + round) % 2] ?? dead;
          expect(await memory.claim(text, 0)).toBe('ours');
          await memory.withdraw(text, 0);
        }),
      );
    }
    for (const memory of [...processes, new SendMemory(scene, logsFolder)]) {
      for (const text of sent) expect(await memory.partsSent(text)).toBe(1);
      for (const text of doubtful) expect(await memory.claim(text, 0)).toBe('in_doubt');
      for (const text of waiting) expect(await memory.claim(text, 0)).toBe('ours');
      for (const text of waiting) await memory.withdraw(text, 0);
    }
    const files = readdirSync(join(logsFolder, 'sends'));
    // Older files were folded.
    expect(files).not.toContain('sends.jsonl');
    expect(files.length).toBeLessThanOrEqual(4);
    const bytes = files.map((name) => statSync(join(logsFolder, 'sends', name)).size);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(4 * 1024 * 1024);
  }, 120_000);

  // rule: a-send-is-remembered-on-disk
  test('leaves no doubt about a part that was not sent, even if its process died while merging older files', async () => {
    const scene = await openScene();
    const logsFolder = testFolder();
    const one = new SendMemory(scene, logsFolder);
    const [there, gone, late] = textsOf('waiting', 3) as [FinalText, FinalText, FinalText];
    for (const text of [there, gone, late]) expect(await one.claim(text, 0)).toBe('ours');
    for (const text of [gone, late]) await one.withdraw(text, 0);
    const [sendingThere, sendingGone, sendingLate, goneNot, lateNot] = linesOf(logsFolder) as [string, ...string[]];
    const removed = [sendingThere, sendingGone, sendingLate].map(String);
    const [replaced, later] = [[String(goneNot)], [String(lateNot)]];
    const folded = foldedLines(removed, replaced, later);
    for (const left of [removed, []]) {
      const files = { 'sends.1.jsonl': left, 'sends.2.jsonl': folded, 'sends.3.jsonl': later };
      const next = new SendMemory({ ...scene, here: await otherProcess() }, folderWith(files));
      expect(await next.claim(gone, 0)).toBe('ours');
      expect(await next.claim(late, 0)).toBe('ours');
      expect(await next.claim(there, 0)).toBe('elsewhere');
    }
    // What was kept for the moment of the crash goes the next time.
    expect(foldedLines(folded, [], later)).toEqual([sendingThere]);
  });
});

test('the memory file stays small, and its new lines are read once, also by another process', async () => {
  const folder = testFolder();
  const [writer, reader] = [new SendFile(folder, 1_000), new SendFile(folder, 1_000)];
  const read: string[] = [];
  for (let number = 0; number < 200; number += 1) {
    await Promise.all([writer.append(`{"number":${number}}${' '.repeat(80)}`), reader.append(`{"of":"the reader"}`)]);
    read.push(...(await reader.unread()));
  }
  expect(readdirSync(folder).length).toBeLessThanOrEqual(8);
  const numbers = read.flatMap((line) =>
    line.includes('number') ? [(JSON.parse(line) as { number: number }).number] : [],
  );
  expect(numbers).toEqual(Array.from({ length: 200 }, (_, number) => number));
  expect(await reader.unread()).toEqual([]);
});

test('a new memory file is read from its beginning, even if it reuses the number of a removed one', async () => {
  const folder = testFolder();
  const path = join(folder, 'sends.jsonl');
  const reader = new SendFile(folder);
  await reader.append('{"number":1}');
  expect(await reader.unread()).toEqual(['{"number":1}']);
  const { ino } = statSync(path);
  // To who reads, the same: another file with that number.
  writeFileSync(path, '{"number":2}\n{"number":3}\n');
  expect(statSync(path).ino).toBe(ino);
  expect(await reader.unread()).toEqual(['{"number":2}', '{"number":3}']);
  expect(await reader.unread()).toEqual([]);
  // One that begins alike, as the folded file does each time.
  const oldest = `{"number":4}${' '.repeat(1_000)}`;
  const lines = (...numbers: number[]) => [oldest, ...numbers.map((number) => `{"number":${number}}`)];
  writeFileSync(path, `${lines(5, 6).join('\n')}\n`);
  expect(await reader.unread()).toEqual(lines(5, 6));
  writeFileSync(path, `${lines(6, 7, 8).join('\n')}\n`);
  expect(await reader.unread()).toEqual(lines(6, 7, 8));
});

test('no line of the memory is skipped if another of its files could not be read at that moment', async () => {
  const folder = testFolder();
  const path = join(folder, 'sends.jsonl');
  writeFileSync(join(folder, 'sends.1-1.jsonl'), '{"number":1}\n');
  symlinkSync('nowhere', path);
  const reader = new SendFile(folder);
  await expect(reader.unread()).rejects.toThrow('ELOOP');
  unlinkSync(path);
  expect(await reader.unread()).toEqual(['{"number":1}']);
});

function textsOf(name: string, count: number): FinalText[] {
  return Array.from({ length: count }, (_, number) => ({ ...TEXT, sessionId: `tg_${name}_1_${number}` }));
}

function linesOf(logsFolder: string): string[] {
  return readFileSync(join(logsFolder, 'sends', 'sends.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean);
}

/** @returns a logs folder whose memory has these files */
function folderWith(files: Record<string, readonly string[]>): string {
  const logsFolder = testFolder();
  mkdirSync(join(logsFolder, 'sends'));
  for (const [name, lines] of Object.entries(files)) {
    writeFileSync(join(logsFolder, 'sends', name), lines.map((line) => `${line}\n`).join(''));
  }
  return logsFolder;
}

function serviceOn(scene: Scene, logsFolder: string): DeliveryService {
  const memory = new SendMemory(scene, logsFolder);
  const delivery = deliveryOf({ ...scene, memory });
  const chat = { deliver: (id: string) => delivery.deliver(id), showProgress: async () => undefined };
  return new DeliveryService(scene, chat);
}

/** @returns everything that the test's Redis holds now */
async function snapshot({ store, prefix }: Scene): Promise<Map<string, Buffer>> {
  const kept = new Map<string, Buffer>();
  for (const key of await store.redis.keys(`${prefix}*`)) {
    const value = await store.redis.dumpBuffer(key);
    if (value !== null) kept.set(key, value);
  }
  return kept;
}

/** Redis stands again as it stood at that instant. */
async function restore({ store, prefix }: Scene, kept: ReadonlyMap<string, Buffer>): Promise<void> {
  const keys = await store.redis.keys(`${prefix}*`);
  if (keys.length > 0) await store.redis.del(...keys);
  for (const [key, value] of kept) await store.redis.restore(key, 0, value);
}

/** @returns the identity of another process that lives as long as the test */
async function otherProcess(): Promise<ProcessIdentity> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await once(child, 'spawn');
  afterThisTest(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return readProcessIdentity('testhost', child.pid);
}

function shown(scene: Scene): string[] {
  return scene.peer.botMessages(CHAT).map((message) => message.text);
}
