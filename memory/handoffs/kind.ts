/** The log of a handoff: what was offered, and what became of it. The first answer counts. */
import * as z from 'zod/mini';
import { oneLine } from '../../src/log/visibleText.js';
import { localTime } from '../../src/time.js';
import type { Holder } from '../fold/holder.js';
import type { LogKind, Refusal } from '../logs/kind.js';
import { lacksFields } from '../logs/kind.js';
import { type Line, lineMaker, timeOfLine } from '../logs/line.js';
import type { Origin } from '../words.js';
import type { HandoffDocument } from './document.js';

export const TAKEN_AS = ['follow', 'adapt', 'fresh'] as const;
export type TakenAs = (typeof TAKEN_AS)[number];

/** How the work stood when the handoff was written. */
export interface Stamps {
  /** Null if it was written outside of one, as the others. */
  readonly session_id: string | null;
  /** The folder of that session's memory, if that is a bridge's. Null for the one that has the handoff. */
  readonly memory: string | null;
  /** The top of its workspace. */
  readonly root: string;
  readonly workspace: string;
  /** Null outside of a repository, as the following. */
  readonly repository: string | null;
  readonly branch: string | null;
  readonly head: string | null;
  readonly dirty_digest: string | null;
  /** How many files had uncommitted changes; null if git did not say. */
  readonly dirty: number | null;
}

export interface Offer extends Stamps {
  readonly document: HandoffDocument;
  /** A digest of the contents: the same from the same session is one handoff. */
  readonly digest: string;
  readonly conversations: readonly { readonly provider: string; readonly conversation: string }[];
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly origin: Origin;
}

export interface Answer {
  readonly kind: 'accepted' | 'declined' | 'withdrawn';
  readonly as: TakenAs | null;
  readonly session_id: string | null;
  /** The agent that took it. Null if it was a person, or is unknown. */
  readonly holder: Holder | null;
  /** In which the taker was. Null for an answer of the author. */
  readonly workspace: string | null;
  /** The taker's checkout as it was then. Null if it is unknown, or in no repository. */
  readonly checkout: Checkout | null;
  readonly reason: string | null;
  /** Null for an answer of the bridge, or of an older version. */
  readonly by: AnsweredFrom | null;
  readonly at: number;
  readonly origin: Origin;
}

export interface AnsweredFrom {
  /** The account. */
  readonly user: string;
  readonly directory: string;
  /** Such as `pts/3`; null without one. */
  readonly terminal: string | null;
}

export interface Checkout {
  /** The top of its worktree. */
  readonly root: string;
  readonly head: string;
}

/** How the work of its taker ended. Only a bridge knows that of its own sessions. */
export interface TakenEnd {
  readonly session_id: string;
  /** A verb: `answered`. */
  readonly ended: string;
  /** On the taker's branch since, the newest first; a few of them. */
  readonly commits: readonly string[];
  /** How many there are; null if git could not be asked. */
  readonly commit_count: number | null;
  readonly branch: string | null;
  /** The taker's checkout, if the handoff was written in another one. */
  readonly root: string | null;
}

export interface HandoffState {
  offer: Offer | null;
  answer: Answer | null;
  end: TakenEnd | null;
  /** SHA-256 of its files and linked documents, by path. */
  readonly digests: Map<string, string>;
}

const text = z.optional(z.string());
const maybe = z._default(z.nullable(z.string()), null);
const texts = z._default(z.array(z.string()), []);
const OFFERED = z.object({
  title: z.string().check(z.minLength(1)),
  ...{ goal: texts, state: texts, notes: texts },
  ...{ done: texts, learnings: texts, files: texts, next: texts, references: texts, tags: texts },
  digest: z._default(z.string(), ''),
  session_id: maybe,
  memory: maybe,
  conversations: z._default(z.array(z.object({ provider: z.string(), conversation: z.string() })), []),
  root: z.string(),
  workspace: z.string(),
  ...{ repository: maybe, branch: maybe, head: maybe, dirty_digest: maybe },
  dirty: z._default(z.nullable(z.number()), null),
});
const DIGESTS = z.object({ files: z.array(z.object({ path: z.string(), digest: z.string() })) });
const ANSWERED = z.object({
  as: z.optional(z.enum(TAKEN_AS)),
  session_id: maybe,
  holder: z._default(z.nullable(z.custom<Holder>((value) => typeof value === 'object' && value !== null)), null),
  workspace: maybe,
  checkout: z._default(z.nullable(z.object({ root: z.string(), head: z.string() })), null),
  reason: text,
  by: z._default(z.nullable(z.object({ user: z.string(), directory: z.string(), terminal: maybe })), null),
});

const ENDED = z.object({
  session_id: z.string(),
  ended: z.string(),
  commits: z._default(z.array(z.string()), []),
  commit_count: z._default(z.nullable(z.number()), null),
  branch: maybe,
  root: maybe,
});

export interface HandoffEvents {
  /** Long texts are in parts: nothing of them is cut. */
  readonly offered: Omit<HandoffDocument, 'goal' | 'state' | 'notes'> &
    Omit<Stamps, 'dirty'> & { readonly dirty?: number | undefined } & Pick<Offer, 'digest' | 'conversations'> & {
      readonly goal: readonly string[];
      readonly state: readonly string[];
      readonly notes: readonly string[];
    };
  readonly digests: { readonly files: readonly { readonly path: string; readonly digest: string }[] };
  readonly accepted: {
    readonly as: TakenAs;
    readonly session_id?: string | undefined;
    readonly holder?: Holder | undefined;
    readonly workspace: string;
    readonly checkout?: Checkout | undefined;
    readonly by?: AnsweredFrom;
  };
  readonly declined: {
    readonly session_id?: string | undefined;
    readonly workspace: string;
    readonly reason?: string | undefined;
    readonly by: AnsweredFrom;
  };
  readonly withdrawn: { readonly reason?: string | undefined; readonly by: AnsweredFrom };
  readonly ended: TakenEnd;
}

export const handoffKind: LogKind<HandoffState, HandoffEvents> = {
  name: 'handoff',
  begin: () => ({ offer: null, answer: null, end: null, digests: new Map() }),
  apply,
  line: lineMaker<HandoffEvents>(),
};

function apply(state: HandoffState, line: Line): Refusal | null {
  switch (line.event) {
    case 'offered':
      return offer(state, line);
    case 'digests': {
      const found = DIGESTS.safeParse(line);
      if (!found.success) return lacksFields(line);
      for (const { path, digest } of found.data.files) state.digests.set(path, digest);
      return null;
    }
    case 'accepted':
    case 'declined':
    case 'withdrawn':
      return settle(state, line, line.event);
    case 'ended': {
      const found = ENDED.safeParse(line);
      if (!found.success) return lacksFields(line);
      state.end ??= found.data;
      return null;
    }
    default:
      return null;
  }
}

function offer(state: HandoffState, line: Line): Refusal | null {
  const found = OFFERED.safeParse(line);
  if (!found.success) return lacksFields(line);
  if (state.offer !== null) return { code: 'begun', message: 'the handoff was offered already' };
  const { title, goal, state: how, notes, done, learnings, files, next, references, tags, ...stamps } = found.data;
  const whole = (parts: readonly string[]) => parts.join('') || null;
  state.offer = {
    ...stamps,
    document: {
      ...{ title, done, learnings, files, next, references, tags },
      ...{ goal: whole(goal), state: whole(how), notes: whole(notes) },
    },
    at: timeOfLine(line),
    origin: line.origin,
  };
  return null;
}

function settle(state: HandoffState, line: Line, kind: Answer['kind']): Refusal | null {
  const found = ANSWERED.safeParse(line);
  if (!found.success) return lacksFields(line);
  if (state.offer === null) return { code: 'not_offered', message: 'there is no offer to answer' };
  if (state.answer !== null) return settledBy(state.answer);
  const { as = null, reason = null, ...taker } = found.data;
  state.answer = { kind, as, reason, ...taker, at: timeOfLine(line), origin: line.origin };
  return null;
}

/** @returns ` by ann`, ` by session S`; empty for an answer without a session of an older version */
export function byWords({ session_id, origin, by }: Answer): string {
  const person = origin === 'person' ? (by?.user ?? 'a person') : null;
  if (session_id === null) return ` by ${oneLine(person ?? 'an agent')}`;
  return person === null ? ` by session ${session_id}` : ` by ${oneLine(person)}, in session ${session_id}`;
}

/** @returns `accepted by ann at 2026-02-05 10:00:00 UTC in "/srv/a", terminal pts/3` */
export function answerWords(answer: Answer): string {
  const { kind, at, by } = answer;
  const terminal = by?.terminal == null ? '' : `, terminal ${oneLine(by.terminal)}`;
  const where = by === null ? '' : ` in ${JSON.stringify(oneLine(by.directory))}${terminal}`;
  return `${kind}${byWords(answer)} at ${localTime(at)}${where}`;
}

/** @returns the refusal of a second answer, in words for its writer */
export function settledBy(answer: Answer): Refusal {
  const reason = answer.reason === null ? '' : `: ${JSON.stringify(oneLine(answer.reason))}`;
  return { code: answer.kind, message: `the handoff was ${answerWords(answer)}${reason}` };
}
