/** An incident at its beginning, and what joins it later. */
import { ulid } from '../../src/ids.js';
import { type AgentSession, type Finding, type Incident, RULES, type Rule, type RuleAction } from '../../src/model.js';
import type { Clock } from '../../src/time.js';

export interface IncidentFacts {
  readonly session: AgentSession;
  /** At least one; rules that are switched off are left out by the caller. */
  readonly findings: readonly Finding[];
  readonly actions: Readonly<Record<Rule, RuleAction>>;
  readonly notRevivedBecause: string | null;
  readonly toolCount: number;
  /** ISO 8601; null where there was no call. */
  readonly lastToolCall: string | null;
}

/** @returns the incident as it is stored before anything outside Redis happens */
export function newIncident(clock: Clock, facts: IncidentFacts): Incident {
  const now = clock.now();
  return {
    incident_id: ulid(clock),
    session_id: facts.session.session_id,
    project_key: facts.session.project_key,
    rule: leadingRule(facts.findings),
    findings: facts.findings,
    step: 'opened',
    acting: facts.findings.some((finding) => facts.actions[finding.rule] === 'revive'),
    not_revived_because: facts.notRevivedBecause,
    attempt: facts.session.attempt,
    last_tool_call: facts.lastToolCall,
    tool_count: facts.toolCount,
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

/**
 * Further rules join the open incident as findings; none opens a second one.
 * @returns what changes; null where every rule is known already
 */
export function joiningFindings(
  incident: Incident,
  findings: readonly Finding[],
  actions: Readonly<Record<Rule, RuleAction>>,
): Pick<Incident, 'findings' | 'acting'> | null {
  const joining = findings.filter((finding) => !incident.findings.some((known) => known.rule === finding.rule));
  if (joining.length === 0) return null;
  return {
    findings: [...incident.findings, ...joining],
    acting: incident.acting || joining.some((finding) => actions[finding.rule] === 'revive'),
  };
}

function leadingRule(findings: readonly Finding[]): Rule {
  const rule = RULES.find((candidate) => findings.some((finding) => finding.rule === candidate));
  if (rule === undefined) throw new RangeError('an incident needs at least one finding');
  return rule;
}
