import { damageLines, isInterrupted } from '../../memory/condition/words.js';
import { purposeOf } from '../../memory/observed/purpose.js';
import { crashLines, memoryLines, type Shown } from '../../memory/show/shown.js';
import { axesLine, stuckLines } from '../../memory/show/status.js';
import { describeFinding } from '../../monitoring/verdict/describe.js';
import { SessionJudge, type Verdict } from '../../monitoring/watch/sessionJudge.js';
import type { ProjectRules } from '../../src/config/settings.js';
import { UsageError, WatchkeeperError } from '../../src/errors.js';
import { requireSessionId } from '../../src/ids.js';
import type { AgentSession, OutboxEntry } from '../../src/jobs/model.js';
import { recordOf } from '../../src/jobs/sessionCodec.js';
import type { Store } from '../../src/jobs/store.js';
import { journalPath } from '../../src/journal/path.js';
import { oneLine } from '../../src/log/visibleText.js';
import { describeDuration, localTime, systemClock } from '../../src/time.js';
import type { Foundation } from '../assembly/foundation.js';
import { judgeContext, recordedGaps } from '../assembly/judging.js';
import { withStore } from '../assembly/withStore.js';
import {
  type Command,
  type CommandContext,
  type ExitCode,
  printJson,
  printLines,
  sayEach,
} from '../command/command.js';
import { describeThresholds, readOptions } from '../command/options.js';
import { paragraph } from '../command/table.js';
import { clockLines, describeNext } from './clockLines.js';
import { revivalsOf } from './incidents.js';
import { shownIn, shownInTerminals } from './sessionMemory.js';
import { deliveryWords, describeIncident, endWordsOf, incidentOf, waitLines, whyLines, whyOf } from './sessionWhy.js';

const NAME_WIDTH = 14;
type NamedLines = readonly [name: string, ...text: string[]];

export const command: Command = {
  help: `usage: watchkeeper session SESSION_ID [--json]

Shows one session. If something is or was wrong, why comes first: the finding,
how the run ended, the last calls, what was done about it, and the issue. Then
the message, the run, the watchdog's verdict now, and the answer; for a failed
session, the message that the chat got. For a running session: the clock of each
agent ("clock"), every open wait with its kind, owner, start and end, and
whether it excuses silence now ("wait"), and what can happen next ("next"). Then
what memory knows: steps, files, notes, tokens. A session of a terminal has only
that, and needs no Redis.

A running session is judged by the thresholds that its bridge reports. If no
bridge reports any, the thresholds of this command's environment and project
file apply. The line "judged by" names the source.

  --json   {"session", "outbox", "incident", "assessment", "judged_by":
           {"source", "thresholds", "actions"}, "journal", "memory", "why":
           {"finding", "untrusted_end", "calls", "done", "issue"}};
           "assessment" and "judged_by" are null if the session is not running;
           clocks and waits are in "assessment"."agents", the next deadline is
           in "next_deadline" (epoch milliseconds) and "next_rule"; "memory" is
           what \`work show --json\` prints, null if there is none. Of a
           terminal's session only "memory" is not null; "why" is null if
           nothing is or was wrong. Agents may have written "untrusted_end"
           and "calls"

exit code: 0 healthy or ended well, 1 unhealthy, stuck, crashed, cut off or
failed, 2 no such session, 3 Redis is unreachable

example:
  watchkeeper session tg_popoto_-5294327191_4469`,
  async run(args, context) {
    const { io } = context;
    const { values, positionals } = readOptions(args, { json: { type: 'boolean' } }, 1);
    const sessionId = readSessionId(positionals);
    const ofTerminal = await shownInTerminals(sessionId, context);
    if (ofTerminal !== null)
      return printTerminals(ofTerminal.look.log.session_id ?? sessionId, ofTerminal, values.json === true, context);
    const settings = await context.readSettings();
    return withStore<ExitCode>(settings, async ({ store, foundation }) => {
      const session = await sessionOf(sessionId, store);
      const judged = session.status === 'active' ? await judge(session, store, foundation) : null;
      const assessment = judged?.verdict.assessment ?? null;
      const outbox = await store.records.outboxEntry(sessionId);
      const incident = await incidentOf(session, store);
      const journal = journalPath(settings.logsFolder, sessionId);
      const memory = await memoryOf(session, settings.logsFolder, context);
      const why = await whyOf({ session, incident, assessment, journal });
      const waits = await waitLines(session, store, systemClock.now());
      if (values.json)
        printJson(io, {
          ...{ session: recordOf(session), outbox, incident, assessment },
          ...{ judged_by: judged?.by ?? null, journal, memory: memory?.value ?? null, why },
        });
      else {
        const lines = [...(why === null ? [] : whyLines(why)), ...describeSession(session, outbox, waits)];
        if (judged !== null && assessment !== null) {
          lines.push(['health', `${assessment.verdict}, ${assessment.attention.replaceAll('_', ' ')}`]);
          for (const finding of assessment.findings) lines.push([finding.rule, describeFinding(finding)]);
          lines.push(...clockLines(assessment));
          lines.push(['next', describeNext(assessment, assessment.next_deadline, systemClock.now())]);
          lines.push(['judged by', describeRules(judged.by)]);
        }
        if (outbox !== null && session.answer === null) lines.push(['message', ...outbox.text.split('\n')]);
        if (incident !== null) {
          const [revival = null] = (await revivalsOf([incident], store.records)).values();
          const words = describeIncident(incident, revival);
          lines.push(['incident', `${incident.incident_id}, ${words}`]);
        }
        if (memory !== null) lines.push(...crashLines(memory), ...memoryLines(memory));
        lines.push(['journal', journal]);
        printLines(
          io,
          lines.flatMap((line) => renderLine(line, context)),
        );
      }
      return assessment?.verdict === 'unhealthy' || session.status === 'failed' ? 1 : 0;
    });
  },
};

/** A session that cannot be read is reported, and hides nothing else. */
async function memoryOf(session: AgentSession, logsFolder: string, context: CommandContext): Promise<Shown | null> {
  // Paths are shown as in the agent's directory.
  const surroundings = { ...context.surroundings, directory: session.working_directory };
  try {
    return await shownIn(logsFolder, session.session_id, { ...context, surroundings });
  } catch (error) {
    if (!(error instanceof WatchkeeperError)) throw error;
    sayEach(context.io, [error.message]);
    return null;
  }
}

function printTerminals(sessionId: string, shown: Shown, asJson: boolean, context: CommandContext): ExitCode {
  const { look, value, directory } = shown;
  const { log, fold, path, condition } = look;
  const none = {
    session: null,
    outbox: null,
    incident: null,
    assessment: null,
    judged_by: null,
    journal: null,
    why: null,
  };
  const lines: NamedLines[] = [
    ['session', `${sessionId}, of a terminal`],
    ['purpose', purposeOf(log, fold)],
    ['status', axesLine(look)],
    ...stuckLines(look).map((words) => ['stuck', words] as const),
    ...damageLines(condition.damage, path).map((words) => ['damaged', words] as const),
    ...(directory === null ? [] : [['directory', directory] as const]),
    ...memoryLines(shown),
  ];
  if (asJson) printJson(context.io, { ...none, memory: value });
  else
    printLines(
      context.io,
      lines.flatMap((line) => renderLine(line, context)),
    );
  return condition.stuck !== null || isInterrupted(condition) || condition.end === 'failed' ? 1 : 0;
}

/** @throws UsageError if it is missing, or no id */
export function readSessionId([id]: readonly string[]): string {
  if (id === undefined) throw new UsageError('which session? `watchkeeper sessions` lists them');
  return requireSessionId(id);
}

/** @throws UsageError if there is none */
export async function sessionOf(sessionId: string, { records }: Store): Promise<AgentSession> {
  const session = await records.session(sessionId);
  if (session !== null) return session;
  throw new UsageError(`there is no session ${sessionId}; \`watchkeeper sessions\` lists them`);
}

/** Further lines are indented: other people's words must not look like a line of ours. */
function renderLine([name, ...texts]: NamedLines, { io, redact }: CommandContext): string[] {
  const text = redact(texts.map(oneLine).join('\n'));
  return paragraph(`${name.padEnd(NAME_WIDTH)}${text}`, io, ' '.repeat(NAME_WIDTH)).split('\n');
}

interface JudgedBy extends ProjectRules {
  readonly source: 'bridge' | 'own_configuration';
}

/** The watchdog's own verdict, by its own rules. */
async function judge(
  session: AgentSession,
  store: Store,
  foundation: Foundation,
): Promise<{ verdict: Verdict; by: JudgedBy } | null> {
  const presence = await store.presences.ofHost(session.run?.owner.host ?? foundation.settings.host);
  const published = presence?.rules;
  const context = judgeContext(foundation, store, await recordedGaps(foundation, store, session));
  const judging = new SessionJudge(
    published === undefined ? context : { ...context, rulesOf: (key) => published[key] ?? null },
  );
  await context.watched.refreshOne(session.session_id);
  const verdict = await judging.judge(session.session_id, await store.records.leaseUntil(session.session_id));
  if (verdict === null) return null;
  const source = published === undefined ? 'own_configuration' : 'bridge';
  return { verdict, by: { source, ...verdict.rules } };
}

const SOURCES: Readonly<Record<JudgedBy['source'], string>> = {
  bridge: "the bridge's thresholds",
  own_configuration: 'the thresholds of this command (no bridge reports its own)',
};

function describeRules({ source, thresholds }: JudgedBy): string {
  return `${SOURCES[source]}: ${describeThresholds(thresholds)}`;
}

function linesAfter(beginning: string, text: string): string[] {
  const [first = '', ...more] = text.split('\n');
  return [`${beginning}${first}`, ...more];
}

/** A completed session was answered: that is said once. */
function statusWords({ status, end_reason: reason }: AgentSession): string {
  return reason === null || reason === 'answered' ? status : `${status} (${endWordsOf(reason)})`;
}

function describeSession(session: AgentSession, outbox: OutboxEntry | null, waits: NamedLines[]): NamedLines[] {
  const now = systemClock.now();
  const lines: NamedLines[] = [
    ['session', session.session_id],
    ['project', session.project_key],
    ['status', statusWords(session)],
    ...waits,
    ['attempt', session.revival_of === null ? String(session.attempt) : `2, the revival of ${session.revival_of}`],
    [
      'asked',
      ...linesAfter(
        `${localTime(session.created_at)} (${describeDuration(now - session.created_at)} ago) by ${session.request.sender.name}: `,
        session.request.message_text,
      ),
    ],
    ['directory', session.working_directory],
  ];
  if (session.revived_by !== null) lines.push(['revived by', session.revived_by]);
  if (session.run !== null && session.status === 'active') {
    lines.push([
      'runs since',
      `${describeDuration(now - session.run.started_at)}, pid ${session.run.pid ?? 'not yet known'}`,
    ]);
  }
  if (session.answer !== null) lines.push(['answer', ...session.answer.split('\n')]);
  if (session.request.delivery !== null) lines.push(['delivery', deliveryWords(session.request.delivery, outbox)]);
  return lines;
}
