/**
 * Commits that a session made without git naming them in the output of a call, as `git commit -q` does. Git knows them: a commit is the
 * session's own if it was made while such a call ran, and no more were made then than the call makes.
 */
import { instantOf } from '../../src/journal/normalise.js';
import { type JournalRecord, textOf } from '../../src/journal/record.js';
import { SECOND } from '../../src/time.js';
import type { MadeCommit } from '../git/history.js';
import { commandOf } from '../observed/calls.js';
import { commandsIn, type Joint } from '../observed/commandParts.js';
import type { Commit } from '../observed/commits.js';
import { RUNS_ON } from './checks.js';

const WORD = /(?:[^\s"']|"[^"]*"|'[^']*')+/.source;
/** `git commit`, also with variables before it and options in between. */
const COMMITTING = new RegExp(
  `^\\(?(?:\\w+=(?:${WORD})?\\s+)*git(?:\\s+-(?:[cC]\\s+${WORD}|(?![cC]\\s)${WORD}))*\\s+commit(?=\\s|\\)|$)`,
);
/** Then git makes none, or makes it in another directory. */
const MAKES_NONE = /\s--(?:dry-run|short|porcelain|long|help)\b|\s-h\b/;
const ELSEWHERE = /\s(?:-C|--git-dir|--work-tree)\b/;
const ENTERS = /^\(?(?:cd|pushd)\s+(.*)$/;

/** A record cuts long commands; what followed is unknown. */
const SURELY_WHOLE = 2_000;

/** A call that ended well, and whose commands have `git commit` among them. Instants are UTC epoch milliseconds. */
export interface CommittingCall {
  readonly from: number;
  readonly to: number;
  /** Commits that it makes if all goes well. */
  readonly commits: number;
  /** Those of them that were made for sure, because the call would else have failed. */
  readonly sure: number;
  /** The directories that it enters, as they are typed. */
  readonly enters: readonly string[];
  /** Whether git is told of another directory. */
  readonly isElsewhere: boolean;
}

type Asked = Omit<CommittingCall, 'from' | 'to'>;

export class CommittingCalls {
  readonly #asked = new Map<string, Asked & { readonly from: number }>();
  readonly #ended: CommittingCall[] = [];

  get list(): readonly CommittingCall[] {
    return this.#ended;
  }

  take(record: JournalRecord): void {
    const at = instantOf(record.timestamp);
    const id = textOf(record.tool_use_id) ?? '';
    if (at === null || id === '') return;
    if (record.event === 'pre_tool_use') {
      const asked = askedIn(commandOf(record.tool_input) ?? '');
      if (asked.commits > 0) this.#asked.set(id, { ...asked, from: at });
    } else if (record.event === 'post_tool_use') {
      const call = this.#asked.get(id);
      this.#asked.delete(id);
      const outcome = textOf(record.outcome) ?? (record.is_error === true ? 'failed' : 'ok');
      const hasEnded = outcome === 'ok' && !RUNS_ON.test(textOf(record.tool_output_preview) ?? '');
      if (call !== undefined && hasEnded) this.#ended.push({ ...call, to: at });
    }
  }
}

function askedIn(command: string): Asked {
  const parts = commandsIn(command);
  const joints = parts.map(({ joint }) => joint);
  const isCut = command.length > SURELY_WHOLE || command.endsWith('…');
  const own = parts.flatMap(({ text }, index) => (isCommitting(text) ? [index] : []));
  return {
    commits: own.length,
    sure: isCut ? 0 : own.filter((index) => isSure(joints, index)).length,
    enters: parts.flatMap(({ text }) => ENTERS.exec(text)?.[1]?.replace(/\)$/, '').trim() ?? []),
    isElsewhere: own.some((index) => ELSEWHERE.test(COMMITTING.exec(parts[index]?.text ?? '')?.[0] ?? '')),
  };
}

function isCommitting(text: string): boolean {
  return COMMITTING.test(text) && !MAKES_NONE.test(text);
}

/** @returns whether the whole command fails if this one does, and runs it in any case */
function isSure(joints: readonly Joint[], index: number): boolean {
  const before = joints.slice(0, index);
  const [next = '', ...rest] = joints.slice(index);
  const isLast = (at: number) => at === rest.length - 1;
  return (
    !before.includes('||') &&
    (next === '&&' || next === '' || (rest.length === 0 && /[;\n]/.test(next))) &&
    rest.every((joint, at) => joint === '&&' || joint === '|' || joint === '' || (isLast(at) && /[;\n]/.test(joint)))
  );
}

export interface QuietCommits {
  readonly commits: readonly Commit[];
  /** Commits that were made for sure, and that are not found. */
  readonly unknown: number;
}

/**
 * @param named the commits that git named in the output of a call
 * @param isHere whether a directory, as it is typed, is one of the session's worktree
 * @param found the commits of that worktree, made after the first of these calls began. Null if git cannot be asked
 */
export function quietCommits(
  calls: readonly CommittingCall[],
  named: readonly Commit[],
  isHere: (directory: string) => boolean,
  found: readonly MadeCommit[] | null,
): QuietCommits {
  const commits: Commit[] = [];
  let unknown = 0;
  for (const group of groupsOf(calls)) {
    const told = named.filter(({ at }) => group.some(({ to }) => to === at));
    const missing = sumOf(group, 'commits') - told.length;
    if (missing <= 0) continue;
    const isKnown = ({ commit }: MadeCommit) => told.some(({ head }) => commit.startsWith(head));
    const mayBeOwn = group.every(({ enters, isElsewhere }) => !isElsewhere && enters.every(isHere));
    const made = mayBeOwn ? (found ?? []).filter((one) => isWithin(group, one) && !isKnown(one)) : [];
    // With more of them, another process has committed there, too.
    const own = made.length <= missing ? made : [];
    commits.push(...own.map(({ at, short, subject }) => ({ at, head: short, subject })));
    unknown += Math.max(0, sumOf(group, 'sure') - told.length - own.length);
  }
  return { commits, unknown };
}

/** Git knows whole seconds, so that calls that follow each other within one cannot be told apart. */
function groupsOf(calls: readonly CommittingCall[]): CommittingCall[][] {
  const groups: CommittingCall[][] = [];
  for (const call of [...calls].sort((left, right) => left.from - right.from)) {
    const last = groups.at(-1);
    if (last?.some(({ to }) => secondOf(to) >= secondOf(call.from))) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

function isWithin(group: readonly CommittingCall[], { at }: MadeCommit): boolean {
  return group.some(({ from, to }) => secondOf(from) <= secondOf(at) && secondOf(at) <= secondOf(to));
}

function secondOf(at: number): number {
  return Math.floor(at / SECOND);
}

function sumOf(group: readonly CommittingCall[], what: 'commits' | 'sure'): number {
  return group.reduce((sum, call) => sum + call[what], 0);
}
