import { ConfigSource } from '../../src/config/configSource.js';
import type { TerminalStream } from '../../src/log/logDestinations.js';
import { assembleBridge } from '../assembly/bridge.js';
import type { Command } from './command.js';
import { readOptions } from './options.js';

export const command: Command = {
  help: `usage: watchkeeper bridge [--json]

Takes messages from Telegram (or, without TELEGRAM_BOT_TOKEN, from this
terminal), runs them as agent jobs, and watches every job. The watchdog is
inside. Without REDIS_URL it brings a Redis of its own. SIGTERM, Ctrl-C, or
closing its terminal stops it in order: short runs may finish, the others go on
at the next start; asked twice, it waits for nothing. Without a terminal SIGHUP
makes it read its configuration again; one with a fault is refused in the log.

  --json   log lines as JSON in a terminal too

Configuration: watchkeeper.config.json and environment variables; see
docs/configuration.md. All faults are reported at once.

exit code: 0 stopped in order, 2 configuration, or a living bridge has the host
id or the folder, 3 stopped while it waited for Redis, or because its own Redis,
or its worker, did no more work

examples:
  watchkeeper bridge                                  (tries everything out here, with no account anywhere)
  TELEGRAM_BOT_TOKEN_FILE=/run/secrets/bot REDIS_URL=redis://redis:6379 watchkeeper bridge`,
  async run(args, context) {
    const { io, logStream } = context;
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    const settings = await context.readSettings();
    const stopping = context.untilStopped();
    const source = new ConfigSource(settings, context.readSettings);
    const streams = {
      terminal: { write: io.stdout, lines: context.openInput() },
      logStream: values.json ? asJson(logStream) : logStream,
    };
    const bridge = await assembleBridge(source, streams, stopping);
    context.handleSignals(bridge);
    await bridge.start();
    await untilAborted(AbortSignal.any([stopping, bridge.lost]));
    await bridge.stop();
    bridge.lost.throwIfAborted();
    return 0;
  },
};

/** @returns when the signal has aborted */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** @returns the stream, marked as not read by a person */
function asJson(stream: TerminalStream): TerminalStream {
  return { isTTY: false, write: (text) => stream.write(text), on: (event, listener) => stream.on(event, listener) };
}
