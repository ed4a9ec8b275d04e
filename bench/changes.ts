import { appendFileSync, closeSync, lstatSync, openSync, readSync } from 'node:fs';
import type { AgentSession } from '../src/jobs/model.js';
import { journalPath } from '../src/journal/path.js';
import { systemClock } from '../src/time.js';
import { activityLine } from './journals.js';
import type { Scene } from './scene.js';

/** Sessions that go on; it knows where each journal ended when it was last read. */
export class Changes {
  readonly #scene: Scene;
  readonly #sessions: AgentSession[];
  readonly #paths: readonly string[];
  readonly #sizes: number[];
  readonly #count: number;
  #next = 0;

  /** @param count how many change at a time */
  constructor(scene: Scene, sessions: AgentSession[], count: number) {
    this.#count = count;
    this.#scene = scene;
    this.#sessions = sessions;
    this.#paths = sessions.map(({ session_id }) => journalPath(scene.logsFolder, session_id));
    this.#sizes = this.#paths.map((path) => lstatSync(path).size);
  }

  /** Each time others. */
  async makeSome(): Promise<void> {
    const indexes = Array.from({ length: this.#count }, (_, offset) => (this.#next + offset) % this.#sessions.length);
    this.#next += this.#count;
    await Promise.all(indexes.map((index) => this.#change(index)));
  }

  async readBare(): Promise<void> {
    const { redis, keys } = this.#scene.store;
    await redis.zrange(keys.status('active'), '0', '-1', 'WITHSCORES');
    for (const [index, path] of this.#paths.entries()) {
      const { size } = lstatSync(path);
      const known = this.#sizes[index] ?? 0;
      if (size === known) continue;
      const appended = Buffer.alloc(size - known);
      const descriptor = openSync(path, 'r');
      readSync(descriptor, appended, 0, appended.length, known);
      closeSync(descriptor);
      this.#sizes[index] = size;
    }
  }

  async #change(index: number): Promise<void> {
    const session = this.#sessions[index];
    if (session?.run == null) throw new Error('only running sessions change here');
    appendFileSync(this.#paths[index] ?? '', activityLine(session.session_id, systemClock.now()));
    const { transitions } = this.#scene.store;
    const changed = await transitions.recordRun(session.session_id, session.run.run_id, {
      progressMessageId: `${this.#next}`,
    });
    if (changed === null) throw new Error(`session ${session.session_id} was not to end here`);
    this.#sessions[index] = changed;
  }
}
