import { CorruptRecordError } from '../../src/errors.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { recordOf } from '../../src/jobs/sessionCodec.js';
import type { Redact } from '../../src/log/redact.js';
import { headOf } from '../../src/log/shorten.js';
import { describeDuration, systemClock } from '../../src/time.js';
import { withStore } from '../assembly/withStore.js';
import type { Command, ExitCode } from '../command/command.js';
import { readOptions } from '../command/options.js';
import { columnsOf, renderTable } from '../command/table.js';

const ENDED_SHOWN = 20;
/** No terminal is wider. */
const LONGEST_ASKED = 500;

export const command: Command = {
  help: `usage: watchkeeper sessions [--all] [--json]

Lists the running and waiting sessions and the last ${ENDED_SHOWN} that ended, with how
each ended and the first words of its message.

  --all     every ended session that is still kept (RETENTION_DAYS)
  --json    {"sessions": [...]}, each the complete record; "message_text" is the
            complete message

exit code: 0, 3 Redis is unreachable

examples:
  watchkeeper sessions
  watchkeeper sessions --json | jq '.sessions[] | select(.status == "failed") | .end_reason'`,
  async run(args, context) {
    const { io, redact } = context;
    const { values } = readOptions(args, { all: { type: 'boolean' }, json: { type: 'boolean' } });
    return withStore<ExitCode>(await context.readSettings(), async ({ store }) => {
      const { records } = store;
      const ended = values.all ? undefined : ENDED_SHOWN;
      const ids = [
        ...(await records.sessionIds('active')),
        ...(await records.sessionIds('pending')),
        ...(await records.sessionIds('ended', ended)).reverse(),
      ];
      const found = await records.sessions(ids);
      const sessions = found.filter((session): session is AgentSession => !(session instanceof CorruptRecordError));
      for (const broken of found) if (broken instanceof CorruptRecordError) io.stderr(`${broken.message}\n`);
      if (values.json) io.stdout(`${JSON.stringify({ sessions: sessions.map(recordOf) })}\n`);
      else io.stdout(`${describeSessions(sessions, columnsOf(io), redact)}\n`);
      return 0;
    });
  },
};

function describeSessions(sessions: readonly AgentSession[], columns: number, redact: Redact): string {
  if (sessions.length === 0) return 'no sessions yet; try: watchkeeper enqueue --project local --text "hello"';
  const now = systemClock.now();
  return renderTable(
    ['SESSION', 'STATUS', 'AGE', 'ASKED'],
    sessions.map(({ session_id, status, end_reason, created_at, request: { message_text } }) => [
      session_id,
      end_reason === null ? status : `${status} (${end_reason})`,
      describeDuration(now - created_at),
      headOf(message_text, LONGEST_ASKED, redact).replace(/\s+/g, ' ').trim(),
    ]),
    { columns, last: 'cut' },
  );
}
