import { counted } from '../../src/counted.js';
import { UsageError } from '../../src/errors.js';
import { localTime } from '../../src/time.js';
import { worklogKind } from '../fold/rules/kind.js';
import type { Checkpoint } from '../fold/worklog.js';
import { shortCommit } from '../git/checkout.js';
import { Git, type GitState } from '../git/git.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import { writeOrRefuse } from '../sessions/write.js';
import { requireDirectory } from '../show/directory.js';
import { contentsDigest } from '../workspaces/contents.js';
import { ownFilesIn } from '../workspaces/scan.js';
import { flag, option, word } from './fields.js';
import { meant } from './meant.js';
import { type Outcome, verb } from './verb.js';

export const checkpoint = verb({
  name: 'checkpoint',
  summary: 'mark the state of the code, and compare it later',
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
    if (name === undefined)
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
  if (checkpoint === undefined) throw new UsageError(`there is no checkpoint "${name}"; --list shows them`);
  const changes = changesSince(checkpoint, placeOf(memory, session));
  const value = { name: checkpoint.name, changes };
  if (changes.length === 0) return { lines: 'nothing has changed since', value };
  return { lines: changes.join(', '), value, verdict: 'found' };
}

function marked(memory: Viewer, session: OpenSession, name: string): Outcome {
  const here = placeOf(memory, session);
  const state = here.git.state();
  const { head = null, branch = null, dirty_digest = null } = state ?? {};
  const value = { name, head, branch, dirty_digest, untracked_digest: untrackedDigest(state, here) };
  writeOrRefuse(session, memory.stamp, () => [
    worklogKind.line('checkpoint', { ...value, dirty: state?.dirty.length ?? 0 }),
  ]);
  const commit = head === null ? 'no commit' : shortCommit(head);
  const dirt = dirty_digest === null ? '' : ', with uncommitted changes';
  return { lines: `checkpoint "${name}": ${commit}${dirt}`, value };
}

/** The directory of the session. */
interface Place {
  readonly git: Git;
  readonly root: string;
  readonly memory: Viewer;
}

/** Takes the session's directory, wherever the caller is. */
function placeOf(memory: Viewer, session: OpenSession): Place {
  const { root } = requireDirectory(memory, session.log.state);
  return { git: new Git(root, memory.surroundings.variables), root, memory };
}

/** @returns a clause for each difference; an empty list if there is none */
function changesSince(checkpoint: Checkpoint, place: Place): string[] {
  const { head, branch, dirty } = checkpoint;
  const plain = place.git.state();
  // Checkpoints of older versions are in the user's own format.
  const older = isOtherDirt(checkpoint, plain) ? place.git.state('configured') : null;
  const now = older !== null && !isOtherDirt(checkpoint, older) ? older : plain;
  const commits = head === null ? 0 : place.git.commitsSince(head);
  const more = (now?.dirty.length ?? 0) - dirty;
  return [
    ...(commits === null ? ['rewritten: the commit of the checkpoint is not among the present ones'] : []),
    ...(commits !== null && commits > 0 ? [`${commits} commit${commits === 1 ? '' : 's'} since`] : []),
    ...(head === null && now?.head ? ['the first commit was made since'] : []),
    ...((now?.branch ?? null) === branch ? [] : [`on branch ${now?.branch ?? 'none'} instead of ${branch ?? 'none'}`]),
    ...(more > 0 ? [counted(more, 'more changed file')] : []),
    ...(more < 0 ? [`${counted(-more, 'changed file')} fewer`] : []),
    ...(more === 0 && (isOtherDirt(checkpoint, now) || isOtherUntracked(checkpoint, now, place))
      ? ['other uncommitted changes']
      : []),
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
