/** Agents in the worktrees of a repository, as Claude Code shows where they work. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { insideOf } from '../../../memory/look/inWorktrees.js';
import { startConversation } from '../../../memory/programs/conversationStart.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../src/host/identity.js';
import { isoTime } from '../../../src/time.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { publish } from '../published/publication.js';
import { memoryScene } from '../scene.js';
import { Worktrees } from '../worktrees/scene.js';

export const UNJUDGED = async () => null;

export class AgentsScene {
  readonly scene = memoryScene(new ManualClock(Date.now()));
  readonly made = new Worktrees();
  readonly one = this.made.add('feature/one');
  readonly two = this.made.add('fix/two');
  readonly folder = join(testFolder(), 'claude');
  readonly paths = [this.made.root, this.one, this.two].map((path) => ({ path }));

  #written = 0;

  open(directory = this.made.root) {
    return this.scene.open({ CLAUDE_CONFIG_DIR: this.folder }, directory);
  }

  async inside(path: string) {
    const found = (await insideOf(this.open(), this.paths, UNJUDGED)).get(path);
    if (found === undefined) throw new Error(`no ${path}`);
    return found;
  }

  /** Starts a conversation in a directory, of a process that works there. @returns its session */
  agent(conversation: string, directory: string) {
    const child = spawn('sleep', ['600'], { cwd: directory, stdio: 'ignore' });
    afterThisTest(() => end(child));
    const agent = readProcessIdentity('host', child.pid);
    this.writes(conversation, directory);
    const transcript = this.transcript(conversation);
    const launch = {
      provider: 'claude',
      conversation,
      source: 'startup',
      transcript,
      agent,
      launchedIn: null,
    } as const;
    const { session } = startConversation(this.open(directory), launch);
    session.log.close();
    return { id: session.id, agent, child };
  }

  publishes(conversation: string, process: ProcessIdentity, directory: string): void {
    publish('a window at work', { folder: this.folder, process, conversation, directory, startedAt: Date.now() });
  }

  /** As Claude Code writes where it works into each record. */
  writes(
    conversation: string,
    cwd: string,
    message: object = { role: 'user', content: `what ${conversation} is for` },
  ): void {
    mkdirSync(join(this.folder, 'projects/work'), { recursive: true });
    this.#written += 1;
    const record = {
      ...{ parentUuid: null, isSidechain: false, type: 'role' in message ? message.role : 'user', cwd, message },
      ...{ uuid: `u${this.#written}`, sessionId: conversation, timestamp: isoTime(Date.now()) },
    };
    appendFileSync(this.transcript(conversation), `${JSON.stringify(record)}\n`);
  }

  /** A file that the agent is about to write. */
  isWriting(conversation: string, cwd: string, path: string): void {
    const input = { file_path: path, content: 'half' };
    const call = { type: 'tool_use', id: `t${this.#written}`, name: 'Write', input };
    this.writes(conversation, cwd, { role: 'assistant', content: [call] });
    writeFileSync(path, 'half');
  }

  transcript(conversation: string): string {
    return join(this.folder, 'projects/work', `${conversation}.jsonl`);
  }
}

/** As a crash does it. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
