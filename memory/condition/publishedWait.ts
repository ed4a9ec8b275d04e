/** A program's own word that it waits for a person, which needs no inference. */
import { shorten } from '../../src/log/shorten.js';
import { oneLine } from '../../src/log/visibleText.js';
import { type Ran, Runs, type RunsOf } from '../fold/runs.js';
import type { Conversation } from '../fold/worklog.js';
import { publishedAgent } from '../sessions/published.js';
import type { Viewer } from '../sessions/views.js';
import type { BrokenRule, Judged } from './stuck.js';

const LONGEST_WORDS = 80;

export interface PublishedWait {
  /** The dialog, in the program's words, redacted. Null if it does not say. */
  readonly waiting_for: string | null;
  /** UTC epoch milliseconds. */
  readonly since: number;
}

/** A session's record, as far as its agent's publications are found by it. */
type Published = RunsOf<Ran> & {
  readonly conversations: readonly Pick<Conversation, 'provider' | 'id' | 'moved_at'>[];
};

/** @returns null unless the process of the present run waits for a person, in a conversation of the session */
export function publishedWait(
  { programs, surroundings, stamp }: Pick<Viewer, 'programs' | 'surroundings' | 'stamp'>,
  log: Published,
): PublishedWait | null {
  if (programs === null || log.lifecycle === 'ended') return null;
  const { present, hasEnded } = new Runs(log, surroundings.process);
  if (present === null || hasEnded) return null;
  const agent = publishedAgent(programs, present.process, surroundings.process);
  if (agent === null || agent.state.status !== 'waiting') return null;
  const isOwn = log.conversations.some(
    ({ provider, id, moved_at }) => moved_at === null && provider === agent.provider && id === agent.conversation,
  );
  if (!isOwn) return null;
  const { waiting_for, status_at: since } = agent.state;
  return {
    waiting_for: waiting_for === null ? null : shorten(stamp.redact(oneLine(waiting_for)), LONGEST_WORDS),
    since,
  };
}

/** @returns the judgement, which does not count the time that a person takes as silence */
export function judgedInWait(judged: Judged | null, wait: PublishedWait | null): Judged | null {
  if (judged === null || wait === null) return judged;
  return { ...judged, doing: 'waiting', broken: unlessSilent(judged.broken, wait) };
}

/** @returns the rules that time alone does not break */
export function unlessSilent<Rule extends Pick<BrokenRule, 'rule'>>(
  broken: readonly Rule[],
  wait: PublishedWait | null,
): readonly Rule[] {
  return wait === null ? broken : broken.filter(({ rule }) => rule !== 'silence');
}
