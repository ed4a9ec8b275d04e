/** The handoffs of a memory: how one is offered, found and answered. */
import { dirname } from 'node:path';
import { UnreachableError, UsageError } from '../../src/errors.js';
import { ambiguous, idsNamed, timeOfUlid, ulid } from '../../src/ids.js';
import { localTime } from '../../src/time.js';
import type { Places } from '../home/places.js';
import { type Refusal, RefusedError } from '../logs/kind.js';
import type { NewLine, Stamp } from '../logs/line.js';
import { Log } from '../logs/log.js';
import { closeAfter } from '../logs/scoped.js';
import { digestOf, type HandoffDocument, partsOf } from './document.js';
import { type HandoffEvents, type HandoffState, handoffKind, type Offer, type Stamps, settledBy } from './kind.js';

const PREFIX = 'ho_';
const SUFFIX = '.jsonl';
/** Digests in one line of the log. */
const MOST_DIGESTS = 100;

export interface Handoff {
  readonly id: string;
  readonly state: HandoffState & { readonly offer: Offer };
}

export interface Offering extends Stamps {
  readonly document: HandoffDocument;
  readonly conversations: Offer['conversations'];
  readonly digests: readonly { readonly path: string; readonly digest: string }[];
}

type Answering = 'accepted' | 'declined' | 'withdrawn';
type HandoffLog = Log<HandoffState, HandoffEvents>;

/** A memory that knows where handoffs are: agents of a bridge have them in the home of all, too. */
export interface WithHandoffs {
  readonly shared: { readonly places: Places; readonly stamp: Stamp };
}

export class Handoffs {
  readonly #places: Places;
  readonly #stamp: Stamp;

  constructor({ places, stamp }: WithHandoffs['shared']) {
    this.#places = places;
    this.#stamp = stamp;
  }

  /** @returns the ids, the newest first. There may be many */
  ids(): string[] {
    const names = this.#places.handoffNames().filter((name) => name.endsWith(SUFFIX));
    return names
      .map((name) => name.slice(0, -SUFFIX.length))
      .filter(isHandoffId)
      .sort()
      .reverse();
  }

  /** @returns null if there is none, or its author was killed before it was written */
  read(id: string): Handoff | null {
    const state = isHandoffId(id) ? Log.read(this.#places.handoffLog(id), handoffKind)?.state : undefined;
    return state === undefined ? null : handoffOf(id, state);
  }

  /**
   * @param name an id, or the beginning or the end of one
   * @throws UsageError if it names none, or several
   */
  named(name: string): Handoff {
    const found = idsNamed(this.ids(), name);
    if (found.length > 1)
      throw ambiguous(
        name,
        found.map((id) => this.#rowOf(id)),
        'handoffs',
      );
    const handoff = found[0] === undefined ? null : this.read(found[0]);
    if (handoff === null)
      throw new UsageError(
        `there is no handoff ${JSON.stringify(name)}; \`watchkeeper handoff list\` shows those on offer`,
      );
    return handoff;
  }

  /** @returns the handoff, and whether the same one of the same session was there already */
  offer(offering: Offering): { readonly handoff: Handoff; readonly isKnown: boolean } {
    const { document, digests, dirty, ...stamps } = offering;
    const digest = digestOf(document);
    const known = stamps.session_id === null ? null : this.#sameOf(stamps.session_id, digest);
    if (known !== null) return { handoff: known, isKnown: true };
    const id = `${PREFIX}${ulid(this.#stamp.clock)}`;
    const { goal, state, notes, ...rest } = document;
    const texts = { goal: partsOf(goal), state: partsOf(state), notes: partsOf(notes) };
    const lines: NewLine<HandoffEvents>[] = [
      handoffKind.line('offered', { ...rest, ...texts, ...stamps, dirty: dirty ?? undefined, digest }),
    ];
    for (let at = 0; at < digests.length; at += MOST_DIGESTS)
      lines.push(handoffKind.line('digests', { files: digests.slice(at, at + MOST_DIGESTS) }));
    const path = this.#places.handoffLog(id);
    this.#places.prepare();
    this.#places.make(dirname(path));
    const log = Log.begin(path, handoffKind);
    if (log === null) throw new UnreachableError(`${path} was taken by another process; try again`);
    const written = closeAfter(log, () => {
      log.write(() => lines, this.#stamp);
      return log.state;
    });
    const handoff = handoffOf(id, written);
    if (handoff === null) throw new UnreachableError(`${path} cannot be read again, though it was written`);
    return { handoff, isKnown: false };
  }

  /**
   * @param line the answer
   * @param isOwn whether an answer that is there already is the caller's own, so that nothing is left to do
   * @returns the handoff, and whether it was answered so already
   * @throws RefusedError with the code of the answer that was first
   */
  answer(
    id: string,
    line: NewLine<Pick<HandoffEvents, Answering>>,
    isOwn: (answer: NonNullable<HandoffState['answer']>) => boolean,
  ): { readonly handoff: Handoff; readonly isKnown: boolean } {
    const log = this.#open(id);
    return closeAfter(log, () => {
      let isKnown = false;
      const outcomes = log.write(({ answer }) => {
        if (answer === null) return [line];
        isKnown = isOwn(answer);
        if (!isKnown) throw new RefusedError(settledBy(answer), { ...answer });
        return [];
      }, this.#stamp);
      this.#requireApplied(outcomes, log);
      const handoff = handoffOf(id, log.state);
      if (handoff === null) throw new UsageError(`there is no handoff ${id}`);
      return { handoff, isKnown };
    });
  }

  /** Keeps how the work of its taker ended; the first end counts. */
  end(id: string, line: NewLine<Pick<HandoffEvents, 'ended'>>): void {
    const log = this.#open(id);
    closeAfter(log, () => log.write(({ end }) => (end === null ? [line] : []), this.#stamp));
  }

  #rowOf(id: string): string {
    const { offer, answer } = this.read(id)?.state ?? { offer: null, answer: null };
    return offer === null ? id : `${id}  ${localTime(offer.at)}  ${answer?.kind ?? 'offered'}  ${offer.document.title}`;
  }

  #requireApplied(outcomes: readonly (Refusal | null)[], { state }: HandoffLog): void {
    const refusal = outcomes.find((outcome) => outcome !== null);
    if (refusal) throw new RefusedError(refusal, { ...state.answer });
  }

  #open(id: string): HandoffLog {
    const log = isHandoffId(id) ? Log.open(this.#places.handoffLog(id), handoffKind) : null;
    if (log === null) throw new UsageError(`there is no handoff ${JSON.stringify(id)}`);
    return log;
  }

  #sameOf(sessionId: string, digest: string): Handoff | null {
    for (const id of this.ids()) {
      const handoff = this.read(id);
      if (handoff?.state.offer.session_id === sessionId && handoff.state.offer.digest === digest) return handoff;
    }
    return null;
  }
}

function handoffOf(id: string, state: HandoffState): Handoff | null {
  const { offer } = state;
  return offer === null ? null : { id, state: { ...state, offer } };
}

function isHandoffId(text: string): boolean {
  return text.startsWith(PREFIX) && timeOfUlid(text.slice(PREFIX.length)) !== null;
}
