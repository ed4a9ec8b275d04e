/** One message in a scene, and what becomes of it. */
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import type { SeenMessage } from '../peers/telegram/reader.js';
import type { BridgeScene } from './bridgeScene.js';
import type { AgentRecord } from './evidence.js';

export interface AskOptions {
  readonly threadId?: number;
  readonly userId?: number;
}

/** The contract's first paragraph, to the letter. */
export const FAILURE_PARAGRAPH =
  "Sorry, I ran into an issue and couldn't recover. The error has been logged for investigation.";

const WITHIN_MS = 20_000;

/** The head of a progress message, below which stand the agent's words while it still works: `Thinking · 2 s · 1 call`. */
const PROGRESS = /^[^\n]* · \d+ (ms|s|min|h)\b/;

export class Conversation {
  readonly project: string;
  readonly chat: number;
  readonly messageId: number;
  readonly #scene: BridgeScene;

  constructor(scene: BridgeScene, project: string, chat: number, text: string, options: AskOptions = {}) {
    this.#scene = scene;
    this.project = project;
    this.chat = chat;
    this.messageId = scene.telegram.say(chat, text, options);
  }

  get session(): string {
    return `tg_${this.project}_${this.chat}_${this.messageId}`;
  }

  get revival(): string {
    return `${this.session}_r1`;
  }

  /** What the bot has said in answer to this message, also what it edited since. */
  replies(): SeenMessage[] {
    return this.#scene.telegram.botMessages(this.chat).filter(({ replyTo }) => replyTo === this.messageId);
  }

  /** Replies that hold a text now. */
  repliesWith(text: string): SeenMessage[] {
    return this.replies().filter((message) => message.text.includes(text));
  }

  async answered(text: string, withinMs = WITHIN_MS): Promise<SeenMessage> {
    const answer = () => this.repliesWith(text).find((message) => !PROGRESS.test(message.text));
    return this.#scene.until(`the answer "${text}" to ${this.session}`, answer, withinMs);
  }

  /** Of the session's own incidents, each line once. */
  events(session = this.session): CriticalEvent[] {
    return this.#scene.evidence.criticalEvents().filter(({ session_id }) => session_id === session);
  }

  async event(find: (event: CriticalEvent) => boolean, session = this.session): Promise<CriticalEvent> {
    return this.#scene.until(`an event of ${session}: ${find}`, () => this.events(session).find(find), WITHIN_MS);
  }

  async closing(session = this.session): Promise<CriticalEvent> {
    return this.event(({ final }) => final, session);
  }

  starts(session = this.session): AgentRecord[] {
    return this.#scene.evidence.agents().filter((record) => record.session === session && record.event === 'start');
  }

  async start(session = this.session): Promise<AgentRecord> {
    return this.#scene.until(`a run of ${session}`, () => this.starts(session)[0], WITHIN_MS);
  }

  /** An agent that has called a tool was heard of: its run is an attempt. */
  async firstCall(session = this.session): Promise<void> {
    const hasCalled = () => this.#scene.evidence.journal(session).some(({ event }) => event === 'pre_tool_use');
    await this.#scene.until(`a call of ${session}`, hasCalled, WITHIN_MS);
  }
}

/** @returns the step of an event's id: `detected`, `revived`, … */
export function stepOf({ id }: CriticalEvent): string {
  return id.slice(id.indexOf('.') + 1);
}
