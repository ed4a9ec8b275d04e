/** How surely, and how late, each injected fault is found by the default thresholds. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Replay } from '../../monitoring/offline/replay.js';
import { assessSessionHealth, assessState, quietSince } from '../../monitoring/verdict/assessSessionHealth.js';
import { owedUntil } from '../../monitoring/verdict/timeline/askedPerson.js';
import { toEntry } from '../../monitoring/verdict/timeline/entry.js';
import { Timeline } from '../../monitoring/verdict/timeline/timeline.js';
import { DEFAULT_THRESHOLDS, type Rule } from '../../src/config/rules.js';
import { SECOND } from '../../src/time.js';
import { FAULTS, type Fault, type Faulty, type Line } from './inject.js';

export interface FaultRow {
  readonly fault: string;
  readonly rule: Rule;
  /** Sessions that have a place for the fault. */
  readonly injected: number;
  readonly found: number;
  /** Sessions in which the rule was true later than it had to be, or not at all. */
  readonly missed: readonly string[];
  /** From the fault to the instant at which the rule became true, ascending, in milliseconds. */
  readonly delaysMs: readonly number[];
}

/**
 * @param folder recorded sessions with their `labels.csv`
 * @returns a row for each fault, over every session that is labelled `committed`
 */
export function measureFaults(folder: string): FaultRow[] {
  const sessions = healthySessions(folder);
  return FAULTS.map((fault) => {
    const missed: string[] = [];
    const delaysMs: number[] = [];
    let injected = 0;
    for (const { file, lines } of sessions) {
      const delayMs = delayOf(fault, lines);
      if (delayMs === null) continue;
      injected += 1;
      if (delayMs === Number.POSITIVE_INFINITY) missed.push(file);
      else delaysMs.push(delayMs);
    }
    delaysMs.sort((left, right) => left - right);
    return { fault: fault.name, rule: fault.rule, injected, found: delaysMs.length, missed, delaysMs };
  });
}

/** How early a silent model is mentioned, and how often a healthy one is. */
export interface QuietWords {
  /** From the fault to the word, ascending, in milliseconds. */
  readonly delaysMs: readonly number[];
  /** Healthy silences that were mentioned. */
  readonly warnings: number;
  readonly owedMs: number;
}

/** @param folder as for {@link measureFaults} */
export function measureQuietWords(folder: string): QuietWords {
  const delaysMs: number[] = [];
  let warnings = 0;
  let owedMs = 0;
  const [hang] = FAULTS;
  for (const { lines } of healthySessions(folder)) {
    const healthy = wordsIn(lines);
    warnings += healthy.since.size;
    owedMs += healthy.owedMs;
    const faulty = hang?.inject(lines) ?? null;
    if (faulty !== null) delaysMs.push(wordDelay(faulty));
  }
  return { delaysMs: delaysMs.sort((left, right) => left - right), warnings, owedMs };
}

/** A word is due in the last instant of a silence, if at all: with the next line it is taken back. */
function wordsIn(lines: readonly Line[]) {
  const since = new Set<number>();
  let owedMs = 0;
  const replay = new Replay(DEFAULT_THRESHOLDS, Number.POSITIVE_INFINITY, {
    before: (state, now) => {
      owedMs += owedUntil(state.run, now) - state.run.owedUntil;
      const at = now - 1;
      const quiet = quietSince(assessState(state, DEFAULT_THRESHOLDS, at), DEFAULT_THRESHOLDS, at);
      if (quiet !== null) since.add(quiet);
    },
    judged: () => undefined,
  });
  replay.add(lines);
  replay.finish();
  return { since, owedMs };
}

/** @returns infinite if there is no word before the rule is true */
function wordDelay({ journal, faultAt, dueAt }: Faulty): number {
  const entries = journal.map((line) => toEntry(line)).filter((entry) => entry !== null);
  const timeline = new Timeline();
  timeline.add(entries, dueAt);
  for (let now = faultAt; now < dueAt; now += SECOND) {
    const assessment = assessSessionHealth(timeline, DEFAULT_THRESHOLDS, now);
    if (quietSince(assessment, DEFAULT_THRESHOLDS, now) !== null) return now - faultAt;
  }
  return Number.POSITIVE_INFINITY;
}

/** @returns infinite where the fault was not found in time; null where the session has no place for it */
function delayOf(fault: Fault, lines: readonly Line[]): number | null {
  const faulty = fault.inject(lines);
  if (faulty === null) return null;
  let first = Number.POSITIVE_INFINITY;
  const replay = new Replay(DEFAULT_THRESHOLDS, faulty.dueAt, {
    before: () => undefined,
    judged: (_state, { findings }, now) => {
      if (now > faulty.faultAt && findings.some(({ rule }) => rule === fault.rule)) first = Math.min(first, now);
    },
  });
  replay.add(faulty.journal);
  replay.finish();
  return first - faulty.faultAt;
}

function healthySessions(folder: string): { file: string; lines: Line[] }[] {
  const rows = readFileSync(join(folder, 'labels.csv'), 'utf8').trim().split('\n').slice(1);
  return rows
    .map((row) => row.split(','))
    .filter((cells) => cells[5] === 'committed')
    .map(([file = '']) => ({ file, lines: readLines(join(folder, file)) }));
}

function readLines(path: string): Line[] {
  const lines = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text) as Line);
  return lines.sort((left, right) => Date.parse(String(left.timestamp)) - Date.parse(String(right.timestamp)));
}
