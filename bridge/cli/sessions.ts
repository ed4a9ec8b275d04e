import { agentWord, stateCell } from '../../memory/condition/words.js';
import { type ListedSession, listSessions, rowValue } from '../../memory/look/list.js';
import { terminalFolder } from '../../memory/sessions/terminalMemory.js';
import { directoryWord, purposeWord } from '../../memory/show/rowWords.js';
import { judge } from '../../monitoring/terminals/judge.js';
import { CorruptRecordError, WatchkeeperError } from '../../src/errors.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { recordOf } from '../../src/jobs/sessionCodec.js';
import type { Redact } from '../../src/log/redact.js';
import { headOf } from '../../src/log/shorten.js';
import { describeDuration, systemClock } from '../../src/time.js';
import { withStore } from '../assembly/withStore.js';
import { type Command, type CommandContext, printJson, printLines, sayEach } from '../command/command.js';
import { readOptions } from '../command/options.js';
import { columnsOf, renderTable } from '../command/table.js';
import { memoryIn } from './sessionMemory.js';

const ENDED_SHOWN = 20;
/** No terminal is wider. */
const LONGEST_ASKED = 500;

export const command: Command = {
  help: `usage: watchkeeper sessions [--all] [--json]

Lists the unfinished sessions of your terminals (\`work list\`), then those of
the bridge: the running and waiting ones and the last ${ENDED_SHOWN} that ended, with how
each ended and the first words of its message. The first part needs no Redis.

  --all     every ended session that is still kept (RETENTION_DAYS)
  --json    {"sessions": [...], "terminal_sessions": [...]}: of the bridge, each
            the complete record ("message_text" is the complete message; null
            instead of the list if there is an error); of terminals, as in
            \`work list --json\`

exit code: 0, 3 Redis is unreachable

examples:
  watchkeeper sessions
  watchkeeper sessions --json | jq '.sessions[] | select(.status == "failed") | .end_reason'`,
  async run(args, context) {
    const { io, redact } = context;
    const { values } = readOptions(args, { all: { type: 'boolean' }, json: { type: 'boolean' } });
    const ofTerminals = await terminalSessions(context);
    if (!values.json && ofTerminals.length > 0)
      printLines(io, [...describeTerminals(ofTerminals, context).split('\n'), '']);
    let sessions: readonly AgentSession[] | null = null;
    try {
      sessions = await bridgeSessions(values.all === true, context);
    } finally {
      const shown = { sessions: sessions?.map(recordOf) ?? null, terminal_sessions: ofTerminals.map(rowValue) };
      if (values.json) printJson(io, shown);
    }
    if (!values.json) printLines(io, describeSessions(sessions, columnsOf(io), redact).split('\n'));
    return 0;
  },
};

async function bridgeSessions(all: boolean, { io, readSettings }: CommandContext): Promise<AgentSession[]> {
  return withStore(await readSettings(), async ({ store: { records } }) => {
    const ids = [
      ...(await records.sessionIds('active')),
      ...(await records.sessionIds('pending')),
      ...(await records.sessionIds('ended', all ? undefined : ENDED_SHOWN)).reverse(),
    ];
    const found = await records.sessions(ids);
    for (const broken of found) if (broken instanceof CorruptRecordError) sayEach(io, [broken.message]);
    return found.filter((session): session is AgentSession => !(session instanceof CorruptRecordError));
  });
}

/** A session that cannot be read is reported, and hides nothing else. */
async function terminalSessions(context: CommandContext): Promise<readonly ListedSession[]> {
  const said = new Set<string>();
  const say = ({ message }: WatchkeeperError) => {
    if (!said.has(message)) sayEach(context.io, [message]);
    said.add(message);
  };
  try {
    const memory = memoryIn(terminalFolder(context.surroundings), context);
    const { rows } = await listSessions(memory, { where: 'everywhere', which: 'unfinished', judge, onUnreadable: say });
    return rows;
  } catch (error) {
    if (!(error instanceof WatchkeeperError)) throw error;
    say(error);
    return [];
  }
}

function describeTerminals(sessions: readonly ListedSession[], { io, redact, surroundings }: CommandContext): string {
  const now = systemClock.now();
  const home = surroundings.variables.HOME;
  return renderTable(
    ['IN A TERMINAL', 'STATUS', 'AGENT', 'AGE', 'DIRECTORY', 'PURPOSE'],
    sessions.map((session) => [
      session.session_id,
      stateCell(session.condition),
      agentWord(session.condition),
      session.created_at === null ? '-' : describeDuration(Math.max(now - session.created_at, 0)),
      redact(directoryWord(session, home)),
      redact(purposeWord(session)),
    ]),
    { columns: columnsOf(io), last: 'cut' },
  );
}

function describeSessions(sessions: readonly AgentSession[], columns: number, redact: Redact): string {
  if (sessions.length === 0)
    return 'the bridge has no sessions yet; try: watchkeeper enqueue --project PROJECT --text "hello"';
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
