/** Decides by the configuration alone which person may start work from which chat. An unlisted chat is a critical event. */
import { noticeEvent } from '../../monitoring/events/notice.js';
import { type Place, type Project, placeOf, type Settings, type Trigger } from '../../src/config/settings.js';
import { ulid } from '../../src/ids.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import type { Sender } from '../../src/jobs/model.js';
import { Newest } from '../../src/newest.js';
import { type Clock, HOUR } from '../../src/time.js';
import type { ChatFoundation } from '../chat/foundation.js';

/** Beyond this many keys the oldest are forgotten: strangers must not fill the memory. */
const MOST_KEYS = 10_000;

export interface ChatMessage {
  readonly chatId: string;
  readonly threadId: string | null;
  readonly messageId: string;
  readonly sender: Sender;
  readonly text: string;
  /** The message that this one answers. */
  readonly replyTo: string | null;
  /** Epoch milliseconds by the chat's clock; missing if unknown. */
  readonly writtenAt?: number;
  /** The bot whose numbers the ids of messages are, if they are marked; missing if not. */
  readonly bot?: string | undefined;
  /** The bot that has received it; missing if it came another way. */
  readonly receivedBy?: string;
  /** The further messages into which the chat has cut this one, by their ids. */
  readonly pieces?: readonly string[];
}

export interface Admitted {
  readonly admitted: true;
  readonly project: Project;
  readonly place: Place;
}

export interface Refused {
  readonly admitted: false;
  readonly why: 'unlisted_chat' | 'sender_not_allowed';
  readonly answer: string;
}

export class Admission {
  readonly #settings: Settings;
  readonly #answeredBefore: OncePer;
  readonly #reportedBefore: OncePer;
  readonly #base: ChatFoundation;

  constructor(settings: Settings, base: ChatFoundation) {
    this.#settings = settings;
    this.#base = base;
    this.#answeredBefore = new OncePer(base.clock, HOUR);
    this.#reportedBefore = new OncePer(base.clock, HOUR);
  }

  /** @returns whether any project lists the chat, in any topic */
  isListed(chatId: string): boolean {
    const projects = [...this.#settings.projects.values()];
    return projects.some(({ places }) => places.some((place) => place.chatId === chatId));
  }

  /** @returns which messages are for the bot where this one was written; where no project listens, every one is answered */
  triggerOf({ chatId, threadId }: ChatMessage): Trigger {
    const isGroup = chatId.startsWith('-');
    return isGroup ? (placeOf(this.#settings, chatId, threadId)?.place.trigger ?? 'any') : 'any';
  }

  admit({ chatId, threadId, sender }: ChatMessage): Admitted | Refused {
    const found = placeOf(this.#settings, chatId, threadId);
    if (found === null) {
      const place = `${chatId}${threadId === null ? '' : ` (topic ${threadId})`}`;
      const answer = `This chat is not connected to any project, so nothing was started. An operator can add its id ${place} to watchkeeper.config.json.`;
      return { admitted: false, why: 'unlisted_chat', answer };
    }
    // An empty list allows no one.
    if (!found.project.senders.includes(sender.id)) {
      const answer = `You are not allowed to start work here. ${howToBeAllowed(chatId, sender, found.project)}`;
      return { admitted: false, why: 'sender_not_allowed', answer };
    }
    return { admitted: true, ...found };
  }

  /** Notifies those who must know. @returns the answer for the chat; null if it was sent within the last hour */
  refuse(message: ChatMessage, refused: Refused): string | null {
    const key = refusalKey(message, refused);
    if (refused.why === 'unlisted_chat' && this.#reportedBefore.first(key)) this.#reportUnroutable(message);
    return this.#answeredBefore.first(key) ? refused.answer : null;
  }

  /** The answer to a refusal did not arrive: the next message gets it. */
  forgetAnswer(message: ChatMessage, refused: Refused): void {
    this.#answeredBefore.forget(refusalKey(message, refused));
  }

  /** Never throws: an event that could not be written is in the log. */
  #reportUnroutable({ chatId: chat_id, threadId: thread_id, messageId: message_id, text }: ChatMessage): void {
    const { events, clock, logger } = this.#base;
    const details = { chat_id, thread_id, message_id };
    const about = { event: 'message_unroutable', reason: 'chat_not_listed', details } as const;
    const notice = noticeEvent({ incident_id: ulid(clock), step: 'detected', final: true, ...about }, clock.now());
    const event: CriticalEvent = { ...notice, untrusted_excerpt: text };
    events
      .logCriticalEvent(event)
      .catch((err: unknown) => logger.error({ err, event }, 'a critical event was not written'));
  }
}

function refusalKey({ chatId, sender }: ChatMessage, { why }: Refused): string {
  return `${why} ${why === 'unlisted_chat' ? chatId : `${chatId} ${sender.id}`}`;
}

/** The group's own id would admit everybody who may write anonymously there. */
function howToBeAllowed(chatId: string, sender: Sender, project: Project): string {
  const isAnonymous = sender.id === chatId && sender.id.startsWith('-');
  if (isAnonymous) return 'You are posting anonymously, as the group. Please post under your own name.';
  return `An operator can add your id ${sender.id} to the senders of the project "${project.key}".`;
}

/** Says yes once per key and period. Kept in memory: after a restart it says yes once more. */
export class OncePer {
  readonly #clock: Clock;
  readonly #periodMs: number;
  readonly #said = new Newest<string, number>(MOST_KEYS);

  /** @param periodMs milliseconds */
  constructor(clock: Clock, periodMs: number) {
    this.#clock = clock;
    this.#periodMs = periodMs;
  }

  /** @returns whether the period since the last yes for this key has passed */
  first(key: string): boolean {
    const now = this.#clock.monotonic();
    const last = this.#said.get(key);
    if (last !== undefined && now - last < this.#periodMs) return false;
    this.#said.set(key, now);
    return true;
  }

  /** The next yes for this key needs no wait. */
  forget(key: string): void {
    this.#said.delete(key);
  }
}
