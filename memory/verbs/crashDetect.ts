import { oneLine } from '../../src/log/visibleText.js';
import { type CrashReport, crashLines, crashOf, elsewhereLines } from '../brief/crashReport.js';
import { INTERRUPTED, isInterrupted } from '../condition/words.js';
import { listSessions } from '../look/list.js';
import type { Locating } from '../look/standing.js';
import { weighedHere } from '../look/unfinished.js';
import { ago } from '../show/status.js';
import { repositoryAt } from '../worktrees/place.js';
import { type Door, type Outcome, verb } from './verb.js';

/** The others are only counted: a reader takes the heaviest first. */
const MOST_REPORTED = 20;
/** The others get a line each. */
const MOST_IN_FULL = 5;

export const crashDetect = verb({
  name: 'crash-detect',
  summary:
    'sessions here, or the one of --session, whose agent died or was\ncut off, and what to do; exit 1 if there is one',
  fields: {},
  async run(memory, { session }, { judge }): Promise<Outcome> {
    const named = session === undefined ? null : memory.which(session);
    const here = await weighedHere(memory, memory.workspace);
    const found = named === null ? here.gone.filter(({ isInterrupted }) => isInterrupted) : [named];
    const reports: CrashReport[] = [];
    for (const { id } of found.slice(0, MOST_REPORTED)) {
      const session = named ?? memory.look(id);
      const report = session === null ? null : await crashOf(memory, session);
      if (report !== null) reports.push(report);
    }
    const elsewhere = (named === null ? here.elsewhere : [named]).flatMap(({ id, log: { state } }) =>
      elsewhereLines(state, memory.surroundings.process, oneLine).map((line) => `${id}: ${line}`),
    );
    const none = named === null ? 'no crashed session here' : `session ${named.id} has not crashed`;
    const others = named === null ? await inOtherWorktrees(memory, found, judge) : [];
    const rest = found.length > MOST_REPORTED ? [`… and ${found.length - MOST_REPORTED} more`] : [];
    const verdict = memory.leftOut.length > 0 ? 'partial' : reports.length > 0 ? 'found' : undefined;
    return {
      lines: [
        ...(reports.length === 0 ? [none] : linesOf(reports, memory.clock.now())),
        ...rest,
        ...elsewhere,
        ...others,
      ],
      value: reports,
      ...(verdict !== undefined && { verdict }),
    };
  },
});

/** A person who asks in the main checkout in the morning wants to hear of the worktrees, too. */
async function inOtherWorktrees(
  memory: Locating,
  known: readonly { readonly id: string }[],
  judge: Door['judge'],
): Promise<string[]> {
  if (repositoryAt(memory.workspace.root) === null) return [];
  const ids = new Set(known.map(({ id }) => id));
  const { rows } = await listSessions(memory, {
    ...({ where: 'repository', which: 'unfinished', judge } as const),
    // The list itself names the logs that cannot be read.
    onUnreadable: () => {},
  });
  const found = rows.filter(({ session_id, condition }) => isInterrupted(condition) && !ids.has(session_id));
  if (found.length === 0) return [];
  const now = memory.clock.now();
  const lines = found.slice(0, MOST_IN_FULL).map(({ session_id, condition, last_activity, directory, purpose }) => {
    const when = last_activity === null ? '' : ` ${ago(now - last_activity)}`;
    const how = INTERRUPTED[condition.agent === 'cut_off' ? 'cut_off' : 'crashed'];
    return memory.stamp.redact(oneLine(`  ${session_id} ${how}${when}, in ${directory}: ${purpose}`));
  });
  return ['in other worktrees of this repository (watchkeeper work list --repository):', ...lines, ...moreOf(found)];
}

function moreOf(found: readonly unknown[]): string[] {
  return found.length > MOST_IN_FULL ? [`  … and ${found.length - MOST_IN_FULL} more`] : [];
}

function linesOf(reports: readonly CrashReport[], now: number): string[] {
  const full = reports.slice(0, MOST_IN_FULL);
  const short = reports.slice(MOST_IN_FULL);
  return [
    ...full.flatMap((report, index) => [...(index === 0 ? [] : ['']), ...crashLines(report, now)]),
    ...(short.length === 0 ? [] : ['']),
    ...short.map(({ session_id, kind, last_activity, purpose }) => {
      const when = last_activity === null ? '' : ` ${ago(now - last_activity)}`;
      return oneLine(`${session_id} ${INTERRUPTED[kind]}${when}: ${purpose}`);
    }),
  ];
}
