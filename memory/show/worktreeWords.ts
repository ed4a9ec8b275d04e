/** Words about a worktree: cells of a table, and sentences about those that need one. */
import { programNamed } from '../../src/agents/programs.js';
import { counted } from '../../src/counted.js';
import { shellWord } from '../../src/log/shellWords.js';
import type { Inside, SessionInside } from '../look/inWorktrees.js';
import type { KeptRef } from '../worktrees/kept.js';
import type { ListedWorktree, WorktreeList } from '../worktrees/list.js';
import type { Answer, Why } from '../worktrees/merged.js';
import { finishing } from '../worktrees/records.js';
import { ago } from './status.js';

const KIB = 1024;
const MOST_NAMED = 5;
const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

const WORDS: Readonly<Record<Why, string>> = {
  same: 'the same commit',
  ancestor: 'in its history',
  nothing_to_change: 'nothing left to change',
  squashed: 'squashed',
  picked: 'each commit picked',
  not_merged: 'not merged',
  partly_picked: 'partly picked',
  conflicting: 'would conflict',
  unrelated: 'no common history',
  shallow: 'a shallow clone ends before they parted',
  too_far: 'too many commits since they parted',
  unreadable: 'git cannot read it',
  old_git: 'needs git 2.38',
};

export function nameCell({ branch, path, ghost, operation }: ListedWorktree): string {
  const folder = path.slice(path.lastIndexOf('/') + 1);
  if (branch === null) return ghost === null ? `${folder} (no branch)` : folder;
  return operation?.branch == null ? branch : `${branch} (${operation.kind})`;
}

export function changesCell({ dirt, ghost, operation }: ListedWorktree): string {
  if (ghost !== null) return 'leftover';
  if (dirt === null) return 'unknown';
  const changes = [
    ...(dirt.tracked.length > 0 ? [`${dirt.tracked.length} changed`] : []),
    ...(dirt.untracked.length > 0 ? [`${dirt.untracked.length} new`] : []),
  ].join(', ');
  const middle = operation === null ? [] : [`in mid-${operation.kind}`];
  return [changes === '' ? 'clean' : changes, ...middle].join(', ');
}

/** Why it is merged, or not. */
export function whyWords({ why }: Answer): string {
  return WORDS[why];
}

export function mergedCell({ merged }: ListedWorktree): string {
  return merged === null ? '-' : `${merged.merged}: ${mergedWords(merged)}`;
}

function mergedWords({ merged, why, now, picked }: Answer): string {
  const count = why === 'partly_picked' && picked !== null ? ` (${picked.count} of ${picked.of})` : '';
  // For a merged branch that is a surprise: the target has changed what it brought.
  const again = { nothing: '', changes: '; would change files again', conflicts: '; would conflict now' };
  return `${WORDS[why]}${count}${merged === 'yes' && now !== null ? again[now] : ''}`;
}

/** @param now UTC epoch milliseconds */
export function ageCell({ created_at, last_commit_at }: ListedWorktree, now: number): string {
  const last = Math.max(created_at ?? 0, last_commit_at ?? 0);
  return last === 0 ? '-' : ago(now - last);
}

/** @param unfinished ids of sessions */
export function insideCell({ sessions, agents, processes }: Inside, unfinished: ReadonlySet<string>): string {
  const shown = sessions.filter((session) => !isAtRest(session, unfinished));
  const words = [
    ...(shown.length > 0 ? [counted(shown.length, 'session')] : []),
    ...(agents.length > 0 ? [counted(agents.length, 'agent')] : []),
    ...(processes !== null && processes.length > 0 ? [counted(processes.length, 'program')] : []),
  ];
  return words.length === 0 ? '-' : words.join(', ');
}

export function sizeCell(bytes: number): string {
  let value = bytes / KIB;
  let unit = 0;
  for (; value >= KIB && unit < UNITS.length - 1; unit += 1) value /= KIB;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** After a week a worktree has many: each ended window leaves one, and it is not ended before it goes to the archive. */
function isAtRest({ session_id, agent, holds }: SessionInside, unfinished: ReadonlySet<string>): boolean {
  return agent === 'left' && !holds && !unfinished.has(session_id);
}

/** The window of an agent in a server does not show which session it has. */
function mayBeServed(program: string, sessions: Inside['sessions']): boolean {
  return programNamed(program)?.sharesProcess === true && sessions.some(({ server }) => server !== null);
}

/**
 * @param unfinished ids of sessions
 * @param isRemoved whether it is being removed, or its removal was cut off: {@link removedNotes} say so
 * @returns sentences about what a cell has no room for: leftovers, locks, sessions
 */
export function notesOn(
  worktree: ListedWorktree,
  { sessions, agents }: Inside,
  { unfinished, isRemoved }: { readonly unfinished: ReadonlySet<string>; readonly isRemoved: boolean },
): string[] {
  const name = nameCell(worktree);
  const resting = sessions.filter((session) => isAtRest(session, unfinished)).length;
  const { ghost, lock, path, unanswered } = worktree;
  return [
    ...(ghost === null || isRemoved ? [] : [`${name}: ${ghostWords(ghost, path)}`]),
    ...(unanswered === null ? [] : [`${name}: git does not say what is changed: ${unanswered}`]),
    ...(lock === null ? [] : [`${name}: ${lockWords(lock)}`]),
    ...sessions
      .filter((session) => !isAtRest(session, unfinished))
      .map((session) => `${name}: ${sessionWords(session)}`),
    ...(resting === 0 ? [] : [`${name}: ${counted(resting, 'session')} without an agent left nothing unfinished`]),
    ...agents
      .filter(({ session_id, program }) => session_id === null && !mayBeServed(program, sessions))
      .map(({ program, pid }) => `${name}: ${program} (pid ${pid}), of no session here`),
  ];
}

/**
 * @param days for which what was removed is kept
 * @returns sentences about removals that were cut off, and about what removed worktrees held
 */
export function removedNotes(
  { kept, unfinished, running }: { readonly kept: readonly KeptRef[] } & Pick<WorktreeList, 'unfinished' | 'running'>,
  days: number,
): string[] {
  const cutOff = [
    ...running.map(({ name, by }) => `${name}: the process ${by?.pid} is removing it`),
    ...unfinished.map(
      (removal) =>
        `${removal.name}: its removal was cut off; \`${finishing(removal)}\` finishes it, or says what prevents it`,
    ),
  ];
  if (kept.length === 0) return cutOff;
  const names = kept.slice(0, MOST_NAMED).map(({ ref }) => ref.slice(ref.lastIndexOf('/') + 1));
  const more = kept.length > MOST_NAMED ? `, and ${kept.length - MOST_NAMED} more` : '';
  const ways = '`watchkeeper worktree list --removed` has the way back to each';
  return [
    ...cutOff,
    `${counted(kept.length, 'removed worktree')} kept for ${days} days (${names.join(', ')}${more}): ${ways}`,
  ];
}

function ghostWords({ kind, answers_for }: NonNullable<ListedWorktree['ghost']>, path: string): string {
  const answers = answers_for === null ? '' : `; git there answers for ${answers_for}`;
  switch (kind) {
    case 'folder_gone':
      return `git has registered it, but ${path} is not there: deleted, moved, or on a disk that is not there now`;
    case 'replaced':
      return `git has registered it, but ${path} belongs to another repository`;
    case 'unreadable':
      return `git's folder ${path} does not say where it is`;
    case 'unregistered':
      return `${path} was a worktree that git does not know any more`;
    case 'moved':
      return `${path} was moved by hand, and git looks for it elsewhere: \`git worktree repair ${shellWord(path)}\``;
    case 'lost_git':
      return `${path} has lost its .git${answers}`;
    default:
      return kind satisfies never;
  }
}

function lockWords({ reason, by }: NonNullable<ListedWorktree['lock']>): string {
  if (by === null) return reason === '' ? 'locked' : `locked: ${reason}`;
  const state = { true: 'which is alive', false: 'which is gone', null: 'which cannot be seen from here' };
  return `locked by Claude Code (pid ${by.pid}), ${state[`${by.is_alive}`]}`;
}

function sessionWords({
  session_id,
  purpose,
  holds,
  is_own,
  agent,
  agent_is_here,
}: Inside['sessions'][number]): string {
  const agents = {
    lost: 'its agent crashed',
    at_work: agent_is_here ? 'its agent runs here' : 'its agent runs in another folder',
    elsewhere: 'its agent is on another host',
    left: 'without an agent',
  };
  const place = holds ? 'holds it' : is_own ? 'began here' : 'came here';
  return `session ${session_id} ${place}, ${agents[agent]}${purpose === '' ? '' : `: ${purpose}`}`;
}
