/** The lines of one incident, put together. */
import * as z from 'zod';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { textOf } from '../../src/journal/record.js';

export interface IncidentStory {
  /** Its details are untrusted. */
  readonly last: CriticalEvent;
  /** Epoch milliseconds. */
  readonly detected_at: number;
  /** Epoch milliseconds; null while it is open. */
  readonly closed_at: number | null;
  /** Milliseconds on the clock of the leading rule; null if that rule counts something else, or nothing. */
  readonly measured_ms: number | null;
  readonly revived: boolean;
  readonly revival_session_id: string | null;
  readonly not_revived_because: string | null;
  /** `failure_message_sent`, `…_unknown` or `…_given_up`, if the chat was notified. */
  readonly told: string | null;
  readonly github_issue: string | null;
  /** Each finding's sentence. Untrusted: those of older versions may contain an agent's last words. */
  readonly evidence: readonly string[];
  /** Untrusted. */
  readonly excerpt: string | null;
  /** The beginning of the message. Untrusted; null in lines of earlier versions. */
  readonly asked: string | null;
  /** Such as `claude 2.1.150`; null in lines of earlier versions. */
  readonly agent: string | null;
}

/** Another version, or a person, may have written the file: a field of another type counts as missing. */
const FINDING = z
  .object({
    rule: z.string().optional().catch(undefined),
    sentence: z.string().optional().catch(undefined),
    evidence: z.array(z.unknown()).catch([]),
    clock: z.object({ unit: z.string(), value: z.number() }).optional().catch(undefined),
  })
  .catch({ evidence: [] });
const FINDINGS = z.array(FINDING).catch([]);

/** @param story null before the first line @param at the event's instant, epoch milliseconds */
export function withEvent(story: IncidentStory | null, event: CriticalEvent, at: number): IncidentStory {
  const { details, action_taken: action, rule } = event;
  const findings = FINDINGS.parse(details?.findings);
  const leading = findings.find((finding) => finding.rule === rule && finding.clock?.unit === 'ms');
  const said = findings.flatMap(
    ({ sentence, evidence }) => sentence ?? evidence.filter((each) => typeof each === 'string'),
  );
  return {
    last: event,
    detected_at: story?.detected_at ?? at,
    closed_at: event.final ? at : null,
    measured_ms: leading?.clock?.value ?? story?.measured_ms ?? null,
    revived: story?.revived === true || action === 'revival_attempted',
    revival_session_id: textOf(details?.revival_session_id) ?? story?.revival_session_id ?? null,
    not_revived_because: textOf(details?.not_revived_because) ?? story?.not_revived_because ?? null,
    told: action?.startsWith('failure_message_') ? action : (story?.told ?? null),
    github_issue: textOf(event.github_issue) ?? story?.github_issue ?? null,
    evidence: said.length > 0 ? said : (story?.evidence ?? []),
    excerpt: textOf(event.untrusted_excerpt) ?? story?.excerpt ?? null,
    asked: textOf(event.asked) ?? story?.asked ?? null,
    agent: agentWords(event) ?? story?.agent ?? null,
  };
}

function agentWords({ agent }: CriticalEvent): string | null {
  if (agent === undefined) return null;
  return agent.version === null ? agent.name : `${agent.name} ${agent.version}`;
}
