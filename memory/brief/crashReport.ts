/** What somebody must know who finds a session whose agent is dead. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import { oneLine } from '../../src/log/visibleText.js';
import { isoTime } from '../../src/time.js';
import type { Worklog } from '../fold/worklog.js';
import { ago, stepLine } from '../show/status.js';
import { type DoubtfulFile, filesInDoubt } from './filesInDoubt.js';

export interface CrashReport {
  readonly session_id: string;
  readonly purpose: string;
  readonly proof: string;
  readonly created_at: number | null;
  readonly last_activity: number | null;
  readonly steps: readonly string[];
  readonly files: readonly DoubtfulFile[];
  readonly recent: readonly { readonly at: number; readonly words: string }[];
  readonly advice: readonly string[];
}

/**
 * @param log of a crashed session
 * @param root of its workspace
 * @param here the identity of a process of this host
 */
export function crashReport(log: Worklog, root: string, here: ProcessIdentity): CrashReport {
  const files = filesInDoubt({ log, fold: null }, root);
  const steps = [...log.steps.values()];
  const current = steps.find(({ status }) => status === 'in_progress');
  return {
    session_id: log.session_id ?? '',
    purpose: log.facts?.purpose ?? '',
    proof: proofOf(log, here),
    created_at: log.created_at,
    last_activity: log.last_activity,
    steps: steps.map(stepLine),
    files,
    recent: log.recent,
    advice: [
      ...(files.length === 0 ? [] : ['Look at the files above before anything else: they may be half written.']),
      ...(current === undefined
        ? []
        : [`Step ${current.id} was in progress: ${oneLine(current.title)}. Do it again, or finish it.`]),
      `Go on with the session: track init --resume "${oneLine(log.facts?.purpose ?? '')}"`,
    ],
  };
}

/** @returns the report for a person */
export function crashLines(
  { session_id, purpose, proof, created_at, last_activity, steps, files, recent, advice }: CrashReport,
  now: number,
): string[] {
  const time = (at: number | null) => (at === null ? 'unknown' : `${isoTime(at)} (${ago(now - at)})`);
  return [
    `${session_id} crashed: ${proof}`,
    `task:           ${oneLine(purpose)}`,
    `began:          ${time(created_at)}`,
    `last activity:  ${time(last_activity)}`,
    ...section('steps:', steps),
    ...section('files that may be incomplete:', files.map(fileLine)),
    ...section(
      'the last entries:',
      recent.map(({ at, words }) => `${isoTime(at)}  ${oneLine(words)}`),
    ),
    ...section('what to do:', advice),
  ];
}

/** @returns why the agent of the last run is known to be dead, in a clause */
export function proofOf({ runs }: Worklog, here: ProcessIdentity): string {
  const run = runs.at(-1);
  if (run === undefined) return 'no run is known';
  const { pid, boot_id } = run.process;
  return boot_id === here.boot_id
    ? `process ${pid} is gone, and nobody has said that it ended`
    : `process ${pid} ran before this host was started again, and nobody has said that it ended`;
}

function fileLine({ path, step, exists, size, changed_since }: DoubtfulFile): string {
  const of = step === null ? '' : `, step ${step}`;
  if (!exists) return `${oneLine(path)}: does not exist${of}`;
  return `${oneLine(path)}: ${size} bytes, ${changed_since ? 'changed since it was begun' : 'not changed since it was begun'}${of}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}
