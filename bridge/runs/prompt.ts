/** The agent's prompt: the message itself or, in a revival, the message with the known facts about the first attempt. */

import { contextFor } from '../../memory/brief/resumeContext.js';
import { UNSEEN } from '../../memory/brief/view.js';
import { newWorklog } from '../../memory/fold/newWorklog.js';
import { worklogKind } from '../../memory/fold/rules/kind.js';
import type { Worklog } from '../../memory/fold/worklog.js';
import { Places, worklogIn } from '../../memory/home/places.js';
import { Log } from '../../memory/logs/log.js';
import { observeKept } from '../../memory/observed/sources.js';
import { realOf } from '../../memory/workspaces/workspace.js';
import { endWords, leadingFinding } from '../../monitoring/incident/texts/incidentEvents.js';
import { describeFinding } from '../../monitoring/verdict/describe.js';
import type { Settings } from '../../src/config/settings.js';
import { describeError, unreadable } from '../../src/errors.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { recordOfConversation } from './leftConversation.js';
import type { RunContext } from './runContext.js';

const INTERRUPTED =
  'You were interrupted while you worked on this: the service was restarted, or a limit of your provider was reached.';
const YOURS =
  'This work is yours: no other worker has it. Its document follows, after what has changed since it was written. Check that first, then do its next steps.';
const GO_ON = 'Check what is already done, and continue.';

export interface PromptContext extends Pick<RunContext, 'store' | 'clock' | 'here' | 'redact' | 'logger'> {
  readonly settings: Pick<Settings, 'logsFolder' | 'memory'>;
}

export interface Prompt {
  readonly text: string;
  /** The part of it about the first attempt; empty if there is none. */
  readonly record: string;
}

const LEFT = 'The conversation of the first attempt cannot be continued, so this is a new one.';
const SAID_THERE = 'This was said in it last:';

/** @param handedOver the document of its handoff, fenced; null if there is none @throws ioredis' error if Redis is unavailable */
export async function promptOf(
  context: PromptContext,
  session: AgentSession,
  handedOver: string | null = null,
): Promise<Prompt> {
  const { store } = context;
  const message = joined(session.request.message_text, ...(handedOver === null ? [] : [YOURS, handedOver]));
  const isInterrupted = await wasInterrupted(context, session);
  if (session.attempt === 1 || session.revival_of === null)
    return { text: joined(message, isInterrupted ? `[${INTERRUPTED} ${GO_ON}]` : null), record: '' };
  // A second attempt is told anyway to check what is done.
  const note = isInterrupted ? `[${INTERRUPTED}]` : null;
  const claim = await store.records.claimOf(session);
  const incident = claim === null ? null : await store.records.incident(claim);
  const finding = incident === null ? null : leadingFinding(incident);
  const why = finding === null ? 'it ended without an answer.' : describeFinding(finding);
  const said = [
    '---',
    `This is the second and last attempt. The first one was ended: ${why} Issue: ${incident?.report.url ?? 'pending'}.`,
    'Check what is already done before you repeat anything, and take another approach at the point where the first attempt got stuck.',
  ].join('\n\n');
  const isLeft = incident?.conversation?.is_left === true;
  const earlier = isLeft ? await recordOfConversation(store, session, context.redact) : '';
  const end = endWords(incident?.untrusted_excerpt, finding?.evidence ?? []) || null;
  const words = [said, ...(isLeft ? [earlier === '' ? LEFT : `${LEFT} ${SAID_THERE}`, earlier] : [])].filter(Boolean);
  const used = joined('', ...words, note, '').length;
  const record = await recordOf(context, session, { first: session.revival_of, end, used });
  return { text: joined(message, ...words, note, record === '' ? null : record), record };
}

function joined(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null).join('\n\n');
}

/** @returns whether this attempt was, or waited; the interruptions of the first one count in the second one's record, too */
async function wasInterrupted(
  { store }: PromptContext,
  { attempt, interruptions, revival_of, wait = null }: AgentSession,
): Promise<boolean> {
  if (wait !== null) return true;
  if (interruptions === 0 || attempt === 1 || revival_of === null) return interruptions > 0;
  const first = await store.records.session(revival_of).catch(unreadable);
  return first === null || first === 'unreadable' || interruptions > first.interruptions;
}

/** @returns the known facts about the first attempt; a fault of its files is logged, and the second attempt does without them */
async function recordOf(
  { settings, clock, here, redact, logger }: PromptContext,
  { session_id, working_directory, request }: AgentSession,
  { first, end, used }: { readonly first: string; readonly end: string | null; readonly used: number },
): Promise<string> {
  try {
    const folder = new Places(settings.logsFolder).sessionFolder(first);
    const log = worklogAt(folder, first);
    const root = realOf(working_directory);
    const { fold } = await observeKept({ log, folder, workspace: { root } });
    const view = { ...UNSEEN, log, fold, now: clock.now(), root, here, pinned: [], settings: settings.memory, redact };
    return contextFor(view, 'revival', { end, used, message: request.message_text });
  } catch (err) {
    const said = `session ${session_id}: its prompt lacks the record of ${first}: ${describeError(err)}`;
    logger.warn({ err, session_id }, said);
    return '';
  }
}

/** @returns what was declared; nothing if there is no worklog */
function worklogAt(folder: string, sessionId: string): Worklog {
  return Log.read(worklogIn(folder), worklogKind)?.state ?? { ...newWorklog(), session_id: sessionId };
}
