import { describeFinding } from '../../monitoring/describe.js';
import { WatchedSessions } from '../../monitoring/watchedSessions.js';
import { UsageError } from '../../src/errors.js';
import { requireSessionId } from '../../src/ids.js';
import { journalPath } from '../../src/journal/path.js';
import { type AgentSession, DEFAULT_THRESHOLDS } from '../../src/model.js';
import { describeDuration, isoTime, systemClock } from '../../src/time.js';
import { withStore } from '../assembly/foundation.js';
import type { Command, ExitCode } from './command.js';
import { readOptions } from './options.js';

export const sessionCommand: Command = {
  help: `usage: watchkeeper session SESSION_ID [--json]

Shows everything that is known of one session: what was asked, what runs, how the watchdog judges it at this moment, and
what became of the answer.

  --json   {"session", "outbox", "incident", "assessment", "journal"}

exit code: 0 healthy or ended well, 1 unhealthy or failed, 2 no such session

example:
  watchkeeper session tg_popoto_-5294327191_4469`,
  async run(args, context) {
    const { io } = context;
    const { values, positionals } = readOptions(args, { json: { type: 'boolean' } }, 1);
    const [id] = positionals;
    if (id === undefined) throw new UsageError('which session? `watchkeeper sessions` lists them');
    const sessionId = requireSessionId(id);
    const settings = await context.readSettings();
    return withStore<ExitCode>(settings, async ({ store, logger }) => {
      const session = await store.records.session(sessionId);
      if (session === null)
        throw new UsageError(`there is no session ${sessionId}; \`watchkeeper sessions\` lists them`);
      const watched = new WatchedSessions(store, logger, settings.logsFolder);
      await watched.refreshOne(sessionId);
      const thresholds = settings.projects.get(session.project_key)?.thresholds ?? DEFAULT_THRESHOLDS;
      const assessment = await watched.assess(sessionId, thresholds, systemClock.now());
      const outbox = await store.records.outboxEntry(sessionId);
      const incident = session.incident_id === null ? null : await store.records.incident(session.incident_id);
      const journal = journalPath(settings.logsFolder, sessionId);
      if (values.json === true) io.stdout(`${JSON.stringify({ session, outbox, incident, assessment, journal })}\n`);
      else {
        const lines = describeSession(session);
        if (assessment !== null) {
          lines.push(['health', `${assessment.verdict}, ${assessment.attention}`]);
          for (const finding of assessment.findings) lines.push([finding.rule, describeFinding(finding)]);
        }
        if (incident !== null) lines.push(['incident', `${incident.incident_id}, ${incident.step}`]);
        if (incident?.report.url) lines.push(['issue', incident.report.url]);
        lines.push(['journal', journal]);
        io.stdout(`${lines.map(([name, text]) => `${(name ?? '').padEnd(14)}${text}`).join('\n')}\n`);
      }
      return assessment?.verdict === 'unhealthy' || session.status === 'failed' ? 1 : 0;
    });
  },
};

function describeSession(session: AgentSession): string[][] {
  const now = systemClock.now();
  const lines = [
    ['session', session.session_id],
    ['project', session.project_key],
    ['status', session.end_reason === null ? session.status : `${session.status} (${session.end_reason})`],
    ['attempt', session.revival_of === null ? String(session.attempt) : `2, the revival of ${session.revival_of}`],
    ['asked', `${isoTime(session.created_at)} by ${session.sender.name}: ${session.message_text}`],
    ['directory', session.working_directory],
  ];
  if (session.revived_by !== null) lines.push(['revived by', session.revived_by]);
  if (session.run !== null && session.status === 'active') {
    lines.push([
      'runs since',
      `${describeDuration(now - session.run.started_at)}, pid ${session.run.pid ?? 'not yet known'}`,
    ]);
  }
  if (session.answer !== null) lines.push(['answer', session.answer]);
  if (session.delivery !== null) lines.push(['delivery', session.delivery]);
  return lines;
}
