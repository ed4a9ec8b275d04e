import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import type { CriticalEvent } from '../src/jobs/incidents.js';
import { systemClock } from '../src/time.js';

const LOOK_EVERY_MS = 5;
const CHUNK_BYTES = 1024 * 1024;

/** Reads the critical events as they appear, and notes when each session's `detected` was there first. */
export class SeenEvents {
  /** By session: UTC epoch milliseconds. */
  readonly detectedAt = new Map<string, number>();
  readonly others = new Map<string, number>();
  readonly #path: string;
  readonly #chunk = Buffer.alloc(CHUNK_BYTES);
  #offset = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  #look(): void {
    if (!existsSync(this.#path)) return;
    const now = systemClock.now();
    const descriptor = openSync(this.#path, 'r');
    const length = readSync(descriptor, this.#chunk, 0, CHUNK_BYTES, this.#offset);
    closeSync(descriptor);
    const whole = this.#chunk.subarray(0, length).lastIndexOf('\n') + 1;
    this.#offset += whole;
    const lines = this.#chunk.toString('utf8', 0, whole).split('\n').filter(Boolean);
    for (const line of lines) this.#take(JSON.parse(line) as CriticalEvent, now);
  }

  #take({ event, action_taken, session_id }: CriticalEvent, now: number): void {
    const isDetected = event === 'session_unhealthy' && action_taken === 'detected' && session_id !== null;
    if (!isDetected) this.others.set(event, (this.others.get(event) ?? 0) + 1);
    else if (!this.detectedAt.has(session_id)) this.detectedAt.set(session_id, now);
  }
}
