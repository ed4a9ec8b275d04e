import { ConfigSource } from '../../src/config/configSource.js';
import type { TerminalStream } from '../../src/log/logDestinations.js';
import { assembleBridge } from '../assembly/bridge.js';
import type { Command } from '../command/command.js';
import { readOptions } from '../command/options.js';

export const command: Command = {
  help: `usage: watchkeeper bridge [--json]

Takes messages from Telegram, runs them as agent jobs, and watches every job;
the watchdog is part of it. Without TELEGRAM_BOT_TOKEN, messages come from this
terminal. Without REDIS_URL, it starts its own Redis.

SIGTERM, Ctrl-C or closing the terminal stops it in order: short runs may
finish, the others continue at the next start. A second signal stops it at once.
When it runs without a terminal, SIGHUP reloads the configuration. A faulty
configuration is rejected and logged.

  --json   log lines as JSON, in a terminal too

Configuration: watchkeeper.config.json and environment variables; see
docs/configuration.md. All faults are reported at once.

exit code: 0 stopped in order, 2 faulty configuration, or another bridge uses
the host id or the logs folder, 3 Redis or the queue worker became unavailable

examples:
  watchkeeper bridge                                  (for a trial on this machine; needs no account)
  TELEGRAM_BOT_TOKEN_FILE=/run/secrets/bot REDIS_URL=redis://redis:6379 watchkeeper bridge`,
  async run(args, context) {
    const { io, logStream, surroundings } = context;
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    const settings = await context.readSettings();
    const stopping = context.untilStopped();
    const source = new ConfigSource(settings, context.readSettings);
    const streams = {
      terminal: { write: io.stdout, lines: context.openInput() },
      logStream: values.json ? asJson(logStream) : logStream,
      surroundings,
      startDetached: (args: readonly string[]) => context.startDetached(args),
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

export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function asJson(stream: TerminalStream): TerminalStream {
  return { isTTY: false, write: (text) => stream.write(text), on: (event, listener) => stream.on(event, listener) };
}
