/**
 * Named places before and after every effect that outlives the process. A test kills, stops, delays or fails a process exactly
 * there (`WATCHKEEPER_FAILPOINT`, read by the command line); in production none is armed, and passing one costs a comparison
 * with null.
 */
import { readFileSync, unlinkSync, writeSync } from 'node:fs';
import { UnreachableError, UsageError } from './errors.js';

/** The purpose of a commit; `src/redis/commit.ts` passes the failpoints of commits that have one. */
export const COMMIT_NAMES = [
  'accept',
  'start',
  'renew',
  'record_run',
  'complete',
  'complete_forgotten',
  'interrupt',
  'regain',
  'release',
  'cancel',
  'open_incident',
  'save_incident',
  'request_stop',
  'revive',
  'fail_and_tell',
  'close_incident',
  'delivery',
  'lease',
  'take_lease',
  'issue_record',
] as const;
export type CommitName = (typeof COMMIT_NAMES)[number];

const OUTSIDE_EFFECTS = [
  'journal.append',
  'journal.sync',
  'log.append',
  'keep.copy',
  'archive.document',
  'archive.move',
  'archive.mirror',
  'archive.folder',
  'worktree.keep',
  'worktree.commit',
  'worktree.target',
  'worktree.record',
  'worktree.move',
  'worktree.confirm',
  'worktree.folder',
  'worktree.forget',
  'worktree.branch',
  'worktree.remote',
  'worktree.note',
  'worktree.done',
  'critical_event.append',
  'queue.add',
  'agent.spawn',
  'run.ask',
  'run.kill',
  'issue.post',
  'issue.patch',
  'issue.comment',
  'issue.close',
  'answer.send',
  'answer.placeholder',
  'answer.edit',
  'progress.send',
  'progress.edit',
] as const;

type Effect = `commit.${CommitName}` | (typeof OUTSIDE_EFFECTS)[number];
export type Failpoint = `${Effect}.before` | `${Effect}.after`;

/** `delay` blocks the whole process; `throw` is an unreachable server or, after the effect, a lost reply. */
export const FAILPOINT_ACTIONS = ['kill', 'stop', 'throw', 'delay'] as const;
export type FailpointAction = (typeof FAILPOINT_ACTIONS)[number];

export const FAILPOINTS: readonly Failpoint[] = [
  ...COMMIT_NAMES.map((name) => `commit.${name}` as const),
  ...OUTSIDE_EFFECTS,
].flatMap((effect) => [`${effect}.before`, `${effect}.after`] as const);

/** Longer than the shortest lease, so that a delayed process wakes up late. */
const DELAY_MS = 2_500;
const STDERR = 2;

interface Armed {
  readonly name: Failpoint;
  readonly action: FailpointAction;
  /** How many more times it is passed before it trips. */
  left: number;
}

let armed: Armed | null = null;
let orders: { readonly file: string; text: string } | null = null;

/**
 * For tests only: the process trips at a failpoint, once, and reports that on standard error.
 * @param text `name:action:nth`, as `issue.post.after:kill:1`; undefined disarms. `@FILE`: the same is read from that file at
 *   each passage, so that running processes can be armed; if several share a file, the first to trip deletes it
 * @throws UsageError if it does not name a failpoint, an action and a count
 */
export function armFailpoint(text: string | undefined): void {
  orders = text?.startsWith('@') ? { file: text.slice(1), text: '' } : null;
  armed = text === undefined || orders !== null ? null : parse(text);
}

/** Passes a failpoint. @throws UnreachableError if `throw` is armed here */
export function failpoint(name: Failpoint): void {
  if (orders !== null) lookForOrder(orders);
  if (armed === null || armed.name !== name) return;
  armed.left -= 1;
  if (armed.left > 0) return;
  const { action } = armed;
  armed = null;
  if (orders !== null && !isFirst(orders.file)) return;
  writeSync(STDERR, `${trippedLine(name, action)}\n`);
  trip(name, action);
}

/** The count of another order starts from zero. */
function lookForOrder(place: { readonly file: string; text: string }): void {
  let text = '';
  try {
    text = readFileSync(place.file, 'utf8').trim();
  } catch {
    // There is no order.
  }
  if (text === place.text) return;
  place.text = text;
  armed = text === '' ? null : parse(text);
}

function isFirst(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch {
    return false;
  }
}

/** @returns the message of a tripped process, which the test looks for */
export function trippedLine(name: Failpoint, action: FailpointAction): string {
  return `failpoint ${name} tripped: ${action}`;
}

function trip(name: Failpoint, action: FailpointAction): void {
  switch (action) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      // The signal takes effect when the thread next leaves the kernel at the latest: nothing more may happen until then.
      block(DELAY_MS);
      return;
    case 'stop':
      process.kill(process.pid, 'SIGSTOP');
      return;
    case 'delay':
      block(DELAY_MS);
      return;
    case 'throw':
      throw new UnreachableError(`failpoint ${name}`);
    default:
      action satisfies never;
  }
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function parse(text: string): Armed {
  const [name = '', action = '', nth = '1'] = text.split(':');
  const failpointName = FAILPOINTS.find((known) => known === name);
  const failpointAction = FAILPOINT_ACTIONS.find((known) => known === action);
  const left = Number(nth);
  if (failpointName === undefined || failpointAction === undefined || !Number.isInteger(left) || left < 1) {
    throw new UsageError(
      `WATCHKEEPER_FAILPOINT: ${JSON.stringify(text)} is not name:action:nth with one of the actions ${FAILPOINT_ACTIONS.join(', ')}; it is for tests only, remove it`,
    );
  }
  return { name: failpointName, action: failpointAction, left };
}
