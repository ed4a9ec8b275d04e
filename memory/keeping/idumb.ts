/** A session in the files of another older tracker, `export --format idumb`. They are never read back. */
import { isoTime } from '../../src/time.js';
import { progressOf } from '../fold/state.js';
import type { Step, Worklog } from '../fold/worklog.js';
import type { Line } from '../logs/line.js';
import { type ExportFiles, safeName } from './export.js';

/** Checkpoints outside of every step. */
const NO_PHASE = 'none';

/**
 * @param lines of its worklog that were applied
 * @param depth how many sessions it was delegated through; 0: it is a root
 */
export function idumbFiles(log: Worklog, lines: readonly Line[], depth: number): ExportFiles {
  const phase = progressOf([...log.steps.values()]).current;
  return {
    [`sessions/${safeName(log.session_id ?? '')}.json`]: pretty(sessionOf(log, lines, depth)),
    'brain/state.json': pretty({
      phase,
      anchors: log.notes.map(({ text, priority, at }) => ({ content: text, priority, timestamp: isoTime(at) })),
      history: log.recent.map(({ at, words }) => ({ timestamp: isoTime(at), action: words })),
    }),
    ...checkpointFiles(log),
  };
}

function sessionOf(
  { facts, session_id, created_at, last_activity, steps, refused }: Worklog,
  lines: readonly Line[],
  depth: number,
) {
  const set = facts?.set ?? {};
  const language = (set.language ?? {}) as Readonly<Record<string, unknown>>;
  const current = progressOf([...steps.values()]).current;
  const parentSession = facts?.parent ?? null;
  return {
    sessionId: session_id,
    createdAt: timeOf(created_at),
    lastUpdated: timeOf(last_activity),
    phase: current === null ? null : (steps.get(current)?.title ?? null),
    governanceLevel: set.governance_level ?? null,
    delegationDepth: depth,
    parentSession,
    language: { communication: language.communication ?? null, documents: language.documents ?? null },
    tracker: {
      firstToolUsed: null,
      firstToolName: null,
      agentRole: set.role ?? null,
      delegationDepth: depth,
      sessionLevel: depth + 1,
      parentSession,
      violationCount: refused,
      governanceInjected: lines.some(({ event }) => event === 'context_given'),
    },
  };
}

/** One for each completed phase, and those that somebody has made, under the phase that was in progress. */
function checkpointFiles({ steps, checkpoints }: Worklog): ExportFiles {
  const completed = [...steps.values()].filter(({ status }) => status === 'completed');
  const made = [...checkpoints.values()].map(({ name, at, head, branch, dirty_digest }) => {
    const phase = [...steps.values()].find((step) => isInProgress(step, at))?.id ?? NO_PHASE;
    return [pathOf(phase, name), { id: name, phase, createdAt: isoTime(at), head, branch, dirty_digest }] as const;
  });
  const done = completed.map(({ id, title, ended_at, files, validation }) => {
    const name = `phase-${id}`;
    return [pathOf(id, name), { id: name, phase: id, title, createdAt: timeOf(ended_at), files, validation }] as const;
  });
  return Object.fromEntries([...done, ...made].map(([path, value]) => [path, pretty(value)]));
}

function isInProgress({ spans }: Step, at: number): boolean {
  return spans.some(({ from, until }) => from <= at && (until === null || at <= until));
}

function pathOf(phase: string, name: string): string {
  return `execution/${safeName(phase)}/checkpoint-${safeName(name)}.json`;
}

function timeOf(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
