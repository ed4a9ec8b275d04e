import { INCIDENT_RULES, type IncidentRule } from '../../../src/config/rules.js';
import type { CountedSubject, Detector } from './detector.js';
import { errorCascade } from './errorCascade.js';
import { loop } from './loop.js';
import { runaway } from './runaway.js';
import { silence } from './silence.js';

/** Every rule that a journal alone can decide, in their order of precedence: `crash`, `orphan` and `backlog` need more. */
export const DETECTORS: readonly Detector[] = [errorCascade, silence, runaway, loop];

/** Rules about facts that no journal shows: how a process ended, what waits, and what happened to others at the same time. */
export const BEYOND_JOURNALS: readonly IncidentRule[] = INCIDENT_RULES.filter(
  (rule) => !DETECTORS.some((detector) => detector.rule === rule),
);

/** Those that read no clock of silence. */
export const COUNTING_DETECTORS: readonly Detector<CountedSubject>[] = [errorCascade, runaway, loop];
