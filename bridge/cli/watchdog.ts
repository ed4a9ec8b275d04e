import type { TickSummary } from '../../monitoring/sessionWatchdog.js';
import { describeFinding } from '../../monitoring/verdict/describe.js';
import { ConfigSource } from '../../src/config/configSource.js';
import { UsageError } from '../../src/errors.js';
import { assembleLook, assembleStandby } from '../assembly/standby.js';
import { type Command, printJson, printLines } from '../command/command.js';
import { readOptions } from '../command/options.js';
import { untilAborted } from './bridge.js';

export const command: Command = {
  help: `usage: watchkeeper watchdog [--once] [--dry-run] [--json]

Without options, stands by and takes over when the bridge's watchdog dies. Only
one of the two acts at a time. While no bridge runs, the standby is not ready
and does not ping WATCHDOG_PING_URL; after two minutes it writes the event
bridge_gone. When it runs without a terminal, SIGHUP reloads the configuration.

  --once      check every session and open incident once, act, and exit
  --dry-run   with --once: only report; store, file and send nothing
  --json      with --once: {"sessions", "healthy", "unhealthy": [{"session_id",
              "findings"}], "open_incidents"}

exit code of --once: 0 everything is healthy, 1 something is not, 3 Redis is
unreachable

examples:
  watchkeeper watchdog --once --dry-run
  watchkeeper watchdog`,
  async run(args, context) {
    const { io, logStream } = context;
    const { values } = readOptions(args, {
      once: { type: 'boolean' },
      'dry-run': { type: 'boolean' },
      json: { type: 'boolean' },
    });
    if (values['dry-run'] && !values.once) throw new UsageError('--dry-run goes with --once');
    const settings = await context.readSettings();
    if (!values.once) {
      const source = new ConfigSource(settings, context.readSettings);
      const stopping = context.untilStopped();
      const standby = await assembleStandby(source, context, stopping);
      const { log, reload } = standby;
      // Everything it does is stored first, so there is nothing to save before an immediate stop.
      context.handleSignals({ log, reload, stopNow: async () => undefined });
      await standby.start();
      await untilAborted(stopping);
      await standby.stop();
      return 0;
    }
    const watchdog = await assembleLook(settings, logStream);
    const summary = await (values['dry-run'] ? watchdog.look() : watchdog.lookAndAct());
    if (values.json) printJson(io, toJson(summary));
    else for (const line of describe(summary)) printLines(io, line);
    return summary.accused.size + summary.waiting.size + summary.incidents > 0 ? 1 : 0;
  },
};

function toJson({ sessions, healthy, accused, waiting, incidents }: TickSummary): unknown {
  const unhealthy = [...accused, ...waiting].map(([session_id, findings]) => ({ session_id, findings }));
  return { sessions, healthy, unhealthy, open_incidents: incidents };
}

function describe({ accused, waiting }: TickSummary): string[] {
  return [...accused, ...waiting].flatMap(([id, findings]) =>
    findings.map((finding) => `${id}, ${finding.rule}: ${describeFinding(finding)}`),
  );
}
