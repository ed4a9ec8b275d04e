/** What an issue is recognised by: a hidden first line that people do not see and do not edit by accident. */
import { createHash } from 'node:crypto';
import { INCIDENT_RULES, type IncidentRule } from '../../src/findings.js';

/** @returns what makes two occurrences the same fault: project and rule. The version is part of it. */
export function fingerprintOf(projectKey: string, rule: IncidentRule): string {
  return createHash('sha256').update(`watchkeeper v1\n${projectKey}\n${rule}`).digest('hex').slice(0, 24);
}

/** @returns the fingerprints of every rule of a project */
export function fingerprintsOf(projectKey: string): string[] {
  return INCIDENT_RULES.map((rule) => fingerprintOf(projectKey, rule));
}

/** @returns the first line of an issue's body */
export function markerLine(fingerprint: string): string {
  return `<!-- watchkeeper v1 ${fingerprint} -->`;
}

/** @returns the fingerprint in a body's first line; null where the whole line is anything else */
export function fingerprintIn(body: string): string | null {
  const firstLine = body.split('\n', 1)[0]?.replace(/\r$/, '') ?? '';
  return /^<!-- watchkeeper v1 ([0-9a-f]{24}) -->$/.exec(firstLine)?.[1] ?? null;
}

export function issueTitle(projectKey: string, rule: IncidentRule): string {
  return `[Watchdog] ${projectKey}: ${rule}`;
}
