/** Looks whether the program of a session publishes that it waits for a person. */
import { shorten } from '../../src/log/shorten.js';
import { oneLine } from '../../src/log/visibleText.js';
import type { PublishedWait } from '../condition/publishedWait.js';
import { type Ran, Runs, type RunsOf } from '../fold/runs.js';
import type { Conversation } from '../fold/worklog.js';
import { publishedAgent } from '../sessions/published.js';
import type { Viewer } from '../sessions/views.js';

const LONGEST_WORDS = 80;

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
