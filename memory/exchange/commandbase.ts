/** A session in the files of an older plug-in for worktrees and sessions, `export --format commandbase`. They are never read back. */
import { jsonFile } from '../../src/json.js';
import { isoTime, isoTimeOrNull } from '../../src/time.js';
import type { DeclaredError, Worklog } from '../fold/worklog.js';
import type { ObservedError } from '../observed/calls.js';
import type { Observed } from '../observed/observed.js';
import { purposeOf } from '../observed/purpose.js';
import { type ExportFiles, safeName } from './export.js';

/** That tracker knew only the conversations of this program. */
const CLAUDE = 'claude';

interface Sources {
  readonly log: Worklog;
  /** Null if nothing was observed. */
  readonly fold: Observed | null;
  /** The directory of the session. Null if it is unknown. */
  readonly root: string | null;
}

export function commandbaseFiles({ log, fold, root }: Sources): ExportFiles {
  const { session_id, facts, created_at, lifecycle, end, conversations } = log;
  const id = session_id ?? '';
  const name = facts?.name ?? id;
  const branch = facts?.baseline?.branch ?? null;
  const created = isoTimeOrNull(created_at);
  const status = lifecycle === 'ended' ? 'ended' : 'active';
  const folder = safeName(id);
  return {
    'session-map.json': jsonFile({ [name]: { name, branch, worktree: root, created, status } }),
    [`${folder}/meta.json`]: jsonFile({
      sessionId: id,
      claudeSessionIds: conversations.flatMap((one) => (one.provider === CLAUDE ? [one.id] : [])),
      name,
      branch,
      worktree: root,
      created,
      gitBranch: branch,
      summary: end?.summary ?? purposeOf(log, fold),
    }),
    [`${folder}/errors.log`]: lines(errorsOf(id, log.errors, fold?.errors ?? [])),
    [`${folder}/checkpoints.log`]: lines(
      [...log.checkpoints.values()].map(({ at, ...one }) => ({
        ...{ timestamp: isoTime(at), name: one.name, commit: one.head, branch: one.branch },
      })),
    ),
  };
}

function errorsOf(
  session_id: string,
  declared: readonly DeclaredError[],
  observed: readonly ObservedError[],
): object[] {
  const all = [
    ...declared.map(({ at, type, message, agent }) => ({
      at,
      tool: agent,
      input: type,
      error: message,
      source: 'declared',
    })),
    ...observed.map(({ at, tool, call, message }) => ({
      ...{ at, tool, input: call.replace(`${tool}: `, ''), error: message, source: 'observed' },
    })),
  ];
  return all
    .sort((left, right) => left.at - right.at)
    .map(({ at, ...error }) => ({ timestamp: isoTime(at), session_id, ...error }));
}

function lines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}
