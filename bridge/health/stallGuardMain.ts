/**
 * The thread that watches its process's event loop. The two share nothing but a counter. When the counter stops, this thread
 * writes the last message itself, because the loop cannot write any more.
 *
 * A thread cannot choose the exit code of its process, so it kills the process with SIGKILL, which a shell and Docker show as
 * 137. Remaining processes (agents, its own Redis) are handled as after any death of a bridge.
 */
import { writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { workerData } from 'node:worker_threads';
import { LogFile, readableLine } from '../../src/log/logDestinations.js';
import { describeDuration, isoTime, SECOND, systemClock } from '../../src/time.js';
import { type StallGuardData, StallJudge } from './stallGuard.js';

const STDERR = 2;
const STACK_WITHIN_MS = SECOND;
const MOST_FRAMES = 10;

const { shared, limitMs, tickMs, logFile, isTerminal } = workerData as StallGuardData;
const counter = new Int32Array(shared);
const logDestination = logFile === null ? null : new LogFile(logFile);

function say(msg: string): void {
  const line = `${JSON.stringify({ level: 'fatal', time: isoTime(systemClock.now()), pid: process.pid, msg })}\n`;
  const writers = [() => logDestination?.write(line), () => writeSync(STDERR, isTerminal ? readableLine(line) : line)];
  for (const write of writers) {
    try {
      write();
    } catch {
      // The other output may still work; there is no other place to report this.
    }
  }
}

/** The position of the loop according to the debugger; null if it does not answer, for example inside native code. */
async function standingAt(): Promise<string | null> {
  const seen = new AbortController();
  let words: string | null = null;
  // A frame's own `url` is empty.
  const urls = new Map<string, string>();
  const session = new Session();
  session.connectToMainThread();
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  session.on('Debugger.paused', ({ params }) => {
    const frames = params.callFrames.slice(0, MOST_FRAMES);
    words = frames
      .map(({ functionName, location: { scriptId, lineNumber } }) => {
        return `${functionName || '(anonymous)'} ${urls.get(scriptId) ?? ''}:${lineNumber + 1}`;
      })
      .join(' ← ');
    seen.abort();
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  await systemClock.sleep(STACK_WITHIN_MS, seen.signal);
  return words;
}

async function watch(): Promise<void> {
  const judge = new StallJudge(tickMs, Atomics.load(counter, 0));
  for (let lookedAt = systemClock.monotonic(); ; ) {
    await systemClock.sleep(tickMs);
    const now = systemClock.monotonic();
    const stoodMs = judge.look(Atomics.load(counter, 0), now - lookedAt);
    lookedAt = now;
    if (stoodMs >= limitMs) return;
  }
}

await watch();
say(
  `the event loop has been blocked for ${describeDuration(limitMs)}: this process can do nothing and exits, so that its supervisor restarts it`,
);
const place = await standingAt().catch(() => null);
if (place !== null) say(`the event loop was at ${place}`);
process.kill(process.pid, 'SIGKILL');
