import { resolve } from 'node:path';
import { journalTrimmer } from '../../src/transcripts/draft/trimmer.js';
import { Checks } from '../brief/checks.js';
import { type OwnPath, ownPathOf } from '../brief/ownPath.js';
import { type CommittingCall, CommittingCalls, type QuietCommits, quietCommits } from '../brief/quietCommits.js';
import { pullRequestLines, summaryLines } from '../brief/workSummary.js';
import type { Worklog } from '../fold/worklog.js';
import { commitsMade, type MadeCommit } from '../git/history.js';
import { Draw } from '../learnings/draw.js';
import { Learnings } from '../learnings/learnings.js';
import { type Look, lookAt } from '../look/look.js';
import { recordsOfSession } from '../observed/records.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import { lostDirectory } from '../show/directory.js';
import { failuresOf } from '../show/learningWords.js';
import { flag } from './fields.js';
import { MAYBE_ID } from './meant.js';
import { meantHere } from './meantHere.js';
import { type Outcome, verb } from './verb.js';

export const summary = verb({
  name: 'summary',
  summary:
    'what was done and why, which files, how it was checked, what is open;\n--pr: as Markdown for a pull request',
  fields: { id: MAYBE_ID, pr: flag('[--pr]') },
  async run(memory, input, { judge }): Promise<Outcome> {
    const { session, asides } = await meantHere(memory, input, { orLast: true, isWork: true });
    const look = await lookAt(memory, session, { judge });
    const ownPath = ownPathOf(memory, session.log.state);
    const { checks, failures, hasCalls, committing } = await readAgain(memory, session, ownPath);
    const quiet = quietIn(memory, look, committing);
    const meanwhile = hasCalls ? [] : madeMeanwhile(memory, look);
    const learnings = [...new Learnings(memory.shared).read().learnings.values()].filter(
      ({ session_id }) => session_id === session.id,
    );
    const overcome = failures.filter(({ worked }) => worked.size > 0);
    const given = { look, ownPath, checks, hasCalls, quiet, meanwhile, learnings, overcome };
    const lines = (input.pr ? pullRequestLines : summaryLines)(given, memory.stamp.redact);
    const value = { session_id: session.id, checks, ...(input.pr && { markdown: `${lines.join('\n')}\n` }) };
    return { lines, value: input.pr ? value : { ...value, lines }, asides };
  },
});

/** Reads the transcripts once more: what a call said last is not in the fold. */
async function readAgain(memory: Viewer, { folder, log }: OpenSession, ownPath: OwnPath) {
  const checks = new Checks((path) => ownPath(path) !== null);
  const { redact } = memory.stamp;
  const draw = new Draw(redact);
  let hasCalls = false;
  const calls = new CommittingCalls();
  const reading = { folders: memory.programs, redact, trimmer: journalTrimmer(redact) };
  for await (const records of recordsOfSession({ log: log.state, folder }, reading)) {
    for (const record of records) {
      checks.take(record);
      draw.take(record);
      hasCalls ||= record.event === 'pre_tool_use';
      calls.take(record);
    }
  }
  return { checks: checks.list, failures: failuresOf(draw), hasCalls, committing: calls.list };
}

/** Asks git only if a call may have made a commit that its output does not name, and the session's directory is there. */
function quietIn(memory: Viewer, { log, fold }: Look, calls: readonly CommittingCall[]): QuietCommits {
  const named = fold?.commits ?? [];
  const root = memory.workspaceOf(log)?.root ?? null;
  const made = calls.length > 0 ? madeAfter(memory, log, Math.min(...calls.map(({ from }) => from))) : null;
  const isHere = (directory: string) => root !== null && isBelow(root, directory);
  return quietCommits(calls, named, isHere, made);
}

/** @returns the commits that were made in the session's worktree between its beginning and its end, by anybody */
function madeMeanwhile(memory: Viewer, { log }: Look): MadeCommit[] {
  const [from, to] = [log.created_at, log.end?.at ?? memory.clock.now()];
  return from === null ? [] : (madeAfter(memory, log, from) ?? []).filter(({ at }) => at <= to);
}

/** @returns null if the session did not begin in a repository, its directory is gone, or git cannot be asked */
function madeAfter(memory: Viewer, log: Worklog, at: number): MadeCommit[] | null {
  const root = memory.workspaceOf(log)?.root ?? null;
  const baseline = log.facts?.baseline ?? null;
  const isThere = root !== null && baseline !== null && lostDirectory(memory, log) === null;
  return isThere ? commitsMade(root, memory.surroundings.variables, baseline, at) : null;
}

/** A path that a shell would still expand is unknown. */
function isBelow(root: string, typed: string): boolean {
  const path = /^(["'])(.*)\1$/.exec(typed)?.[2] ?? typed;
  const from = resolve(root, path);
  return !/[$~*`]/.test(path) && (from === root || from.startsWith(`${root}/`));
}
