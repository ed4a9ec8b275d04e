import { counted } from '../../src/counted.js';
import { UsageError } from '../../src/errors.js';
import { localTime } from '../../src/time.js';
import { worklogKind } from '../fold/rules/kind.js';
import type { Checkpoint } from '../fold/worklog.js';
import { type Checkout, shortCommit } from '../git/checkout.js';
import { Git, type GitState } from '../git/git.js';
import type { Print } from '../git/repository.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import { writeOrRefuse } from '../sessions/write.js';
import { requireDirectory } from '../show/directory.js';
import { contentsDigest } from '../workspaces/contents.js';
import { ownFilesIn } from '../workspaces/scan.js';
import { flag, option, word } from './fields.js';
import { meant } from './meant.js';
import { unanswered } from './unanswered.js';
import { type Outcome, verb } from './verb.js';

const INCOMPARABLE = 'git cannot compare the uncommitted changes';
/** The name of the session's beginning. */
const START = 'start';

export const checkpoint = verb({
  name: 'checkpoint',
  summary:
    'mark the state of the code, and compare it later; --verify start: with\nthe commit and branch at which the session began',
  fields: {
    name: word('NAME,'),
    list: flag('or --list,'),
    verify: option('--verify NAME,'),
    drop: option('--drop NAME'),
  },
  run(memory, input) {
    const { name, list, verify, drop } = input;
    const session = meant(memory, input);
    if (list) return listed(session);
    if (drop !== undefined) {
      writeOrRefuse(session, memory.stamp, () => [worklogKind.line('checkpoint_dropped', { name: drop })]);
      return { lines: `checkpoint "${drop}" dropped`, value: { name: drop } };
    }
    if (verify !== undefined) return verified(memory, session, verify);
    if (name === undefined || name.trim() === '')
      throw new UsageError(
        'what is the checkpoint called? For example: watchkeeper track checkpoint before-refactoring',
      );
    return marked(memory, session, name);
  },
});

function listed({ log }: OpenSession): Outcome {
  const checkpoints = [...log.state.checkpoints.values()];
  const lines = checkpoints.map(
    ({ name, at, head, branch }) =>
      `${name}  ${localTime(at)}  ${branch ?? 'no branch'}, ${head === null ? 'no commit' : shortCommit(head)}`,
  );
  return { lines: lines.length === 0 ? 'no checkpoints' : lines, value: checkpoints };
}

function verified(memory: Viewer, session: OpenSession, name: string): Outcome {
  const checkpoint = session.log.state.checkpoints.get(name);
  if (checkpoint === undefined && name === START) return verifiedStart(memory, session);
  if (checkpoint === undefined) throw new UsageError(`there is no checkpoint "${name}"; --list shows them`);
  const place = placeOf(memory, session);
  const changes = changesSince(checkpoint, place);
  if (changes.every((change) => change === INCOMPARABLE) && changes.length > 0)
    throw unanswered(place, memory.surroundings.variables, place.git.refusal);
  const value = { name: checkpoint.name, changes };
  if (changes.length === 0) return { lines: 'nothing has changed since', value };
  return { lines: changes.join(', '), value, verdict: 'found' };
}

/** At the start, git is not asked what is uncommitted, so that is no difference. */
function verifiedStart(memory: Viewer, session: OpenSession): Outcome {
  const { facts } = session.log.state;
  if (facts?.baseline == null)
    throw new UsageError(`session ${session.id} did not begin in a git repository; there is no commit to compare with`);
  const place = placeOf(memory, session);
  const now = requireState(place);
  const here = now === null ? null : { head: now.head, branch: now.branch && memory.stamp.redact(now.branch) };
  const changes = checkoutChanges({ ...facts.baseline, of: 'start' }, here, place);
  const dirty = now?.dirty.length ?? 0;
  const value = { name: START, changes, uncommitted: dirty };
  const asides =
    dirty === 0 ? [] : [`${counted(dirty, 'file')} uncommitted now; what was uncommitted at the start is not recorded`];
  if (changes.length === 0) return { lines: 'nothing has changed since', value, asides };
  return { lines: changes.join(', '), value, asides, verdict: 'found' };
}

function marked(memory: Viewer, session: OpenSession, name: string): Outcome {
  if (name === START) throw new UsageError(`"${START}" is the beginning of the session; choose another name`);
  const here = placeOf(memory, session);
  const state = requireState(here);
  const { head = null, branch = null, dirty_digest = null } = state ?? {};
  const value = { name, head, branch, dirty_digest, untracked_digest: untrackedDigest(state, here) };
  writeOrRefuse(session, memory.stamp, () => [
    worklogKind.line('checkpoint', { ...value, dirty: state?.dirty.length ?? 0 }),
  ]);
  const commit = head === null ? 'no commit' : shortCommit(head);
  const dirt = state === null || state.dirty.length === 0 ? '' : ', with uncommitted changes';
  return { lines: `checkpoint "${name}": ${commit}${dirt}`, value };
}

/** The directory of the session. */
interface Place {
  readonly git: Git;
  readonly root: string;
  readonly memory: Viewer;
}

/** @throws UnreachableError if git does not answer: an unanswered question is not a state of the code */
function requireState({ git, root, memory }: Place, print?: Print): GitState | null {
  const state = git.state(print);
  if (state === 'unanswered') throw unanswered({ root }, memory.surroundings.variables, git.refusal);
  return state;
}

/** Takes the session's directory, wherever the caller is. */
function placeOf(memory: Viewer, session: OpenSession): Place {
  const { root } = requireDirectory(memory, session.log.state);
  return { git: new Git(root, memory.surroundings.variables), root, memory };
}

/** @returns a clause for each difference; an empty list if there is none */
function changesSince(checkpoint: Checkpoint, place: Place): string[] {
  const { head, branch, dirty } = checkpoint;
  const plain = requireState(place);
  // Checkpoints of older versions are in the user's own format.
  const older = isOtherDirt(checkpoint, plain) ? requireState(place, 'configured') : null;
  const now = older !== null && !isOtherDirt(checkpoint, older) ? older : plain;
  const more = (now?.dirty.length ?? 0) - dirty;
  return [
    ...checkoutChanges({ head, branch, of: 'checkpoint' }, now, place),
    ...(more > 0 ? [counted(more, 'more changed file')] : []),
    ...(more < 0 ? [`${counted(-more, 'changed file')} fewer`] : []),
    ...(more === 0 ? contentChanges(checkpoint, now, place) : []),
  ];
}

/** @returns what differs although as many files have changes as then */
function contentChanges(checkpoint: Checkpoint, now: GitState | null, place: Place): string[] {
  const isComparable = (checkpoint.dirty_digest === null) === ((now?.dirty_digest ?? null) === null);
  if (checkpoint.dirty > 0 && !isComparable) return [INCOMPARABLE];
  const isOther = isOtherDirt(checkpoint, now) || isOtherUntracked(checkpoint, now, place);
  return isOther ? ['other uncommitted changes'] : [];
}

interface Before extends Checkout {
  readonly of: 'checkpoint' | 'start';
}

function checkoutChanges({ head, branch, of }: Before, now: Checkout | null, { git, root, memory }: Place): string[] {
  // If the repository is gone, its commit is gone too.
  const commits = head === null ? 0 : now === null ? 'elsewhere' : git.commitsSince(head);
  if (commits === null) throw unanswered({ root }, memory.surroundings.variables, git.refusal);
  // At the start, a commit that is not found quickly is unknown.
  const isFirst = of === 'checkpoint' && head === null && now?.head != null;
  return [
    ...(commits === 'elsewhere' ? [`rewritten: the commit of the ${of} is not among the present ones`] : []),
    ...(commits !== 'elsewhere' && commits > 0 ? [`${commits} commit${commits === 1 ? '' : 's'} since`] : []),
    ...(isFirst ? ['the first commit was made since'] : []),
    ...((now?.branch ?? null) === branch ? [] : [`on branch ${now?.branch ?? 'none'} instead of ${branch ?? 'none'}`]),
  ];
}

function isOtherDirt({ dirty_digest }: Checkpoint, state: GitState | null): boolean {
  return (state?.dirty_digest ?? null) !== dirty_digest;
}

function isOtherUntracked({ untracked_digest }: Checkpoint, now: GitState | null, place: Place): boolean {
  return untracked_digest !== null && untrackedDigest(now, place) !== untracked_digest;
}

/** The memory can be in the workspace: writing the checkpoint must not change it. */
function untrackedDigest(state: GitState | null, { root, memory }: Place): string | null {
  const isOwn = ownFilesIn(root, memory.places);
  return contentsDigest(root, state?.undigested.filter((path) => !isOwn(path)) ?? []);
}
