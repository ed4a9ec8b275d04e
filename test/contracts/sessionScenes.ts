/** Sessions of terminals, each in another condition, as hooks, people and watchers leave them behind. */
import { appendFileSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command as track } from '../../bridge/cli/track/track.js';
import { command as work } from '../../bridge/cli/work/work.js';
import type { Command } from '../../bridge/command/command.js';
import { startConversation } from '../../memory/programs/conversationStart.js';
import { endRun, waitForPermission } from '../../memory/programs/runEnd.js';
import { takePublished } from '../../memory/programs/takePublished.js';
import { Memory } from '../../memory/sessions/memory.js';
import type { OpenSession } from '../../memory/sessions/sessions.js';
import { type ProcessIdentity, readProcessIdentity } from '../../src/host/identity.js';
import { redactShapes } from '../../src/log/redact.js';
import { HOUR, isoTime, MINUTE, SECOND, systemClock } from '../../src/time.js';
import { runCommand } from '../bridge/cli/inProcess.js';
import { testFolder } from '../harness/folder.js';
import { publish } from '../memory/published/publication.js';
import { asks, calls, codex, type Fields, returns, START, says, transcript } from '../src/transcripts/told.js';

const HERE = readProcessIdentity('host');
/** Of another boot, so it is dead. */
const DEAD: ProcessIdentity = { ...HERE, boot_id: 'another', pid_start: '1' };
/** No process has such a pid. */
const GONE: ProcessIdentity = { ...HERE, pid: 99_999_999, pid_start: '1' };
const FAR: ProcessIdentity = { ...HERE, host: 'other', boot_id: 'other' };
const CONVERSATION = 'c1';
const STUCK = 'The agent said nothing for 30 minutes.';

/** A home with one session, and the directory in which its agent works. */
export class SessionScene {
  readonly folder = realpathSync(testFolder());
  readonly home = join(this.folder, 'home');
  readonly directory = join(this.folder, 'work');
  /** In which Claude Code keeps its files. */
  readonly programs = join(this.folder, 'claude');
  id = '';
  #notices = 0;

  constructor() {
    mkdirSync(this.directory);
  }

  get surroundings() {
    const variables = { WATCHKEEPER_HOME: this.home, CLAUDE_CONFIG_DIR: this.programs };
    return { directory: this.directory, process: HERE, variables };
  }

  /** Opens the memory as a hook does. */
  open(): Memory {
    return new Memory({
      surroundings: this.surroundings,
      folder: null,
      clock: systemClock,
      redact: redactShapes,
      origin: 'program',
    });
  }

  /**
   * The hook of an agent begins the session.
   * @param published if it is no hook, but what its program publishes
   */
  begins(
    agent: ProcessIdentity,
    records: readonly Fields[],
    published?: 'live',
    conversation = CONVERSATION,
    provider = 'claude',
  ): void {
    const path = transcript(records, `${provider === 'codex' ? 'rollout-' : ''}${conversation}.jsonl`);
    const launch = { provider, conversation, source: 'startup', launchedIn: null } as const;
    const { session } = startConversation(this.open(), { ...launch, transcript: path, agent, published });
    session.log.close();
    this.id = session.id;
  }

  /** Acts on the session as another process would. */
  in(act: (memory: Memory, session: OpenSession) => void): void {
    const memory = this.open();
    const session = memory.sessions.open(this.id);
    if (session === null) throw new Error(`there is no session ${this.id}`);
    act(memory, session);
    session.log.close();
  }

  /** The launcher of a hook has noted that the program ends, and no process has recorded it. */
  noted({ pid, pid_start, boot_id }: ProcessIdentity): void {
    const payload = { hook_event_name: 'SessionEnd', session_id: CONVERSATION, cwd: this.directory, reason: 'other' };
    const folder = join(this.home, 'spool');
    mkdirSync(folder, { mode: 0o700 });
    const entry = `1 ${boot_id} ${pid}:${pid_start}\n${JSON.stringify(payload)}\n`;
    writeFileSync(join(folder, '1'), entry, { mode: 0o600 });
  }

  /** A watcher has noticed it. */
  noticed(ago: number, rule = 'silence'): void {
    this.#notices += 1;
    const line = { event: 'notice', rule, since: isoTime(Date.now() - ago), sentence: STUCK };
    this.line({ ...line, id: `n${this.#notices}`, timestamp: isoTime(Date.now() - ago) });
  }

  /** Its program publishes its state. */
  publishes(recorded: string, process: ProcessIdentity, ageMs: number): void {
    const at = Date.now() - ageMs;
    // A start before the boot of this host, which may be minutes ago, would be of another process.
    const published = { conversation: CONVERSATION, directory: this.directory, startedAt: Date.now(), statusAt: at };
    publish(recorded, { ...published, folder: this.programs, process });
  }

  /** The plugin is installed, but no hook has reported anything of an agent that was killed. */
  isLeftBehind(records: readonly Fields[]): void {
    mkdirSync(join(this.programs, 'projects', 'work'), { recursive: true });
    const text = readFileSync(transcript(records, `${CONVERSATION}.jsonl`), 'utf8');
    writeFileSync(join(this.programs, 'projects', 'work', `${CONVERSATION}.jsonl`), text);
    mkdirSync(this.home, { mode: 0o700 });
    this.installed();
    this.publishes('a window at work', GONE, MINUTE);
    takePublished(this.open());
    this.id = this.open().sessions.ids()[0] ?? '';
  }

  installed(): void {
    writeFileSync(join(this.home, 'installation'), '/nowhere\n');
  }

  line(fields: Fields): void {
    const written = { v: 1, origin: 'watchkeeper', session_id: this.id, ...fields };
    this.append(`${JSON.stringify(written)}\n`);
  }

  append(text: string): void {
    appendFileSync(join(this.home, 'sessions', this.id, 'worklog.jsonl'), text);
  }

  async say(command: Command, ...args: readonly string[]): Promise<void> {
    const { code, err } = await runCommand(command, args, { surroundings: this.surroundings });
    if (code !== 0) throw new Error(err);
  }
}

/** In the seconds of the transcripts of tests. */
const ago = (ms: number) => (Date.now() - ms - START) / SECOND;
/** An agent whose last call has returned so long ago, and which owes an answer. */
const working = (since: number) => [...calling(since), returns(ago(since), 't1')];
const answeredByCodex = (since: number) => [
  codex(ago(since + MINUTE), 'session_meta', { id: CONVERSATION, source: 'cli' }),
  codex(ago(since + MINUTE), 'event_msg', { type: 'task_started' }),
  codex(ago(since + MINUTE), 'event_msg', { type: 'user_message', message: 'Paint the door' }),
  codex(ago(since), 'event_msg', { type: 'agent_message', message: 'It is green.' }),
  codex(ago(since), 'event_msg', { type: 'task_complete', last_agent_message: 'It is green.' }),
];
const calling = (since: number) => [asks(ago(since + MINUTE), 'Paint the door'), calls(ago(since), 't1', 'Bash')];
const answered = (since: number) => [
  asks(ago(since + MINUTE), 'Paint the door'),
  says(ago(since), 'Done.', 'end_turn'),
];

/** What happens before anything is asked, by scene. */
export const SCENES: Readonly<Record<string, (scene: SessionScene) => void | Promise<void>>> = {
  planned: async (scene) => {
    let said = '';
    const heard = (text: string) => {
      said += text;
    };
    const args = ['init', 'Paint the door', '--step', 'Sand it', '--json'];
    await runCommand(track, args, { surroundings: scene.surroundings, heard });
    scene.id = JSON.parse(said).session_id;
  },
  alive: (scene) => scene.begins(HERE, []),
  'at work': (scene) => scene.begins(HERE, working(5 * SECOND)),
  'in a tool': (scene) => scene.begins(HERE, calling(5 * SECOND)),
  'waiting for a person': (scene) => {
    scene.begins(HERE, calling(5 * SECOND));
    scene.in((memory, session) =>
      waitForPermission(memory, session, { tool: 'Bash', inputDigest: null, subAgent: null }),
    );
  },
  'waits for a person for long, as its program publishes': (scene) => {
    scene.begins(HERE, calling(HOUR));
    scene.publishes('a permission dialog', HERE, HOUR);
  },
  'works, as its program publishes': (scene) => {
    scene.begins(HERE, working(5 * SECOND));
    scene.publishes('a window at work', HERE, HOUR);
  },
  'works on after a person has answered, as its program publishes': (scene) => {
    scene.begins(HERE, calling(5 * SECOND));
    scene.in((memory, session) =>
      waitForPermission(memory, session, { tool: 'Bash', inputDigest: null, subAgent: null }),
    );
    scene.installed();
    scene.publishes('a window at work', HERE, 0);
  },
  'is asked again, as its program publishes': (scene) => {
    scene.begins(HERE, calling(5 * SECOND));
    scene.in((memory, session) =>
      waitForPermission(memory, session, { tool: 'Bash', inputDigest: null, subAgent: null }),
    );
    scene.installed();
    scene.publishes('a permission dialog', HERE, 0);
  },
  'killed without hooks': (scene) => scene.isLeftBehind(working(HOUR)),
  'ended without hooks': (scene) => scene.begins(GONE, answered(HOUR), 'live'),
  'has answered': (scene) => scene.begins(HERE, answered(5 * SECOND)),
  stuck: (scene) => {
    scene.begins(HERE, working(HOUR));
    scene.noticed(30 * MINUTE);
  },
  'stuck, and no watcher has noticed': (scene) => scene.begins(HERE, working(HOUR)),
  'noticed in a session without an agent': async (scene) => {
    await SCENES.planned?.(scene);
    scene.noticed(0);
  },
  'works again without an agent, and no watcher has closed the notice': async (scene) => {
    await SCENES['noticed in a session without an agent']?.(scene);
    await scene.say(track, 'note', 'Sanded', '--session', scene.id);
  },
  excused: async (scene) => {
    scene.begins(HERE, working(HOUR));
    scene.noticed(30 * MINUTE);
    await scene.say(track, 'ping', '--for', '30m', '--session', scene.id);
  },
  'excused, and no watcher has noticed': async (scene) => {
    scene.begins(HERE, working(HOUR));
    await scene.say(track, 'ping', '--for', '30m', '--session', scene.id);
  },
  'noticed for its failures, and silence is excused': async (scene) => {
    scene.begins(HERE, working(5 * MINUTE));
    scene.noticed(2 * MINUTE, 'error_cascade');
    await scene.say(track, 'ping', '--for', '30m', '--session', scene.id);
  },
  'works again, and no watcher has closed the notice': (scene) => {
    scene.begins(HERE, working(5 * SECOND));
    scene.noticed(30 * MINUTE);
  },
  crashed: (scene) => scene.begins(DEAD, working(HOUR)),
  'crashed after a notice': (scene) => {
    scene.begins(DEAD, working(HOUR));
    scene.noticed(30 * MINUTE);
  },
  'crashed after its answer': (scene) => scene.begins({ ...HERE, pid_start: '1' }, answered(HOUR)),
  'closed after its answer, by a program that does not report it': (scene) =>
    scene.begins(GONE, answeredByCodex(HOUR), undefined, CONVERSATION, 'codex'),
  'closed in the middle of a turn, by a program that does not report it': (scene) =>
    scene.begins(GONE, answeredByCodex(HOUR).slice(0, 3), undefined, CONVERSATION, 'codex'),
  'had answered when its host was started again': (scene) => scene.begins(DEAD, answered(HOUR)),
  'cut off': (scene) => {
    scene.begins(HERE, working(HOUR));
    scene.in((memory, session) => endRun(memory, session, HERE, 'other'));
  },
  'stopped by its person, who left then': (scene) => {
    scene.begins(HERE, [...working(HOUR), asks(ago(HOUR - 10 * SECOND), '[Request interrupted by user for tool use]')]);
    scene.in((memory, session) => endRun(memory, session, HERE, 'prompt_input_exit'));
  },
  'killed before anything was asked': (scene) => scene.begins(DEAD, []),
  resting: (scene) => {
    scene.begins(HERE, answered(HOUR));
    scene.in((memory, session) => endRun(memory, session, HERE, 'prompt_input_exit'));
  },
  'ended, as only its launcher has noted': (scene) => {
    const gone = { ...HERE, pid_start: '1' };
    scene.begins(gone, answered(HOUR));
    scene.noted(gone);
  },
  ended: async (scene) => {
    scene.begins(HERE, answered(HOUR));
    scene.in((memory, session) => endRun(memory, session, HERE, 'prompt_input_exit'));
    await scene.say(work, 'end', scene.id);
  },
  'on another host': (scene) => scene.begins(FAR, working(HOUR)),
  damaged: (scene) => {
    scene.begins(HERE, working(5 * SECOND));
    scene.append('no line\n');
  },
  archived: async (scene) => {
    scene.begins(HERE, answered(HOUR));
    scene.in((memory, session) => endRun(memory, session, HERE, 'prompt_input_exit'));
    await scene.say(work, 'archive', scene.id);
  },
};
