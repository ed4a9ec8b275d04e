/** One message's part of the story: what its watcher sees, told as it happens. Nothing here decides whether it is true. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { isoTime, systemClock } from '../../src/time.js';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import type { AgentRecord } from '../e2e/evidence.js';
import { type FoundProcess, findRun } from '../e2e/processScan.js';
import type { SeenMessage } from '../peers/telegram/reader.js';
import { CHATS, STORIES, type Story } from './cast.js';
import type { Narrator } from './narrator.js';

/** A look at `/proc` that is kept as evidence. */
export interface Scan {
  readonly time: string;
  readonly session: string;
  readonly run: string;
  readonly moment: 'the first run is at work' | 'the second run has begun';
  readonly found: readonly FoundProcess[];
}

export const SCANS = 'process-scans.jsonl';
const WITHIN_MS = 25_000;

export class Act {
  readonly #scene: BridgeScene;
  readonly #narrator: Narrator;
  readonly #story: Story;
  /** Addresses of issues that earlier acts have told of. */
  readonly #issuesTold: Set<string>;
  #message = 0;
  /** The address of the one that its fault was last reported on. */
  #issue = '';

  constructor(scene: BridgeScene, narrator: Narrator, story: Story, issuesTold: Set<string>) {
    this.#scene = scene;
    this.#narrator = narrator;
    this.#story = story;
    this.#issuesTold = issuesTold;
  }

  get session(): string {
    return `tg_${STORIES[this.#story].project}_${this.#chat.id}_${this.#message}`;
  }

  get #chat(): (typeof CHATS)[keyof typeof CHATS] {
    return CHATS[STORIES[this.#story].project];
  }

  ask(threadId?: number): void {
    const { asked, project } = STORIES[this.#story];
    const { id, speaker, topic } = this.#chat;
    const options = threadId === undefined ? {} : { threadId };
    this.#message = this.#scene.telegram.say(id, asked, { name: speaker, ...options });
    const place = topic === null ? `chat of ${project}` : `group of ${project}, topic ${topic}`;
    this.#narrator.tell(`${speaker} writes, in the ${place}: "${asked}"`, 'person');
  }

  /** What the bot has written in answer to the message. */
  replies(): readonly SeenMessage[] {
    return this.#scene.telegram.botMessages(this.#chat.id).filter(({ replyTo }) => replyTo === this.#message);
  }

  async seen(what: string, find: (replies: readonly SeenMessage[]) => SeenMessage | undefined): Promise<SeenMessage> {
    return this.#scene.until(`${what} for "${STORIES[this.#story].asked}"`, () => find(this.replies()), WITHIN_MS);
  }

  async reaction(): Promise<void> {
    const asked = () =>
      this.#scene.telegram.messages(this.#chat.id).find(({ messageId }) => messageId === this.#message);
    const emoji = await this.#scene.until('a reaction', () => asked()?.reactions[0]?.emoji, WITHIN_MS);
    this.#narrator.tell(`${emoji}  The message is stored.`);
  }

  async event(find: (event: CriticalEvent) => boolean, session = this.session): Promise<CriticalEvent> {
    return this.#scene.until(
      `an event of ${session}`,
      () => this.#scene.evidence.criticalEvents().find((event) => event.session_id === session && find(event)),
      WITHIN_MS,
    );
  }

  /** An incident's beginning: the event on disk, then the issue. */
  async detection(session = this.session): Promise<void> {
    const { rule } = await this.event(({ action_taken }) => action_taken === 'detected', session);
    this.#narrator.tell(`The watchdog finds it: rule ${rule}. The critical event is on disk.`, 'trouble');
    const { github_issue: url } = await this.event(({ github_issue }) => github_issue !== null, session);
    const issue = this.#scene.github.issues().find((each) => each.url === url);
    if (url === null || issue === undefined) throw new Error(`the issue ${url} is not at the peer`);
    const how = this.#issuesTold.has(url) ? 'It joins issue' : 'It is reported as issue';
    this.#issuesTold.add(url);
    this.#issue = url;
    this.#narrator.tell(`${how} #${issue.number}, "${issue.title}".`, 'trouble');
  }

  /** @returns the start of an attempt's agent */
  async agentStart(attempt: 1 | 2): Promise<AgentRecord> {
    const session = attempt === 1 ? this.session : `${this.session}_r1`;
    return this.#scene.until(
      `the agent of ${session}`,
      () => this.#scene.evidence.agents().find((record) => record.session === session && record.event === 'start'),
      WITHIN_MS,
    );
  }

  /** Looks at `/proc` for processes of a run, and keeps what it saw. */
  scan(run: string, moment: Scan['moment']): readonly FoundProcess[] {
    const found = findRun(run);
    const scan: Scan = { time: isoTime(systemClock.now()), session: this.session, run, moment, found };
    appendFileSync(join(this.#scene.folder, SCANS), `${JSON.stringify(scan)}\n`);
    return found;
  }

  /** Waits for the second attempt, and looks what is left of the first one at that moment. */
  async revival(first: AgentRecord): Promise<void> {
    const second = await this.agentStart(2);
    const left = this.scan(first.run, 'the second run has begun');
    const proof = left.length === 0 ? 'no process of the first is left' : `${left.length} OF THE FIRST ARE LEFT`;
    this.#narrator.tell(`The second attempt runs as process ${second.pid}; ${proof}.`);
  }

  /** What the chat reads while the message is tried again. */
  async secondTry(): Promise<void> {
    const failed = (text: string) => text.startsWith('The first attempt failed');
    const wordings = ({ text, formerTexts }: SeenMessage) => [text, ...formerTexts.map((former) => former.text)];
    const progress = await this.seen('the word of a second attempt', (replies) =>
      replies.find((message) => wordings(message).some(failed)),
    );
    this.#narrator.tell(`The chat reads: ${quote(wordings(progress).find(failed) ?? '')}`, 'person');
  }

  async answer(): Promise<void> {
    const { answer } = STORIES[this.#story];
    await this.seen('the answer', (replies) => replies.find(({ text }) => text.includes(answer)));
    this.#narrator.tell(`Answered: "${answer}"`, 'good');
  }

  async closing(session = this.session): Promise<CriticalEvent> {
    return this.event(({ final }) => final, session);
  }

  /** A recovery closes the incident, and its issue too. */
  async recovery(): Promise<void> {
    const { details } = await this.closing();
    const closed = await this.#scene.until(
      `the end of ${this.#issue}`,
      () => this.#scene.github.issues().find(({ url, state }) => url === this.#issue && state === 'closed'),
      WITHIN_MS,
    );
    this.#narrator.tell(`The incident is closed: ${details?.outcome}. Issue #${closed.number} closes itself.`);
  }
}

/** On one line. */
export function quote(text: string): string {
  return `"${text.replace(/\s*\n+\s*/g, ' / ')}"`;
}
