/**
 * Mornings: what happened in a directory the day before, and what the next agent, and its person, should hear of first. Each was written
 * down before the program answered.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type WorklogLine, worklogKind } from '../../memory/fold/rules/kind.js';
import { keepSession } from '../../memory/keeping/keep.js';
import { type Launch, startConversation } from '../../memory/programs/conversationStart.js';
import { type GivenContext, noteGiven } from '../../memory/programs/delegatedContext.js';
import { endRun } from '../../memory/programs/runEnd.js';
import { startContext } from '../../memory/programs/sessionContext.js';
import type { Memory } from '../../memory/sessions/memory.js';
import { type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import { HOUR, isoTime, MINUTE, SECOND } from '../../src/time.js';
import { memoryScene } from '../memory/scene.js';

/** `orderly`: the person left it after its answer, or whatever came last. `window`: the terminal was closed. `kill`: nothing says why. */
type End = 'orderly' | 'window' | 'kill' | 'host' | 'alive';
type Record = { readonly [field: string]: unknown };

const HERE = readProcessIdentity('host');
/** A process that lives as long as the test. */
const OTHER = readProcessIdentity('host', process.ppid);

export const asks = (text: string): Record => ({ type: 'user', message: { role: 'user', content: text } });
export const says = (text: string): Record => ({
  type: 'assistant',
  message: { id: `m-${text}`, role: 'assistant', content: [{ type: 'text', text }], stop_reason: 'end_turn' },
});
let calls = 0;
export const call = (name: string, input: object): Record => ({
  type: 'assistant',
  message: {
    ...{ id: `c${++calls}`, role: 'assistant', stop_reason: 'tool_use' },
    content: [{ type: 'tool_use', id: `t${calls}`, name, input }],
  },
});
export const result = (text = 'done', isError = false): Record => ({
  type: 'user',
  message: {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: `t${calls}`, content: text, ...(isError && { is_error: true }) }],
  },
});

/** A directory, and the agents that worked in it. */
export class Morning {
  readonly #scene = memoryScene();
  readonly ids = new Map<string, string>();
  #count = 0;

  path(name: string): string {
    return join(this.#scene.directory, name);
  }

  /** A question that is answered in words. */
  async chat(label: string, end: End = 'orderly'): Promise<void> {
    await this.session(label, [asks(`What is ${label}?`), says(`${label} is a thing.`)], end);
  }

  async chats(count: number): Promise<void> {
    for (let number = 1; number <= count; number += 1) await this.chat(`chat ${number}`);
  }

  /** A window in which nothing is asked: its program writes no transcript. */
  async unasked(label: string, end: End): Promise<void> {
    await this.session(label, [], end);
  }

  /** Work that stops in the middle of writing a file. */
  async halfWritten(label: string, end: End): Promise<void> {
    const file = `${label.replaceAll(' ', '-')}.ts`;
    writeFileSync(this.path(file), 'half of it');
    const input = { file_path: this.path(file), content: 'half of it' };
    await this.session(
      label,
      [asks(label), call('Write', input), result(), call('Bash', { command: 'npm test' })],
      end,
    );
  }

  /** Another agent writes the file of a label again. */
  async finishes(label: string, of: string, end: End = 'orderly', source: Launch['source'] = 'startup'): Promise<void> {
    const file = this.path(`${of.replaceAll(' ', '-')}.ts`);
    writeFileSync(file, 'the whole of it');
    const records = [asks(label), call('Write', { file_path: file, content: 'the whole of it' }), result()];
    await this.session(label, end === 'kill' ? records : [...records, says('It is whole.')], end, source);
  }

  /** Another agent's command writes it again. */
  async finishesInShell(label: string, of: string, end: End = 'orderly'): Promise<void> {
    const name = `${of.replaceAll(' ', '-')}.ts`;
    writeFileSync(this.path(name), 'the whole of it');
    const records = [asks(label), call('Bash', { command: `make > ${name}` }), result()];
    await this.session(label, end === 'kill' ? records : [...records, says('It is whole.')], end);
  }

  /** Its conversation is resumed for a question. */
  async asksMore(label: string): Promise<void> {
    await this.session(label, [asks('What is rain?'), says('Water.')], 'orderly', 'resume');
  }

  /** Its conversation is resumed, and left without a word. */
  async looksAgain(label: string): Promise<void> {
    await this.session(label, [], 'orderly', 'resume');
  }

  /** An agent whose window was open before does so. */
  async alsoFinishes(label: string, of: string): Promise<void> {
    const file = this.path(`${of.replaceAll(' ', '-')}.ts`);
    const write = call('Write', { file_path: file, content: 'the whole of it' });
    await this.#write(label, [asks('Write it'), write, result(), says('It is whole.')]);
    await this.#scene.clock.advance(MINUTE);
  }

  /** Another agent's command deletes it, as its program lists it. */
  async deletes(label: string, of: string): Promise<void> {
    const file = this.path(`${of.replaceAll(' ', '-')}.ts`);
    rmSync(file);
    const bashEditDiff = { files: [{ filePath: file, deleted: true }] };
    const done = { ...result(), toolUseResult: { stdout: '', bashEditDiff } };
    await this.session(label, [asks(label), call('Bash', { command: `git rm ${file}` }), done, says('It is gone.')]);
  }

  /** A person commits all that there is. */
  commit(): void {
    this.git('init', '-q');
    this.git('add', '.');
    this.git('commit', '-qm', 'Keep it');
  }

  /** A person runs git, at the time of the clock. */
  git(...words: readonly string[]): void {
    const date = isoTime(this.#scene.clock.now());
    const identity = ['-c', 'user.name=P', '-c', 'user.email=p@example.org', '-c', 'init.defaultBranch=main'];
    execFileSync('git', [...identity, ...words], {
      cwd: this.#scene.directory,
      env: { ...process.env, GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date },
    });
  }

  remove(file: string): void {
    rmSync(this.path(file));
  }

  /** As a command of a person sees it. */
  open(): Memory {
    return this.#scene.open();
  }

  /** Work that stops while a command runs, without a file. */
  async running(label: string, end: End): Promise<void> {
    await this.session(label, [asks(label), call('Bash', { command: 'npm test' })], end);
  }

  /** A person stops it at work, with Esc. @param then what comes of it */
  async stopped(label: string, then: readonly Record[] = []): Promise<void> {
    const write = call('Write', { file_path: this.path('stopped.ts'), content: 'x' });
    const stop = asks('[Request interrupted by user for tool use]');
    await this.session(label, [asks(label), write, result(), call('Bash', { command: 'npm test' }), stop, ...then]);
  }

  /** Answered, with tasks left open. */
  async withTasks(label: string, end: End = 'orderly'): Promise<void> {
    const todos = [
      { content: 'Write it', status: 'completed', activeForm: 'Writing' },
      { content: 'Test it', status: 'pending', activeForm: 'Testing' },
    ];
    await this.session(label, [asks(label), call('TodoWrite', { todos }), result(), says('Half of it is there.')], end);
  }

  async withFailedCall(label: string): Promise<void> {
    const test = call('Bash', { command: 'npm test' });
    await this.session(label, [asks(label), test, result('Exit code 1\n3 failed', true), says('Three tests fail.')]);
  }

  /** Its model refuses in the middle of the work, as without credit. */
  async refused(label: string, why: string): Promise<void> {
    const write = call('Write', { file_path: this.path('refused.ts'), content: 'x' });
    const error = { ...says(why), isApiErrorMessage: true, error: 'billing_error' };
    await this.session(label, [asks(label), write, result(), error]);
  }

  async finished(label: string): Promise<void> {
    const input = { file_path: this.path('done.ts'), content: 'x' };
    await this.session(label, [asks(label), call('Write', input), result(), says('It is done.')]);
  }

  /** A person declares a piece of work, and leaves it. */
  async declared(label: string): Promise<void> {
    const memory = this.#scene.open();
    const fields = { purpose: label, fields: {}, plan: [], concurrent: true };
    const { id, log } = memory.lifecycle.begin(memory.workspace, fields);
    log.close();
    this.ids.set(label, id);
    await this.#scene.clock.advance(MINUTE);
  }

  /**
   * @param source of the conversation; `resume` takes the conversation of the label again
   * @param declared before its first record
   */
  async session(
    label: string,
    records: readonly Record[],
    end: End = 'orderly',
    source: Launch['source'] = 'startup',
    declared: readonly WorklogLine[] = [],
  ) {
    this.#count += 1;
    const conversation = conversationOf(label);
    const agent = this.#agent(end);
    const transcript = this.#transcriptOf(label);
    const launch: Launch = { provider: 'claude', conversation, source, transcript, agent, launchedIn: null };
    const given = await this.#started(launch);
    this.ids.set(label, given.id);
    if (declared.length > 0) this.#scene.open().sessions.addFacts(given.id, [...declared]);
    await this.#write(label, records);
    await this.#ended(given.id, agent, end);
    await this.#scene.clock.advance(MINUTE);
    return given;
  }

  async #write(label: string, records: readonly Record[]): Promise<void> {
    const { clock, directory: cwd } = this.#scene;
    const sessionId = conversationOf(label);
    let text = '';
    for (const record of records) {
      const more = { sessionId, uuid: `u${this.#count}-${clock.now()}`, isSidechain: false };
      text += `${JSON.stringify({ ...more, cwd, timestamp: isoTime(clock.now()), ...record })}\n`;
      await clock.advance(SECOND);
    }
    if (text !== '') writeFileSync(this.#transcriptOf(label), text, { flag: 'a' });
  }

  #transcriptOf(label: string): string {
    mkdirSync(join(this.#scene.home, '..'), { recursive: true });
    return join(this.#scene.home, '..', `${conversationOf(label).replaceAll(' ', '-')}.jsonl`);
  }

  async #ended(id: string, agent: ProcessIdentity, end: End): Promise<void> {
    if (end !== 'orderly' && end !== 'window') return;
    const memory = this.#scene.open();
    const session = memory.sessions.open(id);
    if (session === null) throw new Error(`there is no session ${id}`);
    endRun(memory, session, agent, end === 'window' ? 'other' : 'prompt_input_exit');
    await keepSession(memory, session, Number.POSITIVE_INFINITY);
    session.log.close();
  }

  #agent(end: End): ProcessIdentity {
    if (end === 'alive') return OTHER;
    const gone = { ...HERE, pid_start: `${this.#count}` };
    return end === 'host' ? { ...gone, boot_id: 'the-boot-before' } : gone;
  }

  /** As one hook does it: binds, tells, and notes what was told. */
  async #started(launch: Launch): Promise<GivenContext & { readonly id: string }> {
    const memory = this.#scene.open();
    const started = startConversation(memory, launch);
    const given = await startContext(memory, started, launch);
    noteGiven(memory, started.session, given);
    started.session.log.close();
    return { ...given, id: started.session.id };
  }

  note(label: string, text: string): void {
    const memory = this.#scene.open();
    memory.sessions.addFacts(this.ids.get(label) ?? '', [worklogKind.line('note', { text, priority: 'high' })]);
  }

  /** Work by a plan, which its agent declares and keeps as its own list, too; killed in the second step. */
  async planned(label: string, titles: readonly string[]): Promise<void> {
    const list = titles.flatMap((subject) => [call('TaskCreate', { subject, description: subject }), result()]);
    const todos = titles.map((content, index) => ({ content, status: index === 0 ? 'completed' : 'pending' }));
    const kept = [...list, call('TodoWrite', { todos }), result()];
    const failed = [call('Bash', { command: 'npm run a-long-check' }), result('Exit code 1\n3 failed', true)];
    const step = (index: number) => ({ step: `${index + 1}` });
    const declared = [
      ...titles.map((title, index) => worklogKind.line('step_added', { ...step(index), title })),
      ...(['in_progress', 'completed'] as const).map((to) => worklogKind.line('step', { ...step(0), to })),
      worklogKind.line('step', { ...step(1), to: 'in_progress' }),
    ];
    const records = [asks(label), ...kept, ...failed, call('Bash', { command: 'npm run the-server' })];
    await this.session(label, records, 'kill', 'startup', declared);
  }

  async rest(hours: number): Promise<void> {
    await this.#scene.clock.advance(hours * HOUR);
  }

  /** @returns what a new window is told the next day */
  async next(): Promise<GivenContext> {
    await this.#scene.clock.advance(12 * HOUR);
    const launch = { provider: 'claude', conversation: 'next', source: 'startup', transcript: null } as const;
    return this.#started({ ...launch, agent: HERE, launchedIn: null });
  }
}

const conversationOf = (label: string) => `c-${label}`;

export interface Story {
  readonly day: (morning: Morning) => Promise<void>;
  /** Which session the next agent should be told of first, by its label. Null if nothing is unfinished. */
  readonly first: string | null;
  /** What the person should see: `crashed`, `cut off`, or nothing. */
  readonly person: 'crashed' | 'cut off' | null;
  /** Words that the agent must hear besides. */
  readonly also?: readonly string[];
}

const FINISHED = 'Nothing is unfinished in this directory, but 1 session whose files another agent has finished since.';

export const STORIES: Readonly<{ [name: string]: Story }> = {
  'nothing but a chat': { day: (m) => m.chat('rain'), first: null, person: null },
  'fifty chats': { day: (m) => m.chats(50), first: null, person: null },
  'work that is finished, then a chat': {
    day: async (m) => {
      await m.finished('Add a flag');
      await m.chat('rain');
    },
    first: null,
    person: null,
  },
  'a killed agent, then one chat': {
    day: async (m) => {
      await m.halfWritten('Migrate the database', 'kill');
      await m.chat('rain');
    },
    first: 'Migrate the database',
    person: 'crashed',
    also: ['Migrate-the-database.ts'],
  },
  'a killed agent, then fifty chats': {
    day: async (m) => {
      await m.halfWritten('Migrate the database', 'kill');
      await m.chats(50);
    },
    first: 'Migrate the database',
    person: 'crashed',
    also: ['Migrate-the-database.ts'],
  },
  'a killed agent whose work another one has finished': {
    day: async (m) => {
      await m.halfWritten('Fix the login', 'kill');
      await m.finishes('Finish the login', 'Fix the login');
      await m.chat('rain');
    },
    first: null,
    person: null,
    also: [FINISHED],
  },
  'a killed agent whose work another one has finished, beside half a module': {
    day: async (m) => {
      await m.withTasks('Write the module');
      await m.halfWritten('Fix the login', 'kill');
      await m.finishes('Finish the login', 'Fix the login');
      await m.chat('rain');
    },
    first: 'Write the module',
    person: null,
  },
  'a killed agent whose work another one has finished, and whose conversation was resumed for a question': {
    day: async (m) => {
      await m.halfWritten('Fix the login', 'kill');
      await m.finishes('Finish the login', 'Fix the login');
      await m.asksMore('Fix the login');
      await m.chat('snow');
    },
    first: null,
    person: null,
    also: [FINISHED],
  },
  'a killed agent whose work another one has finished, and whose conversation was resumed and left without a word': {
    day: async (m) => {
      await m.halfWritten('Fix the login', 'kill');
      await m.finishes('Finish the login', 'Fix the login');
      await m.looksAgain('Fix the login');
      await m.chat('snow');
    },
    first: null,
    person: null,
    also: [FINISHED],
  },
  'a killed agent whose work another one has finished, and that was killed again at a new task': {
    day: async (m) => {
      await m.halfWritten('Fix the login', 'kill');
      await m.finishes('Finish the login', 'Fix the login');
      await m.session(
        'Fix the login',
        [asks('Run the tests'), call('Bash', { command: 'npm test' })],
        'kill',
        'resume',
      );
      await m.chat('snow');
    },
    first: 'Fix the login',
    person: 'crashed',
    also: ['Run the tests'],
  },
  'two killed agents: an open window was told of one, and another agent has finished the other': {
    day: async (m) => {
      await m.halfWritten('Fix the login', 'kill');
      await m.halfWritten('Write the parser', 'kill');
      await m.chat('rain', 'alive');
      await m.finishes('Finish the login', 'Fix the login');
      await m.chat('snow');
    },
    first: null,
    person: null,
    also: ['which still runs, was told of it'],
  },
  'a killed agent that no other was told of, and whose file a resumed conversation has written': {
    day: async (m) => {
      await m.chat('rain');
      await m.halfWritten('Fix the login', 'kill');
      await m.finishes('rain', 'Fix the login', 'orderly', 'resume');
    },
    first: 'Fix the login',
    person: 'crashed',
    also: ['written since by the agent of session'],
  },
  'a killed agent that one other was told of, and whose file a resumed conversation has written': {
    day: async (m) => {
      await m.chat('rain');
      await m.halfWritten('Fix the login', 'kill');
      await m.finishes('rain', 'Fix the login', 'orderly', 'resume');
      await m.chats(2);
    },
    first: null,
    person: null,
    also: [FINISHED],
  },
  'a window closed in the middle of a write, then one chat': {
    day: async (m) => {
      await m.halfWritten('Rename the module', 'window');
      await m.chat('rain');
    },
    first: 'Rename the module',
    person: 'cut off',
    also: ['Rename-the-module.ts'],
  },
  'a window closed while the tests ran, then fifty chats': {
    day: async (m) => {
      await m.running('Run the tests', 'window');
      await m.chats(50);
    },
    first: 'Run the tests',
    person: 'cut off',
  },
  'a window closed in the middle of a write, and its conversation taken up for one question': {
    day: async (m) => {
      await m.halfWritten('Rename the module', 'window');
      await m.asksMore('Rename the module');
      await m.chat('snow');
    },
    first: 'Rename the module',
    person: null,
    also: ['Rename-the-module.ts', 'cut off in the middle of a turn'],
  },
  'work that its person stopped and left, then ten chats': {
    day: async (m) => {
      await m.stopped('Split the package');
      await m.chats(10);
    },
    first: 'Split the package',
    person: null,
    also: ['a person stopped it'],
  },
  'work that its person stopped and corrected until it was answered, then a chat': {
    day: async (m) => {
      await m.stopped('Split the package', [asks('Leave it in one.'), says('It stays in one.')]);
      await m.chat('rain');
    },
    first: null,
    person: null,
  },
  'work that its person stopped, and stopped again before the correction was begun': {
    day: async (m) => {
      await m.stopped('Split the package', [asks('No, rather'), asks('[Request interrupted by user]')]);
      await m.chat('rain');
    },
    first: 'Split the package',
    person: null,
    also: ['a person stopped it'],
  },
  'a question that its person stopped before any work was done': {
    day: async (m) => {
      await m.session('What is hail?', [asks('What is hail?'), asks('[Request interrupted by user]')]);
    },
    first: null,
    person: null,
  },
  'tasks left open, then ten chats': {
    day: async (m) => {
      await m.withTasks('Write the parser');
      await m.chats(10);
    },
    first: 'Write the parser',
    person: null,
    also: ['Test it'],
  },
  'tests that fail at the end, then a chat': {
    day: async (m) => {
      await m.withFailedCall('Make the tests green');
      await m.chat('rain');
    },
    first: 'Make the tests green',
    person: null,
  },
  'a model that refused in the middle of the work, then ten chats': {
    day: async (m) => {
      await m.refused('Write the parser', 'Credit balance is too low');
      await m.chats(10);
    },
    first: 'Write the parser',
    person: null,
    also: ['Its last turn ended: with an error, "Credit balance is too low".'],
  },
  'declared work, then ten chats': {
    day: async (m) => {
      await m.declared('Plan the release');
      await m.chats(10);
    },
    first: 'Plan the release',
    person: null,
  },
  'a half-written file before an open turn': {
    day: async (m) => {
      await m.halfWritten('Write the parser', 'window');
      await m.running('Run the tests', 'window');
    },
    first: 'Write the parser',
    person: 'cut off',
    also: ['1 more unfinished session of this directory (1 crashed or was cut off)'],
  },
  'an open turn before open tasks': {
    day: async (m) => {
      await m.running('Run the tests', 'kill');
      await m.withTasks('Write the parser');
    },
    first: 'Run the tests',
    person: 'crashed',
  },
  'open tasks before a failed call': {
    day: async (m) => {
      await m.withTasks('Write the parser');
      await m.withFailedCall('Make the tests green');
    },
    first: 'Write the parser',
    person: null,
  },
  'a failed call before what was only declared': {
    day: async (m) => {
      await m.withFailedCall('Make the tests green');
      await m.declared('Plan the release');
    },
    first: 'Make the tests green',
    person: null,
  },
  'a host that was started again, with idle windows and one at work': {
    day: async (m) => {
      await m.halfWritten('Write the parser', 'host');
      await m.chat('rain', 'host');
      await m.chat('snow', 'host');
    },
    first: 'Write the parser',
    person: 'crashed',
  },
  'a host that was started again, with idle windows alone': {
    day: async (m) => {
      await m.unasked('a new window', 'host');
      await m.chat('rain', 'host');
      await m.chat('snow', 'host');
    },
    first: null,
    person: null,
  },
  'a window that had answered was killed, and another one was closed at work': {
    day: async (m) => {
      await m.running('Run the tests', 'window');
      await m.chat('rain', 'kill');
    },
    first: 'Run the tests',
    person: 'cut off',
  },
  'two killed agents: the one that was writing comes first': {
    day: async (m) => {
      await m.halfWritten('Write the parser', 'kill');
      await m.running('Run the tests', 'kill');
    },
    first: 'Write the parser',
    person: 'crashed',
  },
  'a killed agent whose conversation was resumed, and answered': {
    day: async (m) => {
      await m.halfWritten('Write the parser', 'kill');
      const read = call('Read', { file_path: m.path('Write-the-parser.ts') });
      await m.session('Write the parser', [asks('Go on'), read, result(), says('It is whole.')], 'orderly', 'resume');
      await m.chat('rain');
    },
    first: null,
    person: null,
  },
  'an agent at work in another window': {
    day: async (m) => {
      await m.running('Run the tests', 'alive');
    },
    first: null,
    person: null,
    also: ['Another agent is at work in this directory', 'Run the tests'],
  },
  'an agent in another window whose first order is done, and a later one is not': {
    day: async (m) => {
      const fix = [asks('Fix the lock'), call('Bash', { command: 'npm test' })];
      await m.session('Paint the door', [asks('Paint the door'), says('It is green.'), ...fix], 'alive');
    },
    first: null,
    person: null,
    also: ['"Paint the door"; it was last asked: "Fix the lock"'],
  },
  'a killed agent, of which a window that is still open was told': {
    day: async (m) => {
      await m.halfWritten('Write the parser', 'kill');
      await m.chat('rain', 'alive');
    },
    first: null,
    person: null,
    also: ['which still runs, was told of it', 'track resume'],
  },
};
