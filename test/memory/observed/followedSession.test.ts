/** Following a session's transcripts shows what reading them whole would show. */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Conversation, Worklog } from '../../../memory/fold/worklog.js';
import { journalIn } from '../../../memory/home/places.js';
import { FollowedSession } from '../../../memory/observed/followedSession.js';
import { textOfSeal } from '../../../memory/observed/keptCopy.js';
import type { Observed } from '../../../memory/observed/observed.js';
import { observe } from '../../../memory/observed/sources.js';
import { redactShapes } from '../../../src/log/redact.js';
import { systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { seededRandom } from '../../src/journal/random.js';
import { GrowingSession, recordedSession } from '../../src/transcripts/following.js';
import { asks, at, calls, type Fields, returns, START, says } from '../../src/transcripts/told.js';
import { memoryScene } from '../scene.js';
import { plain } from './plain.js';

const RECORDINGS = ['claude/deeds.jsonl', 'claude/delegate.jsonl', 'claude/work.jsonl', 'claude-2.1.330/compact.jsonl'];

/** A session whose conversations have transcripts in places of their own. */
class Scene {
  readonly folder = testFolder();
  readonly log: Worklog;
  readonly #options = { folders: { HOME: this.folder }, redact: redactShapes, clock: systemClock };
  readonly #followed = new FollowedSession(this.#options);

  constructor() {
    const memory = memoryScene().open();
    const made = { purpose: 'x', fields: {}, plan: [], concurrent: false };
    this.log = memory.lifecycle.begin(memory.workspace, made).log.state;
  }

  /** @returns the path of its transcript */
  converse(id: string, path = join(this.folder, `${id}.jsonl`), rest: Partial<Conversation> = {}): string {
    const place = { transcript: path, cwd: null, workspace: null, at: 0, since: null, process: null, moved_at: null };
    this.log.conversations.push({ provider: 'claude', id, source: 'bind', ...place, ...rest });
    return path;
  }

  /** @returns what following shows, after it was compared with a look at everything */
  async look() {
    const session = { log: this.log, folder: this.folder, workspace: null };
    const followed = await this.#followed.readOn(session);
    const whole = await observe(session, this.#options);
    expect([followed.observed, shownBy(followed.fold)]).toEqual([whole.observed, shownBy(whole.fold)]);
    return followed;
  }
}

const shownBy = (fold: Observed | null) => (fold === null ? null : plain(fold));
const write = (path: string, ...records: Fields[]) =>
  appendFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));

/** Writes a kept copy with one line of a conversation. */
function keepCopy(scene: Scene, conversation: string): void {
  const kept = { v: 1, timestamp: at(0), event: 'user_prompt', origin: 'human', text: 'kept' };
  const source = { provider: 'claude', conversation, bytes: 1_000, lines: 1 };
  writeFileSync(journalIn(scene.folder), `${JSON.stringify(kept)}\n${textOfSeal([source], 'x')}\n`);
}

describe('a session that is followed', () => {
  // rule: a-followed-transcript-is-the-whole-one
  test.each(RECORDINGS)('%s: shows after each step what a look at everything shows', async (name) => {
    const random = seededRandom(7);
    const scene = new Scene();
    const session = new GrowingSession(recordedSession(name));
    scene.converse('c1', session.path);
    while (session.unfinished.length > 0) {
      session.grow(random.pick(session.unfinished), 1 + random.below(9_000));
      await scene.look();
    }
  });

  test('is right about two conversations, whichever of them goes on', async () => {
    const scene = new Scene();
    const [first, second] = [scene.converse('c1'), scene.converse('c2')];
    write(first, asks(0, 'go'), calls(1, 't1', 'Edit', { file_path: '/a' }), returns(2, 't1'), says(3, 'Done'));
    await scene.look();
    write(second, asks(100, 'more'), calls(101, 't2'), returns(102, 't2', 'Exit code 1', true), says(150, 'Hm'));
    expect((await scene.look()).fold?.errors).toHaveLength(1);
    write(first, asks(200, 'again'), calls(201, 't3'), returns(202, 't3', 'Exit code 2', true));
    expect((await scene.look()).fold?.errors).toHaveLength(2);
    write(second, says(300, 'Now it works'));
    expect((await scene.look()).fold?.lastWords).toBe('Now it works');
  });

  test('has a new conversation, and loses what was moved', async () => {
    const scene = new Scene();
    const first = scene.converse('c1');
    write(first, asks(0, 'go'), calls(1, 't1'), returns(2, 't1'), asks(100, 'something else'), calls(101, 't2'));
    expect((await scene.look()).fold?.lastPrompt).toBe('something else');
    const [before] = scene.log.conversations.splice(0);
    scene.converse('c1', first, { ...before, moved_at: START + 50_000 });
    expect((await scene.look()).fold?.lastPrompt).toBe('go');
    write(scene.converse('c2'), asks(200, 'a new one'));
    expect((await scene.look()).fold?.lastPrompt).toBe('a new one');
  });

  test('is the kept copy once its transcript is gone, and the transcript once it is there', async () => {
    const scene = new Scene();
    const path = scene.converse('c1');
    expect((await scene.look()).observed).toBe('none');
    write(path, asks(0, 'go'), says(1, 'Done'));
    expect(await scene.look()).toMatchObject({ observed: 'transcript', fold: { lastPrompt: 'go' } });
    rmSync(path);
    expect((await scene.look()).observed).toBe('none');
    keepCopy(scene, 'c1');
    expect(await scene.look()).toMatchObject({ observed: 'journal', fold: { lastPrompt: 'kept' } });
    // Together with another one that is followed.
    write(scene.converse('c2'), asks(100, 'on'), says(101, 'Yes'));
    expect(await scene.look()).toMatchObject({
      observed: 'transcript',
      fold: { firstPrompt: 'kept', lastPrompt: 'on' },
    });
    write(join(scene.folder, 'c2.jsonl'), asks(200, 'on and on'));
    expect((await scene.look()).fold).toMatchObject({ firstPrompt: 'kept', lastPrompt: 'on and on' });
  });

  test('is the kept copy of one conversation and the transcript of another, whichever comes first', async () => {
    const scene = new Scene();
    const first = scene.converse('c1');
    write(first, asks(0, 'go'), says(1, 'Done'));
    write(scene.converse('c2'), asks(100, 'on'), says(101, 'Yes'));
    await scene.look();
    rmSync(first);
    expect((await scene.look()).fold?.firstPrompt).toBe('on');
    keepCopy(scene, 'c1');
    expect((await scene.look()).fold?.firstPrompt).toBe('kept');
    write(first, ...Array.from({ length: 9 }, (_, index) => asks(index, 'go again')));
    expect((await scene.look()).fold?.firstPrompt).toBe('go again');
    rmSync(first);
    expect((await scene.look()).fold?.firstPrompt).toBe('kept');
  });

  test('starts over with a transcript that was rewritten', async () => {
    const scene = new Scene();
    const path = scene.converse('c1');
    write(path, asks(0, 'go'), says(100, 'Done'), asks(200, 'more'));
    await scene.look();
    rmSync(path);
    write(path, asks(300, 'something else'), says(400, 'Yes'), asks(500, 'and'));
    expect((await scene.look()).fold).toMatchObject({ firstPrompt: 'something else', lastPrompt: 'and' });
  });

  test('is found in the folder of its program, too', async () => {
    const scene = new Scene();
    scene.converse('c1', undefined, { transcript: null });
    expect((await scene.look()).observed).toBe('none');
    const folder = join(scene.folder, '.claude/projects/p');
    mkdirSync(folder, { recursive: true });
    write(join(folder, 'c1.jsonl'), asks(0, 'go'));
    expect((await scene.look()).observed).toBe('transcript');
  });

  // rule: a-presumed-end-is-taken-back
  test('rests after a last message, and works again when its agent goes on', async () => {
    const scene = new Scene();
    const path = scene.converse('c1');
    write(path, asks(0, 'go'), says(100, 'First the tests'));
    expect((await scene.look()).fold).toMatchObject({ isTurnOpen: false, idleAt: START + 100_000 });
    write(path, calls(200, 't1'));
    expect((await scene.look()).fold).toMatchObject({ isTurnOpen: true, idleAt: null, lastTurnEnd: null });
  });
});
