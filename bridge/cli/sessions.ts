import { CorruptRecordError } from '../../src/errors.js';
import type { AgentSession } from '../../src/model.js';
import { describeDuration, systemClock } from '../../src/time.js';
import { withStore } from '../assembly/foundation.js';
import type { Command, ExitCode } from './command.js';
import { readOptions } from './options.js';
import { renderTable } from './table.js';

const ENDED_SHOWN = 20;

export const sessionsCommand: Command = {
  help: `usage: watchkeeper sessions [--all] [--json]

Lists sessions: the running ones, the waiting ones, and the last ${ENDED_SHOWN} that ended.

  --all     every ended session that is still kept (RETENTION_DAYS)
  --json    {"sessions": [...]}, each the whole record

exit code: 0, 3 Redis is unreachable

examples:
  watchkeeper sessions
  watchkeeper sessions --json | jq '.sessions[] | select(.status == "failed") | .end_reason'`,
  async run(args, context) {
    const { io } = context;
    const { values } = readOptions(args, { all: { type: 'boolean' }, json: { type: 'boolean' } });
    return withStore<ExitCode>(await context.readSettings(), async ({ store }) => {
      const { records } = store;
      const ended = values.all === true ? undefined : ENDED_SHOWN;
      const ids = [
        ...(await records.sessionIds('active')),
        ...(await records.sessionIds('pending')),
        ...(await records.sessionIds('ended', ended)).reverse(),
      ];
      const found = await records.sessions(ids);
      const sessions = found.filter((session): session is AgentSession => !(session instanceof CorruptRecordError));
      for (const broken of found) if (broken instanceof CorruptRecordError) io.stderr(`${broken.message}\n`);
      if (values.json === true) io.stdout(`${JSON.stringify({ sessions })}\n`);
      else io.stdout(`${describeSessions(sessions)}\n`);
      return 0;
    });
  },
};

function describeSessions(sessions: readonly AgentSession[]): string {
  if (sessions.length === 0) return 'no sessions yet; try: watchkeeper enqueue --project local --text "hello"';
  const now = systemClock.now();
  return renderTable(
    ['SESSION', 'STATUS', 'ATTEMPT', 'AGE', 'WHAT'],
    sessions.map((session) => [
      session.session_id,
      session.status,
      String(session.attempt),
      describeDuration(now - session.created_at),
      session.end_reason ?? session.message_text.replace(/\s+/g, ' ').slice(0, 60),
    ]),
  );
}
