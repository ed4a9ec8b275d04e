/** A session in the files of another older tracker, `export --format idumb`. They are never read back. */
import { jsonFile } from '../../src/json.js';
import { isoTime, isoTimeOrNull } from '../../src/time.js';
import { progressOf } from '../fold/state.js';
import type { Step, Worklog } from '../fold/worklog.js';
import { loadSessionMetadata, type SessionSources, sessionTracker } from '../show/sessionMetadata.js';
import { type ExportFiles, safeName } from './export.js';

/** Checkpoints outside of every step. */
const NO_PHASE = 'none';

export function idumbFiles(sources: SessionSources): ExportFiles {
  const { log } = sources;
  const session = { ...loadSessionMetadata(sources), tracker: sessionTracker(sources) };
  return {
    [`sessions/${safeName(log.session_id ?? '')}.json`]: jsonFile(session),
    'brain/state.json': jsonFile({
      phase: progressOf([...log.steps.values()]).current,
      anchors: log.notes.map(({ text, priority, at }) => ({ content: text, priority, timestamp: isoTime(at) })),
      history: log.recent.map(({ at, words }) => ({ timestamp: isoTime(at), action: words })),
    }),
    ...checkpointFiles(log),
  };
}

/** One for each completed phase, and the declared ones, under the phase that was in progress. */
function checkpointFiles({ steps, checkpoints }: Worklog): ExportFiles {
  const completed = [...steps.values()].filter(({ status }) => status === 'completed');
  const made = [...checkpoints.values()].map(({ name, at, head, branch, dirty_digest }) => {
    const phase = [...steps.values()].find((step) => isInProgress(step, at))?.id ?? NO_PHASE;
    return [pathOf(phase, name), { id: name, phase, createdAt: isoTime(at), head, branch, dirty_digest }] as const;
  });
  const done = completed.map(({ id, title, ended_at, files, validation }) => {
    const name = `phase-${id}`;
    return [
      pathOf(id, name),
      { id: name, phase: id, title, createdAt: isoTimeOrNull(ended_at), files, validation },
    ] as const;
  });
  return Object.fromEntries([...done, ...made].map(([path, value]) => [path, jsonFile(value)]));
}

function isInProgress({ spans }: Step, at: number): boolean {
  return spans.some(({ from, until }) => from <= at && (until === null || at <= until));
}

function pathOf(phase: string, name: string): string {
  return `execution/${safeName(phase)}/checkpoint-${safeName(name)}.json`;
}
