// covers: memory/programs/takePublished.ts memory/sessions/published.ts src/host/machine.ts
/** What a program publishes of its processes, for a memory to which no hook has reported them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { crashesHere } from '../../../memory/brief/crashReport.js';
import { worklogIn } from '../../../memory/home/places.js';
import { listSessions } from '../../../memory/look/list.js';
import { startConversation } from '../../../memory/programs/conversationStart.js';
import { boundSession, endRun, waitForPermission } from '../../../memory/programs/runEnd.js';
import { takePublished } from '../../../memory/programs/takePublished.js';
import { judge } from '../../../monitoring/terminals/judge.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { HOUR, isoTime, MINUTE, SECOND } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { memoryScene } from '../scene.js';
import { type Fields, type Publication, publish, unpublish } from './publication.js';

/** A directory with agents of which the plugin has reported nothing. */
class PublishedScene {
  /** The process table and publications are of the present. */
  readonly scene = memoryScene(new ManualClock(Date.now()));
  readonly folder = join(testFolder(), 'claude');

  constructor() {
    mkdirSync(this.scene.home, { recursive: true, mode: 0o700 });
    writeFileSync(join(this.scene.home, 'installation'), '/nowhere\n');
  }

  get variables() {
    return { CLAUDE_CONFIG_DIR: this.folder };
  }

  /** An agent that has been asked something, begun so long ago. */
  agent(conversation: string, ageMs = MINUTE, isAnswered = false): RunningAgent {
    const startedAt = Date.now() - ageMs;
    this.asks(conversation, startedAt + SECOND, isAnswered);
    const program = new RunningAgent();
    return program.as({ folder: this.folder, conversation, directory: this.scene.directory, startedAt });
  }

  asks(conversation: string, at: number, isAnswered = false): void {
    const folder = join(this.folder, 'projects', 'work');
    mkdirSync(folder, { recursive: true });
    const line = { sessionId: conversation, uuid: 'u1', isSidechain: false, cwd: this.scene.directory };
    const asked = { type: 'user', timestamp: isoTime(at), message: { role: 'user', content: 'paint the door' } };
    const message = {
      id: 'm1',
      role: 'assistant',
      content: [{ type: 'text', text: 'Done.' }],
      stop_reason: 'end_turn',
    };
    const says = { type: 'assistant', uuid: 'u2', timestamp: isoTime(at + SECOND), message };
    const records = [{ ...line, ...asked }, ...(isAnswered ? [{ ...line, ...says }] : [])];
    writeFileSync(
      join(folder, `${conversation}.jsonl`),
      records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    );
  }

  /** As each reader does. */
  open() {
    const memory = this.scene.open(this.variables);
    takePublished(memory);
    return memory;
  }

  async crashed(): Promise<string[]> {
    return (await crashesHere(this.open())).map(({ id }) => id);
  }

  async listed() {
    const unreadable = (error: Error) => {
      throw error;
    };
    const { rows } = await listSessions(this.open(), { where: 'here', which: 'all', judge, onUnreadable: unreadable });
    return rows.map(({ purpose, condition }) => ({ purpose, agent: condition.agent, liveness: condition.liveness }));
  }

  /** The hook of a program reports that the conversation begins. */
  hook(conversation: string, agent: ProcessIdentity, source: 'startup' | 'resume' = 'startup'): string {
    const memory = this.scene.open(this.variables);
    takePublished(memory, agent);
    const launch = { provider: 'claude', conversation, source, transcript: null, agent, launchedIn: null };
    const { session } = startConversation(memory, launch);
    session.log.close();
    return session.id;
  }
}

class RunningAgent {
  readonly child: ChildProcess;
  readonly process: ProcessIdentity;
  #publication: Publication | null = null;

  /** @param words behind those of a process that does nothing */
  constructor(environment: NodeJS.ProcessEnv = {}, words: readonly string[] = []) {
    const [program, ...args] =
      words.length === 0 ? ['sleep', '600'] : [process.execPath, '-e', 'setInterval(() => {}, 1e6)', '--', ...words];
    this.child = spawn(program ?? '', args, { env: { PATH: process.env.PATH, ...environment } });
    this.process = readProcessIdentity('host', this.child.pid);
    afterThisTest(() => this.kill());
  }

  as(publication: Omit<Publication, 'process'>): this {
    this.#publication = { ...publication, process: this.process };
    return this;
  }

  publishes(recorded = 'a window at work', more: Fields = {}): this {
    if (this.#publication !== null) publish(recorded, this.#publication, more);
    return this;
  }

  /** Without a word. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  /** In order. */
  async ends(): Promise<void> {
    if (this.#publication !== null) unpublish(this.#publication);
    await this.kill();
  }
}

// rule: a-crash-is-seen-without-hooks
test('a killed process that no hook has reported is a crash, and the next one is told of it', async () => {
  const place = new PublishedScene();
  const agent = place.agent('c-1').publishes();
  await agent.kill();
  const [id, ...others] = await place.crashed();
  expect(id).toMatch(/^ses_/);
  expect(others).toEqual([]);
  expect(await place.listed()).toEqual([{ purpose: 'paint the door', agent: 'crashed', liveness: 'dead' }]);
  // Another look adds nothing.
  expect(await place.crashed()).toEqual([id]);
});

test.each([
  ['.claude/settings.json', true, 0],
  ['.claude/settings.local.json', true, 0],
  ['.claude/settings.json', false, 1],
])(
  'nothing is recorded where the project says in %s whether hooks are off: %s',
  async (file, disableAllHooks, count) => {
    const place = new PublishedScene();
    mkdirSync(join(place.scene.directory, '.claude'), { recursive: true });
    writeFileSync(join(place.scene.directory, file), JSON.stringify({ disableAllHooks }));
    const agent = place.agent('c-1').publishes();
    expect(await place.listed()).toHaveLength(count);
    await agent.kill();
    expect(await place.crashed()).toHaveLength(count);
  },
);

test.each([
  ['--settings', '{"disableAllHooks":true}', 0],
  ['--settings', 'off.json', 0],
  ['--settings', '{"theme":"dark"}', 1],
  ['--resume', '{"disableAllHooks":true}', 1],
])('nothing is recorded of a run that was started with `%s %s`: %i session', async (option, value, count) => {
  const place = new PublishedScene();
  const { directory } = place.scene;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'off.json'), '{"disableAllHooks":true}');
  const startedAt = Date.now() - MINUTE;
  place.asks('c-1', startedAt + SECOND);
  const agent = new RunningAgent({}, [option, value]).as({
    ...{ folder: place.folder, conversation: 'c-1', directory, startedAt },
  });
  agent.publishes();
  expect(await place.listed()).toHaveLength(count);
});

test('a session without hooks lives while its process does, and rests after an orderly end', async () => {
  const place = new PublishedScene();
  const agent = place.agent('c-1', MINUTE, true).publishes('a window at rest');
  expect(await place.listed()).toMatchObject([{ purpose: 'paint the door', liveness: 'alive' }]);
  expect(await place.crashed()).toEqual([]);
  await agent.ends();
  expect(await place.crashed()).toEqual([]);
  expect(await place.listed()).toMatchObject([{ agent: 'ended' }]);
});

test('a session without hooks that ends in the middle of a turn was cut off', async () => {
  const place = new PublishedScene();
  const agent = place.agent('c-1').publishes();
  expect(await place.listed()).toMatchObject([{ liveness: 'alive' }]);
  await agent.ends();
  expect(await place.listed()).toMatchObject([{ agent: 'cut_off' }]);
});

test('a crash stays one when its program later sweeps away what was left behind', async () => {
  const place = new PublishedScene();
  const agent = place.agent('c-1').publishes();
  await place.listed();
  await agent.kill();
  const [id] = await place.crashed();
  expect(id).toMatch(/^ses_/);
  rmSync(join(place.folder, 'sessions'), { recursive: true });
  expect(await place.crashed()).toEqual([id]);
});

test('a process that was killed before anything of its work was written is a crash', async () => {
  const place = new PublishedScene();
  const { directory } = place.scene;
  const startedAt = Date.now() - SECOND;
  const agent = new RunningAgent().as({ folder: place.folder, conversation: 'c-1', directory, startedAt });
  await agent.publishes().kill();
  expect(await place.listed()).toMatchObject([{ purpose: '', agent: 'crashed' }]);
});

test('a process whose turn was over rests, also if its publication is left behind', async () => {
  const place = new PublishedScene();
  const agent = place.agent('c-1', MINUTE, true).publishes('a window at rest');
  await agent.kill();
  expect(await place.crashed()).toEqual([]);
  expect(await place.listed()).toMatchObject([{ agent: 'ended' }]);
});

test('a window with hooks that was killed before anything of its work was written is a crash', async () => {
  const place = new PublishedScene();
  const { directory } = place.scene;
  const agent = new RunningAgent().as({ folder: place.folder, conversation: 'c-1', directory, startedAt: Date.now() });
  const id = place.hook('c-1', agent.publishes().process);
  await agent.kill();
  expect(await place.listed()).toMatchObject([{ agent: 'crashed' }]);
  expect(await place.crashed()).toEqual([id]);
});

test('an orderly end that nobody saw begin leaves nothing', async () => {
  const place = new PublishedScene();
  await place.agent('c-1').publishes().ends();
  expect(await place.listed()).toEqual([]);
});

test('a window that has just begun is left to its hook, and a publication takes nothing from a hook', async () => {
  const place = new PublishedScene();
  const agent = place.agent('c-1', SECOND).publishes();
  expect(await place.listed()).toEqual([]);
  const id = place.hook('c-1', agent.process);
  expect(await place.listed()).toMatchObject([{ liveness: 'alive' }]);
  await agent.ends();
  // The hook at its end was not there, and what is not published any more proves no order.
  expect(await place.crashed()).toEqual([id]);
});

test('a hook that comes late takes over, and reports the end', async () => {
  const place = new PublishedScene();
  const agent = place.agent('c-1', MINUTE, true).publishes();
  expect(await place.listed()).toMatchObject([{ liveness: 'alive' }]);
  const id = place.hook('c-1', agent.process);
  const runs = () => place.open().look(id)?.log.state.runs ?? [];
  expect(runs()).toMatchObject([{ ended_at: null }]);
  expect(runs()[0]).not.toHaveProperty('published');
  const memory = place.open();
  const session = boundSession(memory, {
    provider: 'claude',
    conversation: 'c-1',
    transcript: null,
    agent: agent.process,
  });
  if (session === null) throw new Error('the session is gone');
  endRun(memory, session, agent.process, 'prompt_input_exit');
  session.log.close();
  await agent.kill();
  expect(await place.crashed()).toEqual([]);
});

test('a process without hooks that resumes a crashed conversation is at work on it', async () => {
  const place = new PublishedScene();
  const first = place.agent('c-1').publishes();
  await first.kill();
  const [id] = await place.crashed();
  const second = new RunningAgent().as({
    ...{ folder: place.folder, conversation: 'c-1', directory: place.scene.directory, startedAt: Date.now() },
  });
  second.publishes();
  expect(await place.crashed()).toEqual([]);
  expect(await place.listed()).toMatchObject([{ liveness: 'alive' }]);
  await second.kill();
  expect(await place.crashed()).toEqual([id]);
});

test('what an older process left behind says nothing of a conversation that was resumed since', async () => {
  const place = new PublishedScene();
  const first = place.agent('c-1', MINUTE, true).publishes();
  await first.kill();
  const second = new RunningAgent();
  const id = place.hook('c-1', second.process, 'resume');
  expect(await place.crashed()).toEqual([]);
  const memory = place.open();
  memory.sessions.withSession(id, (session) => endRun(memory, session, second.process, 'prompt_input_exit'));
  await second.kill();
  expect(await place.crashed()).toEqual([]);
});

test.each<[string, Fields, string?]>([
  ['of another host', { pidDomain: `linux:${'1'.repeat(32)}:pid:[4026531836]` }],
  ['of another container', { pidDomain: 'linux:00000000000000000000000000000000:pid:[1]' }],
  ['of a program that runs agents', { entrypoint: 'sdk-ts' }],
  ['of an agent that was never asked anything', { sessionId: 'c-2', status: 'idle' }],
  ['of another conversation in a path', { sessionId: '../../work/c-1', status: 'idle' }],
])('what is published %s begins no session', async (_, more) => {
  const place = new PublishedScene();
  const agent = place.agent('c-1').publishes('a window at work', more);
  expect(await place.listed()).toEqual([]);
  await agent.kill();
  expect(await place.listed()).toEqual([]);
});

test('what was left behind two days ago, or without the plugin, begins no session', async () => {
  const place = new PublishedScene();
  await place
    .agent('c-1', 49 * HOUR)
    .publishes()
    .kill();
  expect(await place.listed()).toEqual([]);
  await place.agent('c-1', MINUTE).publishes().kill();
  rmSync(join(place.scene.home, 'installation'));
  expect(await place.listed()).toEqual([]);
});

test('a run of a bridge is none of a terminal', async () => {
  const place = new PublishedScene();
  place.asks('c-1', Date.now() - MINUTE);
  const agent = new RunningAgent({ WATCHKEEPER_RUN: 'r-1' });
  agent
    .as({ folder: place.folder, conversation: 'c-1', directory: place.scene.directory, startedAt: Date.now() - MINUTE })
    .publishes();
  expect(await place.listed()).toEqual([]);
});

test('a pid that another process has now is dead, and one of an earlier boot is, too', async () => {
  const place = new PublishedScene();
  place.agent('c-1').publishes('a window at work', { procStart: '1' });
  expect(await place.listed()).toMatchObject([{ agent: 'crashed' }]);
  const other = new PublishedScene();
  const yesterday = Date.now() - 47 * HOUR;
  other.agent('c-1').publishes('a window at work', { startedAt: yesterday, statusUpdatedAt: yesterday });
  expect(await other.listed()).toMatchObject([{ agent: 'crashed' }]);
});

test('after /clear without hooks the session has both conversations', async () => {
  const place = new PublishedScene();
  const agent = place.agent('c-1').publishes();
  expect(await place.listed()).toHaveLength(1);
  place.asks('c-2', Date.now());
  agent.publishes('a window at work', { sessionId: 'c-2' });
  expect(await place.listed()).toMatchObject([{ liveness: 'alive' }]);
  await agent.kill();
  expect(await place.listed()).toMatchObject([{ agent: 'crashed' }]);
});

/** A dialog that its hook has reported, and what its program publishes some time later. */
function answeredAfter(statusMs: number, recorded: string): { readonly waits: number; readonly end: string | null } {
  const scene = new PublishedScene();
  const agent = scene.agent('c1');
  const id = scene.hook('c1', agent.process);
  const since = scene.scene.clock.now();
  const memory = scene.scene.open(scene.variables);
  const session = memory.sessions.open(id);
  if (session === null) throw new Error('the session is gone');
  waitForPermission(memory, session, { tool: 'Bash', inputDigest: null, subAgent: null });
  session.log.close();
  agent.publishes(recorded, { statusUpdatedAt: since + statusMs });
  const worklog = worklogIn(scene.open().places.sessionFolder(id));
  const end = readFileSync(worklog, 'utf8').match(/.*"wait_end".*/)?.[0] ?? null;
  const timestamp = end === null ? null : JSON.parse(end).timestamp;
  const waits = scene.open().look(id)?.log.state.waits.size ?? -1;
  return { waits, end: timestamp === null ? null : `${Date.parse(timestamp) - since}` };
}

// rule: a-granted-permission-is-work
test('a dialog is over once its program publishes that it works, from then on; a word from before it says nothing', () => {
  expect(answeredAfter(40 * SECOND, 'a window at work')).toEqual({ waits: 0, end: '40000' });
  expect(answeredAfter(40 * SECOND, 'a window at rest')).toEqual({ waits: 0, end: '40000' });
  // The person was faster than the hook.
  expect(answeredAfter(-SECOND, 'a window at work')).toEqual({ waits: 0, end: '0' });
  expect(answeredAfter(-MINUTE, 'a window at work')).toEqual({ waits: 1, end: null });
  expect(answeredAfter(40 * SECOND, 'a permission dialog')).toEqual({ waits: 1, end: null });
});
