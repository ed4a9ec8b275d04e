/**
 * How often a message was run. It has two attempts, however often its bridge dies: a run counts where its agent has worked in
 * earnest, which it has itself noted, or where its journal shows that the bridge has heard of it. A run that was lost so early
 * that nothing was heard of it is none, as docs/judgement.md says, and neither is one that an orderly stop of the bridge ended.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentRecord } from '../e2e/evidence.js';
import { FILES } from '../e2e/evidence.js';
import { isForgottenRun, isStoppedInOrder, type Loss } from './losses.js';
import { type Asked, HARNESS_FILES, readLines } from './records.js';
import { sessionOf } from './stakes.js';
import type { AgentStep } from './textAgent.js';

const MOST_RUNS = 2;
/** Written by the bridge, whatever its agent does. */
const WRITTEN_BY_BRIDGE = new Set(['run_start', 'session_start', 'user_prompt', 'session_end']);

export interface RunEvidence {
  readonly agents: readonly AgentRecord[];
  readonly steps: readonly AgentStep[];
  /** Runs of which their journals show a sign. */
  readonly journaledRuns: readonly string[];
  /** A lost run of which nothing was heard is an attempt from that age on; milliseconds. */
  readonly youngRunMs: number;
  readonly losses: readonly Loss[];
}

/** @returns what does not hold, in sentences */
export function attemptViolations(evidence: RunEvidence, asked: readonly Asked[]): string[] {
  return asked.flatMap((each) => {
    const runs = heardRuns(evidence, each);
    if (runs.length <= MOST_RUNS) return [];
    return [`${sessionOf(each)} (${each.kind}): ${runs.length} runs of it were heard of: ${runs.join(', ')}`];
  });
}

/** @returns how many messages had no run that was heard of, one, two, and so on */
export function countRuns(evidence: RunEvidence, asked: readonly Asked[]): number[] {
  const counts: number[] = [];
  for (const each of asked) {
    const { length } = heardRuns(evidence, each);
    while (counts.length <= length) counts.push(0);
    counts[length] = (counts[length] ?? 0) + 1;
  }
  return counts;
}

/** @returns the runs of a message that count, in order */
function heardRuns({ agents, steps, journaledRuns, youngRunMs, losses }: RunEvidence, asked: Asked): string[] {
  const session = sessionOf(asked);
  const own = agents.filter((record) => record.session === session || record.session.startsWith(`${session}_r`));
  const journaled = new Set(journaledRuns);
  const starts = own.filter(({ event }) => event === 'start').sort((one, other) => one.at - other.at);
  const counted = starts.filter(({ run, at }, index) => {
    const next = starts[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    if (isStoppedInOrder(at, next, losses) || isForgottenRun(at, losses)) return false;
    const signs = [...own, ...steps].filter((sign) => sign.run === run).map((sign) => sign.at);
    return journaled.has(run) || Math.max(at, ...signs) - at >= youngRunMs;
  });
  return counted.map(({ run }) => run);
}

/** @returns the evidence that the files of a scene are */
export function readRuns(folder: string): Pick<RunEvidence, 'steps' | 'journaledRuns' | 'youngRunMs'> {
  const { timings } = JSON.parse(readFileSync(join(folder, 'watchkeeper.config.json'), 'utf8'));
  const journals = [join(folder, FILES.journals), ...removedJournals(folder)];
  return {
    steps: readLines(join(folder, HARNESS_FILES.steps)),
    journaledRuns: journals.flatMap(journaledRuns),
    youngRunMs: Number(timings?.youngRunMs ?? DEFAULT_YOUNG_RUN_MS),
  };
}

const DEFAULT_YOUNG_RUN_MS = 5_000;

/** @returns the folders of journals that the harness has taken away, numbered in their order */
function removedJournals(folder: string): string[] {
  const removed = namesIn(join(folder, HARNESS_FILES.removed));
  return removed.map((name) => join(folder, HARNESS_FILES.removed, name, 'sessions'));
}

/** @returns the sessions whose journals the harness has taken away */
export function sessionsWithRemovedJournals(folder: string): string[] {
  return removedJournals(folder).flatMap(namesIn);
}

function journaledRuns(sessions: string): string[] {
  return namesIn(sessions).flatMap((name) => {
    const heard = new Set<string>();
    let run: string | null = null;
    for (const { event, run_id } of journalLines(join(sessions, name, 'tool_use.jsonl'))) {
      if (event === 'run_start') run = run_id ?? null;
      else if (run !== null && !WRITTEN_BY_BRIDGE.has(event ?? '')) heard.add(run);
    }
    return [...heard];
  });
}

/** A line that a crash cut off is left out. */
function journalLines(file: string): { readonly event?: string; readonly run_id?: string }[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // No run of it was journaled.
  }
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
