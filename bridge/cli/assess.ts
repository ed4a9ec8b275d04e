import { type AssessedSession, assessPaths } from '../../monitoring/offline/assessPaths.js';
import { describeFinding } from '../../monitoring/verdict/describe.js';
import { BEYOND_JOURNALS } from '../../monitoring/verdict/detectors/all.js';
import { describeDamage } from '../../monitoring/watch/journalDamage.js';
import { DEFAULT_THRESHOLDS, type Thresholds } from '../../src/config/rules.js';
import { counted } from '../../src/counted.js';
import { UsageError } from '../../src/errors.js';
import { instantOf } from '../../src/journal/normalise.js';
import {
  type Command,
  type CommandContext,
  type ExitCode,
  printJson,
  printLines,
  sayLines,
} from '../command/command.js';
import { describeThresholds, readOptions, readThresholds } from '../command/options.js';
import { columnsOf, linesOf, renderTable } from '../command/table.js';
import { clockLines, describeNext, type NamedLine } from './clockLines.js';

const NAMES = Object.keys(DEFAULT_THRESHOLDS);

const NOT_JUDGED = `not judged: ${BEYOND_JOURNALS.join(', ')}; they need the records of the bridge (watchkeeper session)`;

export const command: Command = {
  help: `usage: watchkeeper assess PATH… [--now ISO] [--replay] [--thresholds FILE]
                          [--json]

Judges sessions by their journals alone, as the watchdog would. PATH is a file,
or a folder that is searched for *.jsonl. Claude Code transcripts and Codex
rollouts are recognised by content and judged the same way. Needs no Redis. The
rules ${BEYOND_JOURNALS.join(', ')} need more than a journal
and are not judged, so a session that crashed may appear healthy here. If a
session still has work to do at that instant, the clock of each agent, every
open wait and the next deadline are shown.

  --now ISO          judge at this instant, such as 2026-02-05T10:00:00Z;
                     default: each journal's last event
  --replay           judge at every instant up to the last event (or --now), and
                     report when each rule first became true
  --thresholds FILE  JSON with any of ${NAMES.slice(0, 3).join(', ')},
                     ${NAMES.slice(3, 6).join(', ')},
                     ${NAMES.slice(6).join(', ')};
                     default: the built-in thresholds, whatever the environment
                     and project file say
  --json             {"sessions": [{"file", "session_id", "format", "verdict",
                     "attention", "findings", "next_deadline", ...}],
                     "thresholds", "not_judged": [RULE, ...]}; with --replay,
                     "findings" holds every rule that ever became true, "since"
                     when it first did, and "replay" {"from", "to",
                     "judged_instants", "still_true"}

exit code: 0 nothing found, 1 a session is (with --replay: was) unhealthy, 2
usage, a folder without a journal, a file that cannot be read, or a named file
without a journal line (its verdict is "unknown", which accuses nobody)

examples:
  watchkeeper assess logs/sessions
  watchkeeper assess logs/sessions/tg_popoto_-5294327191_4469 --now 2026-02-05T10:00:00Z --json
  watchkeeper assess old-logs --replay --thresholds calm.json`,
  run: assess,
};

async function assess(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const { io } = context;
  const { values, positionals } = readOptions(
    args,
    {
      now: { type: 'string' },
      replay: { type: 'boolean' },
      thresholds: { type: 'string' },
      json: { type: 'boolean' },
    },
    Number.POSITIVE_INFINITY,
  );
  if (positionals.length === 0)
    throw new UsageError('which journals? name files or folders, for example logs/sessions');
  const options = {
    now: values.now === undefined ? null : readInstant(values.now),
    replay: values.replay === true,
    thresholds: await readThresholds(values.thresholds ?? null),
  };
  const { sessions, troubles } = await assessPaths(positionals, options);
  if (values.json) printJson(io, { sessions, thresholds: options.thresholds, not_judged: BEYOND_JOURNALS });
  else printLines(io, describeSessions(sessions, options, context).split('\n'));
  for (const trouble of troubles) sayLines(io, `watchkeeper: ${trouble}`);
  if (sessions.some(({ verdict }) => verdict === 'unhealthy')) return 1;
  return troubles.length > 0 ? 2 : 0;
}

function readInstant(text: string): number {
  const instant = instantOf(text);
  if (instant !== null) return instant;
  throw new UsageError(`--now: ${JSON.stringify(text)} is not an instant; write it as 2026-02-05T10:00:00Z`);
}

function describeSessions(
  sessions: readonly AssessedSession[],
  { replay: replayed, thresholds }: { replay: boolean; thresholds: Thresholds },
  { io, redact }: CommandContext,
): string {
  const table = renderTable(
    ['VERDICT', 'ATTENTION', 'CALLS', 'LAST CALL', 'NEXT DEADLINE', 'FILE'],
    sessions.map((session) => [
      session.verdict,
      session.attention,
      String(session.tool_count),
      session.last_tool_call ?? '-',
      session.next_deadline ?? '-',
      session.file,
    ]),
    { columns: columnsOf(io) },
  );
  const findings = sessions.flatMap((session) =>
    session.findings.map(
      (finding) =>
        `${session.file}: ${finding.rule} ${replayed ? 'first true at' : 'since'} ${finding.since}: ${describeFinding(finding)}`,
    ),
  );
  const clocks = sessions.flatMap((session) =>
    clocksOf(session).map(([name, text]) => `${session.file}: ${name}: ${text}`),
  );
  const damaged = sessions.map(describeDiagnostics).filter((text) => text !== null);
  const unhealthy = sessions.filter(({ verdict }) => verdict === 'unhealthy').length;
  const summary = `${counted(sessions.length, 'session')}, ${unhealthy} ${replayed ? 'ever ' : ''}unhealthy`;
  const rules = `by the thresholds ${describeThresholds(thresholds)}`;
  const lines = [...findings, ...clocks, ...damaged, summary, rules, NOT_JUDGED];
  return [table, ...linesOf(lines, io, redact)].join('\n');
}

function clocksOf(session: AssessedSession): readonly NamedLine[] {
  const { next_deadline: next, agents } = session;
  if (agents.length === 0) return [];
  return [...clockLines(session), ['next', describeNext(session, next === null ? null : Date.parse(next), null)]];
}

function describeDiagnostics({ file, diagnostics }: AssessedSession): string | null {
  const parts = [diagnostics.refused, describeDamage(diagnostics)].filter((part) => part !== null);
  return parts.length === 0 ? null : `${file}: ${parts.join(', ')}`;
}
