import { worklogKind } from '../../../memory/fold/rules/kind.js';
import type { Checkpoint } from '../../../memory/fold/worklog.js';
import { shortCommit } from '../../../memory/git/checkout.js';
import { Git, type GitState } from '../../../memory/git/git.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import { writeOrRefuse } from '../../../memory/sessions/write.js';
import { requireDirectory } from '../../../memory/show/directory.js';
import { ownFilesIn } from '../../../memory/show/scan.js';
import { contentsDigest } from '../../../memory/workspaces/contents.js';
import { counted } from '../../../src/counted.js';
import { UsageError } from '../../../src/errors.js';
import { isoTime } from '../../../src/time.js';
import { word } from '../../command/word.js';

export const checkpoint = word({
  usage: 'checkpoint NAME, or --list, --verify NAME, --drop NAME',
  summary: 'mark the state of the code, and compare it later',
  options: { list: { type: 'boolean' }, verify: { type: 'string' }, drop: { type: 'string' } },
  words: 1,
  run({ memory, values, words: [name], print }) {
    const session = memory.which(values.session ?? null);
    const { checkpoints } = session.log.state;
    // Of the session, wherever the caller is.
    const place = () => {
      const { root } = requireDirectory(memory, session.log.state);
      return { git: new Git(root, memory.surroundings.variables), root, memory };
    };
    if (values.list) {
      const lines = [...checkpoints.values()].map(
        ({ name: known, at, head, branch }) =>
          `${known}  ${isoTime(at)}  ${branch ?? 'no branch'}, ${head === null ? 'no commit' : shortCommit(head)}`,
      );
      print(lines.length === 0 ? 'no checkpoints' : lines, [...checkpoints.values()]);
      return 0;
    }
    if (values.drop !== undefined) {
      const { drop } = values;
      writeOrRefuse(session, memory.stamp, () => [worklogKind.line('checkpoint_dropped', { name: drop })]);
      print(`checkpoint "${drop}" dropped`, { name: drop });
      return 0;
    }
    if (values.verify !== undefined) {
      const marked = checkpoints.get(values.verify);
      if (marked === undefined) throw new UsageError(`there is no checkpoint "${values.verify}"; --list shows them`);
      const changes = changesSince(marked, place());
      print(changes.length === 0 ? 'nothing has changed since' : changes.join(', '), { name: marked.name, changes });
      return changes.length === 0 ? 0 : 1;
    }
    if (name === undefined)
      throw new UsageError(
        'what is the checkpoint called? For example: watchkeeper track checkpoint before-refactoring',
      );
    const here = place();
    const state = here.git.state();
    const { head = null, branch = null, dirty_digest = null } = state ?? {};
    const untracked_digest = untrackedDigest(state, here);
    writeOrRefuse(session, memory.stamp, () => [
      worklogKind.line('checkpoint', {
        name,
        head,
        branch,
        dirty_digest,
        untracked_digest,
        dirty: state?.dirty.length ?? 0,
      }),
    ]);
    print(
      `checkpoint "${name}": ${head === null ? 'no commit' : shortCommit(head)}${dirty_digest === null ? '' : ', with uncommitted changes'}`,
      {
        name,
        head,
        branch,
        dirty_digest,
        untracked_digest,
      },
    );
    return 0;
  },
});

/** The directory of the session. */
interface Place {
  readonly git: Git;
  readonly root: string;
  readonly memory: Memory;
}

/** @returns a clause for each difference; an empty list if there is none */
function changesSince(checkpoint: Checkpoint, place: Place): string[] {
  const { head, branch, dirty } = checkpoint;
  const now = place.git.state();
  const commits = head === null ? 0 : place.git.commitsSince(head);
  const more = (now?.dirty.length ?? 0) - dirty;
  return [
    ...(commits === null ? ['rewritten: the commit of the checkpoint is not among the present ones'] : []),
    ...(commits !== null && commits > 0 ? [`${commits} commit${commits === 1 ? '' : 's'} since`] : []),
    ...(head === null && now?.head ? ['the first commit was made since'] : []),
    ...((now?.branch ?? null) === branch ? [] : [`on branch ${now?.branch ?? 'none'} instead of ${branch ?? 'none'}`]),
    ...(more > 0 ? [counted(more, 'more changed file')] : []),
    ...(more < 0 ? [`${counted(-more, 'changed file')} fewer`] : []),
    ...(more === 0 && isOtherDirt(checkpoint, now, place) ? ['other uncommitted changes'] : []),
  ];
}

function isOtherDirt({ dirty_digest, untracked_digest }: Checkpoint, now: GitState | null, place: Place): boolean {
  const isSame = (state: GitState | null) => (state?.dirty_digest ?? null) === dirty_digest;
  // Checkpoints of older versions are in the user's own format.
  if (!isSame(now) && !isSame(place.git.state('configured'))) return true;
  return untracked_digest !== null && untrackedDigest(now, place) !== untracked_digest;
}

/** The memory can be in the workspace: writing the checkpoint must not change it. */
function untrackedDigest(state: GitState | null, { root, memory }: Place): string | null {
  const isOwn = ownFilesIn(root, memory);
  return contentsDigest(root, state?.undigested.filter((path) => !isOwn(path)) ?? []);
}
