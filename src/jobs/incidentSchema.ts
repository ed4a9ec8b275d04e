/** The shape of an incident's record as Redis returns it, checked against its type. */
import { z } from 'zod';
import { INCIDENT_RULES } from '../config/rules.js';
import { WAIT_KINDS } from '../journal/schema.js';
import type { ClockReading, ConsideredWait, Finding } from './findings.js';
import {
  ACTIONS_TAKEN,
  INCIDENT_OUTCOMES,
  INCIDENT_STEPS,
  type Incident,
  type IncidentReport,
  type IncidentSubject,
  type OutageCourse,
  type OutageHold,
  type OutcomeNote,
  REPORT_STATES,
} from './incidents.js';

const wait: z.ZodType<ConsideredWait> = z.object({
  kind: z.enum(['tool', ...WAIT_KINDS]),
  owner: z.string(),
  call: z.string().nullable().exactOptional(),
  agent: z.string().nullable().exactOptional(),
  since: z.string(),
  until: z.string().nullable(),
  excuses: z.boolean(),
  why: z.string(),
});

const clock: z.ZodType<ClockReading> = z.object({
  agent: z.string().nullable(),
  unit: z.enum(['ms', 'failing_batches', 'calls']),
  value: z.number(),
  limit: z.number(),
  counted_from: z.string().nullable(),
});

const finding: z.ZodType<Finding<Incident['rule']>> = z.object({
  rule: z.enum(INCIDENT_RULES),
  reason: z.string(),
  since: z.string(),
  evidence: z.array(z.string()),
  waits_considered: z.array(wait),
  clock: clock.exactOptional(),
});

const subject: z.ZodType<IncidentSubject> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('lane'), lane: z.string() }),
  z.object({ kind: z.literal('queue'), host: z.string() }),
  z.object({ kind: z.literal('provider') }),
  z.object({ kind: z.literal('provider_in_project'), outage: z.string() }),
]);

const hold: z.ZodType<OutageHold> = z.object({
  incident_id: z.string(),
  state: z.enum(['held', 'go', 'give_up']),
  is_told: z.boolean(),
});

const course: z.ZodType<OutageCourse> = z.object({
  phase: z.enum(['down', 'probing', 'releasing', 'giving_up']),
  has_members: z.boolean(),
  probes: z.number(),
  next_probe_at: z.number(),
  out: z.string().nullable(),
  out_since: z.number().nullable(),
});

const report: z.ZodType<IncidentReport> = z.object({
  state: z.enum(REPORT_STATES),
  url: z.string().nullable(),
  tries: z.number(),
  due_at: z.number().nullable(),
  last_error: z.string().nullable(),
});

const note: z.ZodType<OutcomeNote> = z.object({ tries: z.number(), due_at: z.number(), last_error: z.string() });

const incidentSchema: z.ZodType<Incident> = z.object({
  incident_id: z.string(),
  session_id: z.string(),
  logs_id: z.string().exactOptional(),
  subject: subject.exactOptional(),
  hold: hold.exactOptional(),
  course: course.exactOptional(),
  project_key: z.string(),
  rule: z.enum(INCIDENT_RULES),
  findings: z.array(finding),
  step: z.enum(INCIDENT_STEPS),
  acting: z.boolean(),
  not_revived_because: z.string().nullable(),
  untrusted_excerpt: z.string().nullable().exactOptional(),
  attempt: z.literal([1, 2]),
  last_tool_call: z.string().nullable(),
  tool_count: z.number(),
  revival_session_id: z.string().nullable(),
  report,
  opened_at: z.number(),
  detected_at: z.number().nullable(),
  stopping_at: z.number().nullable(),
  closed_at: z.number().nullable(),
  outcome: z.enum(INCIDENT_OUTCOMES).nullable(),
  note: note.exactOptional(),
  last_action: z.enum(ACTIONS_TAKEN),
  rev: z.number(),
});

/**
 * Rejects torn records, and those of a version that knows further steps. Fields that only a later version writes may be
 * present.
 */
export function isIncident(doc: unknown): doc is Incident {
  return incidentSchema.safeParse(doc).success;
}
