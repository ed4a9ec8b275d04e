/** The lines of one incident, put together. */
import type { IncidentRule } from '../../src/config/rules.js';
import {
  type CriticalEvent,
  type CriticalEventName,
  INCIDENT_OUTCOMES,
  type IncidentOutcome,
} from '../../src/jobs/incidents.js';

export interface IncidentStory {
  readonly incident_id: string;
  readonly project_key: string | null;
  readonly session_id: string | null;
  readonly rule: IncidentRule | null;
  readonly reason: string | null;
  /** Milliseconds on the clock of the leading rule; null if that rule counts something else, or nothing. */
  readonly measured_ms: number | null;
  readonly attempt: number;
  /** The event of its last line. */
  readonly event: CriticalEventName;
  /** Instants in epoch milliseconds; null for what has not happened yet. */
  readonly detected_at: number;
  readonly revived_at: number | null;
  readonly told_at: number | null;
  readonly closed_at: number | null;
  readonly last_at: number;
  readonly revival_session_id: string | null;
  readonly not_revived_because: string | null;
  /** Why it closed; `closed` if its last line says nothing that this version knows; null while it is open. */
  readonly outcome: IncidentOutcome | 'closed' | null;
  /** `failure_message_sent`, `…_unknown` or `…_given_up`, if the chat was notified. */
  readonly told: string | null;
  readonly github_issue: string | null;
  /** Each finding's sentence. Untrusted: those of older versions may contain an agent's last words. */
  readonly evidence: readonly string[];
  /** Untrusted. */
  readonly excerpt: string | null;
  /** The other details of its last line. Untrusted. */
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * @param story null before the first line
 * @param at the event's instant, epoch milliseconds
 * @returns the story with this line added
 */
export function withEvent(story: IncidentStory | null, event: CriticalEvent, at: number): IncidentStory {
  const details = event.details ?? {};
  const told = event.action_taken?.startsWith('failure_message_') === true ? event.action_taken : null;
  const isRevived = event.action_taken === 'revival_attempted';
  const evidence = evidenceIn(details.findings);
  return {
    incident_id: event.incident_id,
    project_key: event.project_key,
    session_id: event.session_id,
    rule: event.rule,
    reason: event.reason,
    measured_ms: measuredIn(details.findings, event.rule) ?? story?.measured_ms ?? null,
    attempt: details.attempt === 2 ? 2 : 1,
    event: event.event,
    detected_at: story?.detected_at ?? at,
    revived_at: story?.revived_at ?? (isRevived ? at : null),
    told_at: story?.told_at ?? (told === null ? null : at),
    closed_at: event.final ? at : null,
    last_at: at,
    revival_session_id: textOf(details.revival_session_id) ?? story?.revival_session_id ?? null,
    not_revived_because: textOf(details.not_revived_because) ?? story?.not_revived_because ?? null,
    outcome: event.final ? (INCIDENT_OUTCOMES.find((each) => each === details.outcome) ?? 'closed') : null,
    told: told ?? story?.told ?? null,
    github_issue: textOf(event.github_issue) ?? story?.github_issue ?? null,
    evidence: evidence.length > 0 ? evidence : (story?.evidence ?? []),
    excerpt: textOf(event.untrusted_excerpt) ?? story?.excerpt ?? null,
    details,
  };
}

/** The file may have been written by another version, or by hand: nothing about details is taken for granted. */
function evidenceIn(findings: unknown): string[] {
  if (!Array.isArray(findings)) return [];
  return findings.flatMap((finding: unknown) => {
    const { sentence, evidence } = (finding ?? {}) as { sentence?: unknown; evidence?: unknown };
    if (typeof sentence === 'string') return sentence;
    return Array.isArray(evidence) ? evidence.filter((line) => typeof line === 'string') : [];
  });
}

function measuredIn(findings: unknown, rule: string | null): number | null {
  if (!Array.isArray(findings)) return null;
  for (const finding of findings as unknown[]) {
    const { rule: its, clock } = (finding ?? {}) as { rule?: unknown; clock?: unknown };
    const { unit, value } = (clock ?? {}) as { unit?: unknown; value?: unknown };
    if (its === rule && unit === 'ms' && typeof value === 'number') return value;
  }
  return null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
