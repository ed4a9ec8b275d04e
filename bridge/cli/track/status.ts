import { settledCounts } from '../../../memory/logs/settledCounts.js';
import { IS_GONE, lostDirectory } from '../../../memory/show/directory.js';
import { changeLines, lastScan, type SinceScan, sinceScan } from '../../../memory/show/scan.js';
import { ago, lookAt, type Status, statusLines } from '../../../memory/show/status.js';
import { meant } from '../../../memory/verbs/meant.js';
import { type Outcome, verb } from '../../../memory/verbs/verb.js';
import { isoTime } from '../../../src/time.js';
import { attentionOf, DOING } from './attention.js';

/** Of a notice. */
const OVER = ' (over, or excused)';
/** Of each kind; `track scan` names them all. */
const MOST_CHANGES = 5;

export const status = verb({
  name: 'status',
  summary:
    'the task, the steps, the files in progress, changes since the last\nscan, waits, notices; exit 1 if the agent is stuck',
  fields: {},
  async run(memory, input): Promise<Outcome> {
    const session = meant(memory, input);
    const counts = await settledCounts(session.log);
    const shown = await lookAt(memory, session, counts);
    const attention = await attentionOf(memory, session, shown);
    const before = lastScan(session);
    const lost = lostDirectory(memory, session.log.state);
    const since = before === null || lost !== null ? null : sinceScan(memory, session, before);
    // No hook says when a dialog is answered; the transcript shows that its agent has gone on.
    const mayWait = attention.attention === null || attention.attention === 'waiting';
    const { log, now, computed } = shown;
    const waits = mayWait && !computed.crashed ? waitsOf(shown) : [];
    const lines = [
      ...statusLines(shown),
      ...(lost === null ? [] : [`${IS_GONE}: ${lost}`]),
      ...(attention.attention === null ? [] : [`attention: ${DOING[attention.attention]}`]),
      ...waits.map(({ kind, since: from }) => `waiting, since ${isoTime(from)} (${ago(now - from)}): ${kind}`),
      ...log.notices.map(({ sentence, at }) => `notice, ${ago(now - at)}: ${sentence}${attention.stuck ? '' : OVER}`),
      ...(log.ping === null || log.ping.until < now ? [] : [`silence is excused until ${isoTime(log.ping.until)}`]),
      ...attention.findings.map(({ rule, sentence }) => `STUCK: ${rule.replaceAll('_', ' ')}: ${sentence}`),
      ...(since === null ? [] : scanLines(since)),
    ];
    const value = {
      ...shown.state,
      ...computed,
      ...attention,
      waits,
      notices: log.notices,
      changes: since === null ? null : changesOf(since),
      log: counts,
    };
    return { lines, value, ...(attention.stuck && { verdict: 'found' }) };
  },
});

/** Those that were declared, and those that the transcript shows. */
function waitsOf({ log, fold }: Status): { readonly kind: string; readonly since: number }[] {
  const declared = [...log.waits.values()].map(({ kind, since }) => ({ kind, since }));
  return [...declared, ...[...(fold?.waits ?? [])].map(([kind, since]) => ({ kind, since }))];
}

function scanLines({ since, changes }: SinceScan): string[] {
  if (since === null || changes === null) return [];
  const lines = changeLines(changes, MOST_CHANGES);
  return lines.length === 0
    ? [`no changes since the scan of ${isoTime(since)}`]
    : [`changes since the scan of ${isoTime(since)}:`, ...lines];
}

function changesOf({ since, complete, changes }: SinceScan) {
  return { since: since === null ? null : isoTime(since), complete, ...changes };
}
