/** What the harness itself writes down, beside what the product and the peers leave. */
import { appendFileSync, readFileSync } from 'node:fs';
import type { Kind, RoundPlan } from './plan.js';

export interface Asked {
  readonly at: number;
  readonly round: number;
  readonly project: string;
  readonly chat: number;
  readonly message: number;
  readonly kind: Kind;
}

export interface RoundResult {
  readonly round: number;
  readonly plan: RoundPlan;
  /** The fault fell. */
  readonly fell: boolean;
  /** It hit a live run or an open incident. */
  readonly effective: boolean;
  /** What tripped processes said. */
  readonly tripped: readonly string[];
  /** Sink faults that hit a request. */
  readonly sinkFaultsUsed: number;
  /** Until the fault had fallen. */
  readonly fellAfterMs: number;
  readonly tookMs: number;
  /** Messages without an end when the time was over. */
  readonly unended: readonly string[];
}

export interface SceneResult {
  readonly scene: string;
  readonly rounds: readonly RoundResult[];
  readonly violations: readonly string[];
  /** Incidents whose report was still to be tried again. */
  readonly openIncidents: number;
  readonly tookMs: number;
}

export const HARNESS_FILES = {
  asked: 'asked.jsonl',
  overlaps: 'overlaps.jsonl',
  storeWrites: 'store-writes.jsonl',
  left: 'left-processes.json',
  /** What the harness took from the product; {@link Loss} */
  losses: 'losses.jsonl',
  filedIssues: 'filed-issues.jsonl',
  orphans: 'orphans.jsonl',
  synced: 'synced.jsonl',
  /** What text agents have done; {@link AgentStep} */
  steps: 'steps.jsonl',
  /** {@link ClockShift} */
  clocks: 'clocks.jsonl',
  /** {@link TextCall} */
  textCalls: 'text-calls.jsonl',
  /** The journals that were removed, in numbered folders. */
  removed: 'removed',
} as const;

export function appendLine(file: string, line: object): void {
  appendFileSync(file, `${JSON.stringify(line)}\n`);
}

/** @returns none where there is no such file */
export function readLines<T>(file: string): T[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}
