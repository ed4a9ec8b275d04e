/** One message's part of the story: what its watcher sees, told as it happens. Nothing here decides whether it is true. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CriticalEvent } from '../../src/incidents.js';
import { isoTime, systemClock } from '../../src/time.js';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import type { AgentRecord } from '../e2e/evidence.js';
import { type FoundProcess, findRun } from '../e2e/processScan.js';
import type { SeenMessage } from '../peers/telegram/reader.js';
import { ASKED, CHATS } from './cast.js';
import type { Narrator } from './narrator.js';

export type Project = keyof typeof ASKED;

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
  readonly project: Project;
  readonly chat: number;
  readonly #scene: BridgeScene;
  readonly #narrator: Narrator;
  #message = 0;

  constructor(scene: BridgeScene, narrator: Narrator, project: Project) {
    this.#scene = scene;
    this.#narrator = narrator;
    this.project = project;
    this.chat = CHATS[project];
  }

  get session(): string {
    return `tg_${this.project}_${this.chat}_${this.#message}`;
  }

  tell(sentence: string): void {
    this.#narrator.tell(this.project, sentence);
  }

  ask(threadId?: number): void {
    this.#message = this.#scene.telegram.say(
      this.chat,
      ASKED[this.project],
      threadId === undefined ? {} : { threadId },
    );
    this.tell(`A person asks: "${ASKED[this.project]}"${threadId === undefined ? '' : `, in topic ${threadId}`}.`);
  }

  /** Of the bot, in this chat. */
  async seen(what: string, find: (messages: readonly SeenMessage[]) => SeenMessage | undefined): Promise<SeenMessage> {
    return this.#scene.until(
      `${what} in the chat of ${this.project}`,
      () => find(this.#scene.telegram.botMessages(this.chat)),
      WITHIN_MS,
    );
  }

  async reaction(): Promise<void> {
    const emoji = await this.#scene.until(
      `a reaction in the chat of ${this.project}`,
      () =>
        this.#scene.telegram.messages(this.chat).find(({ messageId }) => messageId === this.#message)?.reactions[0]
          ?.emoji,
      WITHIN_MS,
    );
    this.tell(`The bot has taken it: ${emoji}.`);
  }

  async event(find: (event: CriticalEvent) => boolean, session = this.session): Promise<CriticalEvent> {
    return this.#scene.until(
      `an event of ${session}`,
      () => this.#scene.evidence.criticalEvents().find((event) => event.session_id === session && find(event)),
      WITHIN_MS,
    );
  }

  /** Tells of an incident's beginning: the event on disk, then the issue. */
  async detection(session = this.session): Promise<void> {
    const detected = await this.event(({ action_taken }) => action_taken === 'detected', session);
    this.tell(`The watchdog detects it (${detected.rule}): ${sentenceOf(detected)} The event is on disk.`);
    const reported = await this.event(({ github_issue }) => github_issue !== null, session);
    const issue = this.#scene.github.issues().find(({ url }) => url === reported.github_issue);
    this.tell(`Reported: "${issue?.title ?? '?'}", ${reported.github_issue}.`);
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
    this.tell(
      `The second attempt runs as process ${second.pid}; a scan finds ${left.length === 0 ? 'no process' : `STILL ${left.length}`} of the first run.`,
    );
  }

  async answer(text: string): Promise<void> {
    const answer = await this.seen('the answer', (messages) => messages.find((message) => message.text.includes(text)));
    this.tell(`Answered, as a reply to message ${answer.replyTo}: "${answer.text}"`);
  }

  /** @param which where there are several: `of the first attempt` */
  async closing(which = '', session = this.session): Promise<void> {
    const closing = await this.event(({ final }) => final, session);
    const name = which === '' ? 'The incident' : `The incident ${which}`;
    this.tell(`${name} is closed: ${closing.details?.outcome} (${closing.event}).`);
  }
}

/** Of the rule that names the incident. */
function sentenceOf({ rule, details }: CriticalEvent): string {
  const findings = (details?.findings ?? []) as { readonly rule: string; readonly sentence: string }[];
  return findings.find((finding) => finding.rule === rule)?.sentence ?? 'without a word.';
}
