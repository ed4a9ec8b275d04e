import { join, resolve } from 'node:path';
import { conditionOf } from '../../../memory/condition/condition.js';
import { recordedOf } from '../../../memory/condition/recorded.js';
import { DOING } from '../../../memory/condition/words.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import { ago } from '../../../memory/show/status.js';
import { judgedOf } from '../../../monitoring/terminals/judge.js';
import { Monitor, type MonitorLimits, thresholdsOf } from '../../../monitoring/terminals/monitor.js';
import { recordedMonitor } from '../../../monitoring/terminals/monitorRecord.js';
import { noticeText } from '../../../monitoring/terminals/noticeText.js';
import { judgeQuietly } from '../../../monitoring/terminals/quietSession.js';
import { TerminalSession } from '../../../monitoring/terminals/terminalSession.js';
import { describeError, UnreachableError, UsageError } from '../../../src/errors.js';
import { appendPrivately } from '../../../src/files/privateFiles.js';
import { systemCounters } from '../../../src/host/counters.js';
import { oneLine } from '../../../src/log/visibleText.js';
import { describeDuration, isoTime, SECOND } from '../../../src/time.js';
import type { ExitCode } from '../../command/command.js';
import { startMonitor, stopMonitor } from '../../command/monitorProcess.js';
import { printLines } from '../../command/print.js';
import { type Call, word } from '../../command/word.js';

const LOG = 'monitor.log';
const WHOLE = /^[1-9]\d{0,5}$/;

const options = {
  start: { type: 'boolean' },
  stop: { type: 'boolean' },
  check: { type: 'boolean' },
  run: { type: 'boolean' },
  interval: { type: 'string' },
  checks: { type: 'string' },
} as const;
type MonitorCall = Call<typeof options>;

export const monitor = word({
  usage: 'monitor --start|--stop|--check|--run [--interval 60] [--checks 3]',
  summary:
    'notice when the session is silent for CHECKS times INTERVAL seconds:\n      --start in the background, for a day at most; --run in this terminal;\n      --check looks once, exit 1 if it is silent',
  options,
  words: 0,
  async run(call): Promise<ExitCode> {
    const { memory, values } = call;
    const asked = (['start', 'stop', 'check', 'run'] as const).filter((name) => values[name] === true);
    const [what] = asked;
    if (what === undefined || asked.length > 1) throw new UsageError('say one of --start, --stop, --check and --run');
    const limits = limitsOf(values);
    const session = memory.which(values.session ?? null);
    switch (what) {
      case 'start':
        return start(call, session, limits);
      case 'stop':
        return stop(call, session);
      case 'check':
        return check(call, session, limits);
      case 'run':
        return watch(call, session, limits);
      default:
        return what satisfies never;
    }
  },
});

async function start(
  { memory, context, print }: MonitorCall,
  session: OpenSession,
  limits: MonitorLimits,
): Promise<ExitCode> {
  const { id } = session;
  if (session.log.state.lifecycle === 'ended')
    throw new UsageError(`session ${id} has ended; there is nothing to monitor`);
  const args = ['track', 'monitor', '--run', '--session', id, '--dir', resolve(memory.places.root)];
  const how = ['--interval', String(limits.intervalMs / SECOND), '--checks', String(limits.checks)];
  const started = await startMonitor(memory, session, () => context.startDetached([...args, ...how]));
  if (started === null)
    throw new UnreachableError(`the monitor of session ${id} did not begin; look at ${join(session.folder, LOG)}`);
  const { monitor: found, wasAlive } = started;
  const { pid } = found.process;
  const silence = describeDuration(found.interval_ms * found.checks);
  print(
    wasAlive
      ? `a monitor runs already (process ${pid}): it notices a silence of ${silence}`
      : `the monitor of session ${id} has begun (process ${pid}): it notices a silence of ${silence}, rings the agent's terminal, and writes to ${join(session.folder, LOG)}; to end it: watchkeeper track monitor --stop --session ${id}`,
    { session_id: id, pid, interval_s: found.interval_ms / SECOND, checks: found.checks, already: wasAlive },
  );
  return 0;
}

async function stop({ memory, print }: MonitorCall, session: OpenSession): Promise<ExitCode> {
  const stopped = await stopMonitor(memory, session);
  const { id } = session;
  print(stopped === null ? `no monitor runs for session ${id}` : `the monitor of session ${id} has stopped`, {
    session_id: id,
    stopped: stopped !== null,
  });
  return 0;
}

async function check(
  { memory, print }: MonitorCall,
  { id, log }: OpenSession,
  limits: MonitorLimits,
): Promise<ExitCode> {
  const now = memory.clock.now();
  const look = { now, thresholds: thresholdsOf(limits), gaps: [] };
  const seen = await new TerminalSession(memory, id).look(look);
  const sight = seen === null ? null : judgeQuietly(seen, look);
  const { stuck, doing, excused_until } = conditionOf(recordedOf(log.state, undefined, log.counts), {
    here: memory.surroundings.process,
    now,
    hours: memory.settings.freshness,
    judged: sight === null ? null : judgedOf(sight),
  });
  const finding = sight?.findings.find(({ rule }) => rule === stuck?.rule);
  const last = sight?.lastActivity ?? null;
  const limit = describeDuration(look.thresholds.silence_ms);
  const activity = last === null ? 'no activity' : `last activity ${ago(now - last)} (${isoTime(last)})`;
  const excused = excused_until === null ? '' : `, silence is excused until ${isoTime(excused_until)}`;
  // A call is given its own time, whatever the limit.
  const attention = doing === 'in_tool' || doing === 'waiting' ? `${DOING[doing]}; ` : '';
  const rest = sight?.mayWork === false ? '; no agent is at work' : '';
  print(
    stuck === null
      ? `not stuck: ${attention}${activity}; limit ${limit}${excused}${rest}`
      : `STUCK: ${finding === undefined ? stuck.sentence : noticeText(finding, id)}`,
    {
      session_id: id,
      stuck: stuck !== null,
      findings: sight?.findings ?? [],
      last_activity: last,
      limit_ms: look.thresholds.silence_ms,
      excused_until: sight?.log.recorded.ping?.until ?? null,
      monitor: recordedMonitor(memory, id)?.process.pid ?? null,
    },
  );
  return stuck === null ? 0 : 1;
}

async function watch(
  { memory, context, values, print }: MonitorCall,
  { id, log }: OpenSession,
  limits: MonitorLimits,
): Promise<ExitCode> {
  log.close();
  const say = (sentence: string) => {
    const line = `${isoTime(memory.clock.now())} ${oneLine(sentence)}`;
    if (!values.json) printLines(context.io, line);
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
  const end = await watching.run(context.untilStopped()).catch((error: unknown) => {
    // In the background nobody reads standard error.
    say(`the monitor ends: ${describeError(error)}`);
    throw error;
  });
  say(`the monitor ends: ${end}`);
  if (values.json) print('', { session_id: id, end });
  return 0;
}

function limitsOf({ interval = '60', checks = '3' }: MonitorCall['values']): MonitorLimits {
  if (!WHOLE.test(interval)) throw new UsageError(`--interval ${JSON.stringify(interval)}: whole seconds, such as 60`);
  if (!WHOLE.test(checks)) throw new UsageError(`--checks ${JSON.stringify(checks)}: a whole number, such as 3`);
  return { intervalMs: Number(interval) * SECOND, checks: Number(checks) };
}
