import { leadingReason } from '../../monitoring/incident/texts/incidentEvents.js';
import { CorruptRecordError } from '../../src/errors.js';
import type { Incident } from '../../src/jobs/incidents.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { Records } from '../../src/jobs/records.js';
import { localTime } from '../../src/time.js';
import { withStore } from '../assembly/withStore.js';
import { type Command, type ExitCode, printJson, printLines } from '../command/command.js';
import { readOptions } from '../command/options.js';
import { columnsOf, renderTable } from '../command/table.js';

const CLOSED_SHOWN = 20;

export const command: Command = {
  help: `usage: watchkeeper incidents [--json]

Lists the open incidents and the last ${CLOSED_SHOWN} that were closed: the session, the
rule, and how far the handling got. An incident is recovered when the message is
answered; until then its second attempt waits or is running.

  --json   {"open": [...], "closed": [...]}, each the complete record

exit code: 0 none is open, 1 some are, 3 Redis is unreachable

example:
  watchkeeper incidents`,
  async run(args, context) {
    const { io } = context;
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    return withStore<ExitCode>(await context.readSettings(), async ({ store }) => {
      const open = await store.records.openIncidents();
      const closed = await store.records.closedIncidents(CLOSED_SHOWN);
      if (values.json) printJson(io, { open, closed });
      else if (open.length + closed.length === 0) printLines(io, 'no incidents');
      else {
        const revivals = await revivalsOf([...open, ...closed], store.records);
        const rows = [...open, ...closed].map((incident) => [
          localTime(incident.opened_at),
          incident.session_id,
          leadingReason(incident),
          incident.report.url ?? incident.report.state,
          describeStep(incident, revivals.get(incident.revival_session_id ?? '') ?? null),
        ]);
        const head = ['OPENED', 'SESSION', 'REASON', 'ISSUE', 'STEP'];
        printLines(io, renderTable(head, rows, { columns: columnsOf(io), last: 'wraps' }).split('\n'));
      }
      return open.length > 0 ? 1 : 0;
    });
  },
};

function describeStep(incident: Incident, revival: AgentSession | null): string {
  const { step, hold, course } = incident;
  if (incident.outcome === null && course !== undefined) return course.phase.replaceAll('_', ' ');
  if (incident.outcome === null) return hold?.state === 'held' ? `${step}, held` : openStep(incident, revival);
  const later = laterEnd(incident, revival);
  return `${step}: ${incident.outcome}${later === null ? '' : `; ${later}`}`;
}

/** @returns how far an open incident got, in a few words */
export function openStep({ step }: Incident, revival: AgentSession | null): string {
  if (step !== 'revived' || revival === null) return step;
  if (revival.status === 'active') return `${step}: the second attempt is running`;
  return revival.status === 'pending' ? `${step}: the second attempt waits` : step;
}

/** Earlier versions called an incident recovered at the second attempt's first successful call. @returns how it ended later */
export function laterEnd({ outcome }: Incident, revival: AgentSession | null): string | null {
  if (outcome !== 'recovered' || revival === null) return null;
  if (revival.status === 'cancelled') return 'the second attempt was cancelled later, without an answer';
  return revival.status === 'failed'
    ? 'the second attempt was at work again, but failed later, without an answer'
    : null;
}

/** @returns the second attempts by their ids, without any that cannot be read */
export async function revivalsOf(incidents: readonly Incident[], records: Records): Promise<Map<string, AgentSession>> {
  const ids = incidents.flatMap(({ revival_session_id: id }) => (id === null ? [] : [id]));
  const found = await records.sessions(ids);
  return new Map(
    found.flatMap((revival) => (revival instanceof CorruptRecordError ? [] : [[revival.session_id, revival] as const])),
  );
}
