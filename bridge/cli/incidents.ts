import { leadingReason } from '../../monitoring/incident/incidentEvents.js';
import { isoTime } from '../../src/time.js';
import { withStore } from '../assembly/foundation.js';
import type { Command, ExitCode } from './command.js';
import { readOptions } from './options.js';
import { renderTable } from './table.js';

const CLOSED_SHOWN = 20;

export const incidentsCommand: Command = {
  help: `usage: watchkeeper incidents [--json]

Lists the open incidents and the last ${CLOSED_SHOWN} closed ones: which session, which rule, how far the handling got.

  --json   {"open": [...], "closed": [...]}, each the whole record

exit code: 0 none is open, 1 some are

example:
  watchkeeper incidents`,
  async run(args, context) {
    const { io } = context;
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    return withStore<ExitCode>(await context.readSettings(), async ({ store }) => {
      const open = await store.records.openIncidents();
      const closed = await store.records.closedIncidents(CLOSED_SHOWN);
      if (values.json === true) io.stdout(`${JSON.stringify({ open, closed })}\n`);
      else if (open.length + closed.length === 0) io.stdout('no incidents\n');
      else {
        const rows = [...open, ...closed].map((incident) => [
          isoTime(incident.opened_at),
          incident.session_id,
          leadingReason(incident),
          incident.outcome === null ? incident.step : `${incident.step}: ${incident.outcome}`,
          incident.report.url ?? incident.report.state,
        ]);
        io.stdout(`${renderTable(['OPENED', 'SESSION', 'REASON', 'STEP', 'ISSUE'], rows)}\n`);
      }
      return open.length > 0 ? 1 : 0;
    });
  },
};
