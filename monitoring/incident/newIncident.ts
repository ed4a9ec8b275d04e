/** How an incident begins, and how findings join it later. */

import { RULES, type Rule, type RuleAction } from '../../src/config/rules.js';
import { ulid } from '../../src/ids.js';
import type { Finding } from '../../src/jobs/findings.js';
import type { FailedConversation, Incident, ReachedStep } from '../../src/jobs/incidents.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { Clock } from '../../src/time.js';

/** Why a session is accused. */
export interface Evidence {
  /** At least one; the caller leaves out rules that are switched off. */
  readonly findings: readonly Finding[];
  readonly actions: Readonly<Record<Rule, RuleAction>>;
  readonly toolCount: number;
  /** ISO 8601; null if there was no call. */
  readonly lastToolCall: string | null;
}

export interface IncidentFacts extends Evidence {
  readonly session: AgentSession;
  readonly notRevivedBecause?: string | null;
  /** The agent's own words at its end; null if there were none, or they were lost. */
  readonly untrustedExcerpt?: string | null;
  /** The run's conversation when it failed; null if it had none. */
  readonly conversation?: FailedConversation | null;
  /** The agent's last step; null if it is not known. */
  readonly step?: ReachedStep | null;
}

/** @returns the incident as it is stored before anything outside Redis happens */
export function newIncident(clock: Clock, facts: IncidentFacts): Incident {
  const now = clock.now();
  return {
    incident_id: ulid(clock),
    session_id: facts.session.session_id,
    project_key: facts.session.project_key,
    ...(facts.session.run?.logs_id !== undefined && { logs_id: facts.session.run.logs_id }),
    rule: leadingRule(facts.findings),
    findings: facts.findings,
    step: 'opened',
    acting: facts.findings.some((finding) => isActedOn(finding.rule, facts.actions)),
    not_revived_because: facts.notRevivedBecause ?? reasonOf(facts.findings, facts.actions),
    untrusted_excerpt: facts.untrustedExcerpt ?? null,
    attempt: facts.session.attempt,
    last_tool_call: facts.lastToolCall,
    tool_count: facts.toolCount,
    ...(facts.step && { reached: facts.step }),
    ...(facts.conversation && { conversation: facts.conversation }),
    revival_session_id: null,
    report: { state: 'pending', url: null, tries: 0, due_at: now, last_error: null },
    opened_at: now,
    detected_at: null,
    stopping_at: null,
    closed_at: null,
    outcome: null,
    last_action: 'detected',
    rev: 1,
  };
}

/** Anything found after the fork is about an ended run. @returns null if every rule is known, or it is too late to join */
export function joiningFindings(
  incident: Incident,
  findings: readonly Finding[],
  actions: Readonly<Record<Rule, RuleAction>>,
  seen: Pick<IncidentFacts, 'notRevivedBecause' | 'untrustedExcerpt' | 'conversation'> = {},
): ({ readonly findings: Incident['findings'] } & Partial<Incident>) | null {
  const joining = findings.filter((finding) => !incident.findings.some((known) => known.rule === finding.rule));
  const canJoin = ['opened', 'detected', 'stopping'].includes(incident.step) && incident.outcome === null;
  if (joining.length === 0 || !canJoin) return null;
  const isNewlyActing = !incident.acting && joining.some((finding) => isActedOn(finding.rule, actions));
  return {
    findings: [...incident.findings, ...joining],
    acting: incident.acting || isNewlyActing,
    not_revived_because:
      incident.not_revived_because ?? seen.notRevivedBecause ?? (isNewlyActing ? reasonOf(joining, actions) : null),
    untrusted_excerpt: incident.untrusted_excerpt ?? seen.untrustedExcerpt ?? null,
    ...(seen.conversation && { conversation: seen.conversation }),
  };
}

/** A run that has ended must be dealt with even if its rule only reports: otherwise its lane would be held for ever. */
const ENDS_OF_RUNS: readonly Rule[] = ['crash', 'orphan'];

export function isActedOn(rule: Rule, actions: Readonly<Record<Rule, RuleAction>>): boolean {
  return actions[rule] === 'revive' || ENDS_OF_RUNS.includes(rule);
}

function reasonOf(findings: readonly Finding[], actions: Readonly<Record<Rule, RuleAction>>): string | null {
  if (findings.some(({ rule }) => actions[rule] === 'revive')) return null;
  const ended = findings.find(({ rule }) => ENDS_OF_RUNS.includes(rule));
  return ended === undefined ? null : 'this project is set to have such failures only reported';
}

function leadingRule(findings: readonly Finding[]): Rule {
  const rule = RULES.find((candidate) => findings.some((finding) => finding.rule === candidate));
  if (rule === undefined) throw new RangeError('an incident needs at least one finding');
  return rule;
}
