import { join, resolve } from 'node:path';
import { conditionOf } from '../../../memory/condition/condition.js';
import { recordedOf } from '../../../memory/condition/recorded.js';
import { doingWords } from '../../../memory/condition/words.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import type { Viewer } from '../../../memory/sessions/views.js';
import { ago } from '../../../memory/show/status.js';
import { choice, option } from '../../../memory/verbs/fields.js';
import { meant } from '../../../memory/verbs/meant.js';
import { type Door, type Outcome, verb } from '../../../memory/verbs/verb.js';
import { judgedOf } from '../../../monitoring/terminals/judge.js';
import { Monitor } from '../../../monitoring/terminals/monitor.js';
import { type MonitorLimits, thresholdsOf, USUAL_LIMITS } from '../../../monitoring/terminals/monitorLimits.js';
import { livingMonitor, type MonitorRecord, recordedMonitor } from '../../../monitoring/terminals/monitorRecord.js';
import { noticeText } from '../../../monitoring/terminals/notices.js';
import { judgeQuietly } from '../../../monitoring/terminals/quietSession.js';
import { mayWork, TerminalSession } from '../../../monitoring/terminals/terminalSession.js';
import { describeError, UnreachableError, UsageError } from '../../../src/errors.js';
import { appendPrivately } from '../../../src/files/privateFiles.js';
import { systemCounters } from '../../../src/host/counters.js';
import { oneLine } from '../../../src/log/visibleText.js';
import { describeDuration, localTime, SECOND, spokenDuration } from '../../../src/time.js';
import { startMonitor, stopMonitor, WITHIN_MS } from '../../command/monitorProcess.js';

const LOG = 'monitor.log';
const WHOLE = /^[1-9]\d{0,5}$/;

const UNCLEAR = 'say one of --start, --stop, --check and --run';

export const monitor = verb({
  name: 'monitor',
  summary:
    'notice when the session is silent for CHECKS times INTERVAL seconds:\n--start in the background, for a day at most; --run in this terminal;\n--check looks once, by the limits of a monitor that runs;\nexit 1 if it is silent',
  fields: {
    do: choice('--start|--stop|--check|--run', ['start', 'stop', 'check', 'run'], {
      flags: { start: { means: 'start' }, stop: { means: 'stop' }, check: { means: 'check' }, run: { means: 'run' } },
      unclear: UNCLEAR,
    }),
    interval: option('[--interval 60]'),
    checks: option('[--checks 3]'),
  },
  async run(memory, input, door): Promise<Outcome> {
    if (input.do === undefined) throw new UsageError(UNCLEAR);
    const limits = limitsOf(input);
    const session = meant(memory, input);
    switch (input.do) {
      case 'start':
        return start(memory, session, limits, door);
      case 'stop':
        return stop(memory, session);
      case 'check':
        return check(memory, session, limitsOf(input, livingMonitor(memory, session.id)));
      case 'run':
        return watch(memory, session, limits, door);
      default:
        return input.do satisfies never;
    }
  },
});

async function start(memory: Viewer, session: OpenSession, limits: MonitorLimits, door: Door): Promise<Outcome> {
  const { id } = session;
  if (session.log.state.lifecycle === 'ended')
    throw new UsageError(`session ${id} has ended; there is nothing to monitor`);
  const args = ['track', 'monitor', '--run', '--session', id, '--dir', resolve(memory.places.root)];
  const how = ['--interval', String(limits.intervalMs / SECOND), '--checks', String(limits.checks)];
  const started = await startMonitor(memory, session, () => door.startDetached([...args, ...how]));
  if (started === null)
    throw new UnreachableError(`the monitor of session ${id} did not begin; look at ${join(session.folder, LOG)}`);
  const { monitor: found, wasAlive } = started;
  const { pid } = found.process;
  const silence = describeDuration(found.interval_ms * found.checks);
  return {
    lines: wasAlive
      ? `a monitor runs already (process ${pid}): it notices a silence of ${silence}`
      : `the monitor of session ${id} has begun (process ${pid}): it notices a silence of ${silence}, rings the agent's terminal, and writes to ${join(session.folder, LOG)}; to end it: watchkeeper track monitor --stop --session ${id}`,
    value: { session_id: id, pid, interval_s: found.interval_ms / SECOND, checks: found.checks, already: wasAlive },
  };
}

async function stop(memory: Viewer, session: OpenSession): Promise<Outcome> {
  const { end, pid } = await stopMonitor(memory, session);
  const { id } = session;
  const named = `the monitor of session ${id} (process ${pid})`;
  if (end === 'alive')
    throw new UnreachableError(
      `${named} has not ended within ${spokenDuration(WITHIN_MS)}; to end it: kill -KILL ${pid}`,
    );
  if (end === 'unseen')
    throw new UnreachableError(`${named} cannot be seen from here and may run; stop it where it was started`);
  return {
    lines: end === 'none' ? `no monitor runs for session ${id}` : `the monitor of session ${id} has stopped`,
    value: { session_id: id, stopped: end === 'stopped' },
  };
}

async function check(memory: Viewer, { id, log }: OpenSession, limits: MonitorLimits): Promise<Outcome> {
  const now = memory.clock.now();
  const look = { now, thresholds: thresholdsOf(limits), gaps: [] };
  const seen = await new TerminalSession(memory, id).look(look);
  const sight = seen === null ? null : judgeQuietly(seen, look);
  const { stuck, doing, excused_until } = conditionOf(recordedOf(log.state, undefined, log.counts), {
    here: memory.surroundings.process,
    now,
    hours: memory.settings.freshness,
    judged: sight === null ? null : judgedOf(sight),
    wait: sight?.wait ?? null,
  });
  const finding = sight?.findings.find(({ rule }) => rule === stuck?.rule);
  const last = sight?.lastActivity ?? null;
  const limit = describeDuration(look.thresholds.silence_ms);
  const latest = last === null ? 'no activity' : `last activity ${ago(now - last)} (${localTime(last)})`;
  const excused = excused_until === null ? '' : `, silence is excused until ${localTime(excused_until)}`;
  // A call is given its own time, whatever the limit.
  const activity = doingWords(doing, sight?.wait ?? null);
  const attention = activity === null ? '' : `${activity}; `;
  const rest = sight !== null && !mayWork(sight) ? '; no agent is at work' : '';
  return {
    lines:
      stuck === null
        ? `not stuck: ${attention}${latest}; limit ${limit}${excused}${rest}`
        : `stuck: ${finding === undefined ? stuck.sentence : noticeText(finding, id)}`,
    value: {
      session_id: id,
      stuck: stuck !== null,
      findings: sight?.findings ?? [],
      last_activity: last,
      limit_ms: look.thresholds.silence_ms,
      excused_until: log.state.ping?.until ?? null,
      monitor: recordedMonitor(memory, id)?.process.pid ?? null,
    },
    ...(stuck !== null && { verdict: 'found' }),
  };
}

async function watch(memory: Viewer, { id }: OpenSession, limits: MonitorLimits, door: Door): Promise<Outcome> {
  // It serves for hours, and opens the session's log only to write.
  memory.sessions.close();
  const say = (sentence: string) => {
    const line = `${localTime(memory.clock.now())} ${oneLine(sentence)}`;
    door.say(line);
    const folder = memory.places.findSession(id);
    try {
      if (folder !== null) appendPrivately(join(folder, LOG), `${line}\n`);
    } catch {
      // A notice is in the worklog; this only repeats it.
    }
  };
  const { intervalMs, checks } = limits;
  say(`the monitor has begun: it notices a silence of ${describeDuration(intervalMs * checks)}`);
  const watching = new Monitor({
    memory,
    sessionId: id,
    clock: memory.clock,
    counters: systemCounters,
    say,
    ...limits,
  });
  const end = await watching.run(door.untilStopped()).catch((error: unknown) => {
    // In the background, standard error is not read.
    say(`the monitor ends: ${describeError(error)}`);
    throw error;
  });
  say(`the monitor ends: ${end}`);
  return { lines: [], value: { session_id: id, end } };
}

interface Typed {
  readonly interval: string | undefined;
  readonly checks: string | undefined;
}

/** @param running what is not typed is as its monitor has it; null if none runs */
function limitsOf(typed: Typed, running: MonitorRecord | null = null): MonitorLimits {
  const usual = {
    intervalMs: running?.interval_ms ?? USUAL_LIMITS.intervalMs,
    checks: running?.checks ?? USUAL_LIMITS.checks,
  };
  const { interval = String(usual.intervalMs / SECOND), checks = String(usual.checks) } = typed;
  if (!WHOLE.test(interval)) throw new UsageError(`--interval ${JSON.stringify(interval)}: whole seconds, such as 60`);
  if (!WHOLE.test(checks)) throw new UsageError(`--checks ${JSON.stringify(checks)}: a whole number, such as 3`);
  return { intervalMs: Number(interval) * SECOND, checks: Number(checks) };
}
