import { oneLine } from '../../src/log/visibleText.js';
import { describeDuration, isoTimeOrNull, localTime } from '../../src/time.js';
import type { Quiet } from '../condition/stuck.js';
import { doingWords, OVER, SEEMS_STUCK, waitWords } from '../condition/words.js';
import { settledCounts } from '../logs/settledCounts.js';
import { computedOf, type Look, lookAt } from '../look/look.js';
import { changeLines } from '../show/changes.js';
import { IS_GONE, lostDirectory, placeLines } from '../show/directory.js';
import { ago, statusLines } from '../show/status.js';
import { lastScan, type SinceScan, sinceScan } from '../workspaces/scan.js';
import { meantHere } from './meantHere.js';
import { UNSEEN } from './scan.js';
import { type Outcome, verb } from './verb.js';

/** Named of each kind; `track scan` names them all. */
const MOST_CHANGES = 5;

export const status = verb({
  name: 'status',
  summary:
    'the task, the steps, the files in progress, changes since the last\nscan, waits, notices; exit 1 if the agent is stuck. After the end: what\ncame of the last session here',
  fields: {},
  async run(memory, input, door): Promise<Outcome> {
    const { session, asides } = await meantHere(memory, input, { orLast: true });
    const counts = await settledCounts(session.log);
    const look = await lookAt(memory, session, { counts, judge: door.judge });
    const before = lastScan(session.folder);
    const lost = lostDirectory(memory, session.log.state);
    const { root } = memory.workspaceOf(session.log.state) ?? memory.workspace;
    const since = before === null || lost !== null ? null : sinceScan(memory, root, before);
    const { log, now, condition } = look;
    const { agent, doing, stuck, excused_until, quiet, broken: findings } = condition;
    // No hook says when a dialog is answered; the transcript shows that its agent has continued.
    const mayWait = (doing === null || doing === 'waiting') && agent !== 'crashed';
    const waits = mayWait ? waitsOf(look) : [];
    const activity = doingWords(doing, condition.wait);
    const lines = [
      ...statusLines(look),
      ...(lost === null ? [] : [`${IS_GONE}: ${lost}`]),
      ...placeLines(memory, log),
      ...(activity === null || (doing === 'waiting' && waits.length > 0) ? [] : [activity]),
      ...waits.map(
        ({ kind, since: from }) =>
          `its agent waits for ${waitWords(kind, oneLine)}, since ${localTime(from)} (${ago(now - from)})`,
      ),
      ...log.notices.map(({ sentence, at }) => `notice, ${ago(now - at)}: ${sentence}${stuck === null ? OVER : ''}`),
      ...(excused_until === null ? [] : [`silence is excused until ${localTime(excused_until)}`]),
      ...(quiet === null || stuck !== null || excused_until !== null ? [] : [quietLine(quiet, now)]),
      ...findings.map(({ sentence }) => `${SEEMS_STUCK}: ${sentence}`),
      ...(since === null ? [] : scanLines(since)),
    ];
    const value = {
      ...look.state,
      ...computedOf(look),
      attention: doing,
      stuck: stuck !== null,
      findings,
      waits,
      notices: log.notices,
      changes: since === null ? null : changesOf(since),
      log: counts,
    };
    return { lines, value, asides, ...(stuck !== null && { verdict: 'found' }) };
  },
});

function quietLine({ since, limitMs }: Quiet, now: number): string {
  const silence = describeDuration(now - since);
  return `silent for ${silence}, and no transcript shows its work: \`track monitor --check\` calls it stuck after ${describeDuration(limitMs)}`;
}

/** Those that were declared, and those that the transcript shows; else the one that the program publishes. */
function waitsOf({ log, fold, condition: { wait } }: Look): { readonly kind: string; readonly since: number }[] {
  // It is the dialog that a hook reported, or the transcript shows, too.
  if (wait !== null) return [{ kind: wait.waiting_for ?? 'dialog', since: wait.since }];
  const declared = [...log.waits.values()].map(({ kind, since }) => ({ kind, since }));
  return [...declared, ...[...(fold?.waits ?? [])].map(([kind, since]) => ({ kind, since }))];
}

function scanLines({ since, changes, is_unanswered }: SinceScan): string[] {
  if (since === null || changes === null) return [];
  const lines = changeLines(changes, MOST_CHANGES);
  const head = `${lines.length === 0 ? 'no changes' : 'changes'} since the scan of ${localTime(since)}`;
  return [`${head}${is_unanswered ? `; ${UNSEEN}` : ''}${lines.length === 0 ? '' : ':'}`, ...lines];
}

function changesOf({ since, complete, changes }: SinceScan) {
  return { since: isoTimeOrNull(since), complete, ...changes };
}
