/**
 * What the product openly says may be lost, and nothing else: docs/operation.md ("Redis") and docs/internals/redis.md ("What
 * holds when Redis forgets") name it. Everything that the harness excuses is excused here.
 */
import { STARTED } from '../../bridge/telegram/progress/progressText.js';
import type { AgentRecord } from '../e2e/evidence.js';
import type { TranscriptEntry } from '../peers/telegram/transcript.js';
import type { StoreLoss } from './plan.js';
import type { Asked } from './records.js';
import type { SeenMessage } from './seen.js';
import { sessionOf } from './stakes.js';

/** What the harness took from the product. */
export interface Loss {
  /**
   * - `rolled_back`: Redis forgot what was stored between `at` and `until`, as after a failover to a replica that lags.
   * - `host_died`: the same, and everything that ran on the host died with it, bridge and agents.
   * - `flushed`: Redis forgot everything that was stored until `until`.
   * - `lost_with_bridge`: the same, and bridge and reaper were killed with it, so that nobody could store anything again.
   * - `broken`: a process was killed or stopped, or the answer to one of its requests was lost, between these instants.
   */
  readonly what: StoreLoss | 'broken';
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly until: number;
  /** Of `broken`: the logs' disk was full. */
  readonly isDiskFull?: boolean;
  /** Of `broken`: the bridge was asked to stop, so that the runs which it had then are no attempts. */
  readonly isOrderly?: boolean;
}

/** A reaction follows the store's answer, and a message that was said is taken with the next poll. */
const ACCEPTED_WITHIN_MS = 1_500;
/** Between the send of a progress line and the note of its id. */
const NOTED_WITHIN_MS = 3_000;
/** Between the answer to a call and the commit that stores what it says. */
const STORED_WITHIN_MS = 100;
/** A bridge looks every five seconds whether the store has forgotten everything. */
const STORED_AGAIN_WITHIN_MS = 7_000;
/** Between the commit that starts a run and the first line of its agent. */
const BEGUN_WITHIN_MS = 1_000;
/** As long as any run of the harness takes. */
const LIVED_MS = 10_000;

/**
 * A message that was accepted in the lost second is lost unless a living bridge has begun with it: Telegram was told that it
 * was taken. A Redis that forgets everything costs no end: what no bridge knows any more stands in the register beside the
 * logs.
 */
export function isLostMessage(
  asked: Asked,
  losses: readonly Loss[],
  transcript: readonly TranscriptEntry[],
  agents: readonly AgentRecord[],
): boolean {
  const session = sessionOf(asked);
  const starts = agents
    .filter((record) => record.event === 'start' && record.session.startsWith(session))
    .map(({ at }) => at);
  const acceptedAt = acceptance(asked, transcript);
  return losses.some(({ what, at, until }) => {
    if (acceptedAt > until + ACCEPTED_WITHIN_MS || what === 'broken' || forgetsAll(what)) return false;
    const hasBegun = starts.some((start) => start <= until);
    if (what === 'host_died') return acceptedAt >= at;
    return (!hasBegun || isBridgeBroken({ what, at, until }, losses)) && acceptedAt >= at;
  });
}

function acceptance({ chat, message, at }: Asked, transcript: readonly TranscriptEntry[]): number {
  const reaction = transcript.find(
    (entry) => entry.chat === chat && entry.what === 'reaction' && entry.message_id === message,
  );
  return reaction === undefined ? at : Date.parse(reaction.time);
}

/**
 * A progress line that nobody could edit: its sender was broken, or Redis lost the note, before its id was noted; or Redis
 * forgot everything while the line was at work, and its bridge died before it had stored that again. Telegram offers no way
 * to find a message again. Its first words stay true.
 */
export function isUnknownProgressLine({ texts, sentAt, editedAt }: SeenMessage, losses: readonly Loss[]): boolean {
  if (texts.length === 1 && texts[0] === STARTED) return true;
  const wasAtWork = ({ what, at, until }: Loss) =>
    what === 'flushed' && editedAt >= at - STORED_AGAIN_WITHIN_MS && sentAt <= until;
  if (losses.some((loss) => wasAtWork(loss) && isBridgeBroken(loss, losses))) return true;
  const isNear = ({ at, until }: Loss) => sentAt >= at - NOTED_WITHIN_MS && sentAt <= until + NOTED_WITHIN_MS;
  if (texts.length === 1) return losses.some(isNear);
  // A living bridge knows the id that Redis forgot.
  return losses.some((loss) => loss.what !== 'broken' && isNear(loss) && isBridgeBroken(loss, losses));
}

function isBridgeBroken({ what, at, until }: Loss, losses: readonly Loss[]): boolean {
  if (what === 'host_died' || what === 'lost_with_bridge') return true;
  return losses.some((other) => other.what === 'broken' && other.at >= at - LIVED_MS && other.at <= until + LIVED_MS);
}

/** Not only its last moment. */
export function forgetsAll(what: Loss['what']): boolean {
  return what === 'flushed' || what === 'lost_with_bridge';
}

/** That the one second attempt was used is forgotten with the second in which it was granted. */
export function isForgottenRevival(grantedAt: number, losses: readonly Loss[]): boolean {
  return isForgotten(grantedAt, losses);
}

/**
 * A run that began in the lost second, and whose bridge died with the memory of it: the store has its lane again as it was
 * before, so whoever stood ahead and had failed in that second is run first.
 */
export function isForgottenStart(startedAt: number, losses: readonly Loss[]): boolean {
  return losses.some(({ what, at, until }) => what === 'host_died' && startedAt >= at && startedAt <= until);
}

/**
 * What waits when the store forgets it is stored again as soon as its bridge notices. Who comes into the lane before that may
 * begin first.
 */
export function isOvertakenInLoss(
  first: Asked,
  second: Asked,
  losses: readonly Loss[],
  transcript: readonly TranscriptEntry[],
): boolean {
  const waitedSince = acceptance(first, transcript);
  const cameAt = acceptance(second, transcript);
  return losses.some(({ what, at, until }) => {
    if (what === 'broken' || waitedSince > until + ACCEPTED_WITHIN_MS) return false;
    if (!forgetsAll(what) && waitedSince < at) return false;
    return cameAt >= at && cameAt <= until + STORED_AGAIN_WITHIN_MS;
  });
}

/** A critical event that a full disk refuses is kept in Redis until its file can be written, and its issue is filed meanwhile. */
export function isKeptEvent(filedAt: number, losses: readonly Loss[]): boolean {
  return losses.some(({ isDiskFull, at, until }) => isDiskFull === true && filedAt >= at && filedAt <= until);
}

/** The hour of a project's last new issue is forgotten with the store. */
export function isForgottenIssue(createdAt: number, losses: readonly Loss[]): boolean {
  return isForgotten(createdAt, losses);
}

/**
 * A run that the bridge had when it was asked to stop waits again, and is no attempt.
 * @param nextAt when the next run of its message began
 */
export function isStoppedInOrder(startedAt: number, nextAt: number, losses: readonly Loss[]): boolean {
  return losses.some(({ isOrderly, at }) => isOrderly === true && at >= startedAt - BEGUN_WITHIN_MS && at < nextAt);
}

/** That it began is forgotten with the second in which it did. */
export function isForgottenRun(startedAt: number, losses: readonly Loss[]): boolean {
  return losses.some(({ what, at, until }) => {
    if (what !== 'rolled_back' && what !== 'host_died') return false;
    return startedAt >= at && startedAt <= until + BEGUN_WITHIN_MS;
  });
}

/** Until when Telegram wants to be left alone stands in the store alone. A process that is killed as it learns it stores nothing. */
export function isForgottenBan(bannedAt: number, triedAt: number, losses: readonly Loss[]): boolean {
  return losses.some(({ what, at, until }) => {
    const lastAt = what === 'broken' ? bannedAt + STORED_WITHIN_MS : triedAt;
    return until >= bannedAt && at <= lastAt;
  });
}

function isForgotten(storedAt: number, losses: readonly Loss[]): boolean {
  return losses.some(({ what, at, until }) => {
    if (what === 'broken' || storedAt > until + NOTED_WITHIN_MS) return false;
    return forgetsAll(what) || storedAt >= at - NOTED_WITHIN_MS;
  });
}
