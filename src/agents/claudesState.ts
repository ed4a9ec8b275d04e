/** Files that Claude Code (2.1.329) keeps of its processes. Their shapes are not guaranteed. */
import { isAbsolute } from 'node:path';
import type { PublishedState, Supervised } from './agentProgram.js';

const STATUSES = ['idle', 'busy', 'waiting', 'shell'] as const;
/** `cli`: a window or a background session. `sdk-cli`: `claude -p`. Other programs run the rest. */
const PERSONS = ['cli', 'sdk-cli'];
/** The last part is a link of `/proc/{pid}/ns/pid`. */
const LINUX_DOMAIN = /^linux:([0-9a-f]+):pid:\[(\d+)\]$/;
const LONGEST_TEXT = 4096;
const LONGEST_NAME = 200;

/** Reads `sessions/PID.json`. @returns null for a process that is not on Linux, has no conversation yet, or does not say which process it is */
export function claudesState(fields: Readonly<Record<string, unknown>>): PublishedState | null {
  const { pid, spare } = fields;
  const [pid_start, conversation] = [fields.procStart, fields.sessionId].map((value) => textOf(value, LONGEST_NAME));
  const directory = textOf(fields.cwd, LONGEST_TEXT);
  const started_at = instantOf(fields.startedAt);
  const [, machine, pid_namespace] = LINUX_DOMAIN.exec(textOf(fields.pidDomain, LONGEST_NAME) ?? '') ?? [];
  if (typeof pid !== 'number' || !pid_start || !conversation || machine === undefined || spare === true) return null;
  if (directory === null || !isAbsolute(directory) || started_at === null || pid_namespace === undefined) return null;
  const status = STATUSES.find((known) => known === fields.status) ?? null;
  return {
    ...{ pid, pid_start, machine, pid_namespace, conversation, directory, started_at, status },
    is_persons: PERSONS.some((known) => known === fields.entrypoint),
    waiting_for: status === 'waiting' ? textOf(fields.waitingFor, LONGEST_NAME) : null,
    status_at: instantOf(fields.statusUpdatedAt) ?? started_at,
  };
}

/** The list that the daemon of background sessions keeps. It starts a worker again some ten seconds after it died. */
export function claudesSupervised({ supervisorPid, workers }: Readonly<Record<string, unknown>>): Supervised | null {
  if (typeof supervisorPid !== 'number' || typeof workers !== 'object' || workers === null) return null;
  const conversations = Object.values(workers).flatMap(
    (worker: { readonly sessionId?: unknown } | null) => textOf(worker?.sessionId, LONGEST_NAME) ?? [],
  );
  return { supervisor: supervisorPid, conversations };
}

function textOf(value: unknown, longest: number): string | null {
  const isText = typeof value === 'string' && value !== '' && value.length <= longest && !value.includes('\0');
  return isText ? value : null;
}

function instantOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}
