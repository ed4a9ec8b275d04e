/**
 * Names the owner that brings each state of a record to its end. A state has exactly one owner, or is an end: without an owner
 * it would last for ever. Complete by type: a state that is added to the model does not compile without an entry here.
 */
import type { IncidentStep, OutageCourse, OutageHold, ReportState } from '../../../src/jobs/incidents.js';
import type { DeliveryState, SessionStatus } from '../../../src/jobs/model.js';

export interface Owner {
  /** The name used in docs/internals/owners.md. */
  readonly name: string;
  /** The file that does it. */
  readonly place: string;
}

/** Null: an end. */
type OwnersOf<State extends string> = Readonly<Record<State, Owner | null>>;

const LANE: Owner = { name: "its lane, which is its host's", place: 'bridge/queue/pump.ts' };
const RUN: Owner = { name: "its run, named by the lane's holder key", place: 'bridge/runs/runJob.ts' };
const WATCHDOG: Owner = {
  name: 'the acting watchdog of its logs folder, or the watchdog that took over its lease',
  place: 'monitoring/incident/saga/saga.ts',
};
const REPORTER: Owner = {
  name: 'the acting watchdog, until its `due_at` is null',
  place: 'monitoring/incident/saga/dueReports.ts',
};
const OUTAGE: Owner = { name: 'the acting watchdog', place: 'monitoring/incident/outage/outageSteps.ts' };
const ANY_SENDER: Owner = { name: 'the process that claims it first', place: 'bridge/chat/deliveryService.ts' };
const SENDER: Owner = {
  name: 'the holder of the claim, until the claim expires or its holder is proven dead',
  place: 'src/jobs/outbox.ts',
};

export const SESSION_OWNERS: OwnersOf<SessionStatus> = {
  pending: LANE,
  active: RUN,
  completed: null,
  failed: null,
  cancelled: null,
};

export const DELIVERY_OWNERS: OwnersOf<DeliveryState> = {
  queued: ANY_SENDER,
  sending: SENDER,
  sent: null,
  unknown: null,
  given_up: null,
};

export const INCIDENT_OWNERS: OwnersOf<IncidentStep> = {
  opened: WATCHDOG,
  detected: WATCHDOG,
  stopping: WATCHDOG,
  released: WATCHDOG,
  revived: WATCHDOG,
  told: WATCHDOG,
  closed: null,
};

export const REPORT_OWNERS: OwnersOf<ReportState> = {
  pending: REPORTER,
  ambiguous: REPORTER,
  filed: null,
  joined: null,
  capped: null,
  given_up: null,
};

/** Of an outage; the last phase ends with its incident. */
export const OUTAGE_OWNERS: OwnersOf<OutageCourse['phase']> = {
  down: OUTAGE,
  probing: OUTAGE,
  releasing: OUTAGE,
  giving_up: OUTAGE,
};

/** Of a message held by an outage; once it is released, its incident's steps continue. */
export const HOLD_OWNERS: OwnersOf<OutageHold['state']> = { held: OUTAGE, go: OUTAGE, give_up: OUTAGE };
