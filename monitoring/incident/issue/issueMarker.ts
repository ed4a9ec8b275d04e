/** How an issue is recognised: a hidden first line that people do not see and do not edit by accident. */

import { createHash, createHmac } from 'node:crypto';
import { INCIDENT_RULES, type IncidentRule } from '../../../src/config/rules.js';

/** A project's roll-up issue collects faults of rules that may not have an issue of their own within the hour. */
export const SEVERAL_FAULTS = 'several_faults';

export type IssueTopic = IncidentRule | typeof SEVERAL_FAULTS;

/** @returns what makes two occurrences the same fault: project and topic. The version is part of it. */
export function fingerprintOf(projectKey: string, topic: IssueTopic): string {
  return createHash('sha256').update(`watchkeeper v1\n${projectKey}\n${topic}`).digest('hex').slice(0, 24);
}

/**
 * The marks of one installation. A mark is keyed, so that only this installation can make one. Everyone can copy one, so the
 * author is checked as well. Older versions had marks without a key: everyone who knew the project's name could make them.
 */
export class IssueMarks {
  readonly #key: string;

  /** @param key the installation's, which survives restarts */
  constructor(key: string) {
    this.#key = key;
  }

  line(fingerprint: string): string {
    return `<!-- watchkeeper v2 ${fingerprint} ${this.#sign(fingerprint)} -->`;
  }

  /** @returns the fingerprint in a body's first line, if this installation or an older version wrote it; else null */
  fingerprintIn(body: string): string | null {
    return this.keyedIn(body) ?? FORMER.exec(firstLineOf(body))?.[1] ?? null;
  }

  /** @returns the fingerprint, if the first line is a mark of this installation; else null */
  keyedIn(body: string): string | null {
    const [, fingerprint, signature] = KEYED.exec(firstLineOf(body)) ?? [];
    return fingerprint !== undefined && signature === this.#sign(fingerprint) ? fingerprint : null;
  }

  #sign(fingerprint: string): string {
    return createHmac('sha256', this.#key).update(`issue ${fingerprint}`).digest('hex').slice(0, 32);
  }
}

const FORMER = /^<!-- watchkeeper v1 ([0-9a-f]{24}) -->$/;
const ANY = /^<!-- watchkeeper v\d ([0-9a-f]{24})[ 0-9a-f]* -->$/;
const KEYED = /^<!-- watchkeeper v2 ([0-9a-f]{24}) ([0-9a-f]{32}) -->$/;

function firstLineOf(body: string): string {
  return body.split('\n', 1)[0]?.replace(/\r$/, '') ?? '';
}

/** @returns the fingerprint in a body's first line, without a check of its author; null if it has none */
export function namedIn(body: string): string | null {
  return ANY.exec(firstLineOf(body))?.[1] ?? null;
}

/** @param rules those of the occurrences in a roll-up issue: one that collects a single rule is named after it */
export function issueTitle(projectKey: string, topic: IssueTopic, rules: readonly IncidentRule[] = []): string {
  const [only, ...others] = new Set(rules);
  const collected = only !== undefined && others.length === 0 ? `${only} (collected)` : 'several faults';
  return `[Watchdog] ${projectKey}: ${topic === SEVERAL_FAULTS ? collected : topic}`;
}

/** @returns whether a roll-up issue of the project was given this title here: people may give it another one */
export function isRollUpTitle(projectKey: string, title: string): boolean {
  const ours = [
    issueTitle(projectKey, SEVERAL_FAULTS),
    ...INCIDENT_RULES.map((rule) => issueTitle(projectKey, SEVERAL_FAULTS, [rule])),
  ];
  return ours.includes(title);
}
