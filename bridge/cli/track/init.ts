import { type WorklogLine, worklogKind } from '../../../memory/fold/rules/kind.js';
import type { Step } from '../../../memory/fold/worklog.js';
import { archiveSession } from '../../../memory/keeping/archive.js';
import { RefusedError } from '../../../memory/logs/log.js';
import { adoptCaller, isInAgent } from '../../../memory/sessions/adoption.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import { requireOwnMemory } from '../../../memory/sessions/ownMemory.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import { writeOrRefuse } from '../../../memory/sessions/write.js';
import { stepLine } from '../../../memory/show/status.js';
import { counted } from '../../../src/counted.js';
import { UsageError } from '../../../src/errors.js';
import { textOf } from '../../../src/journal/record.js';
import type { ExitCode } from '../../command/command.js';
import { goOnWith } from '../../command/goOnWith.js';
import { keepLater, roundLater, sayWhatBecame } from '../../command/keepLater.js';
import { stopMonitor } from '../../command/monitorProcess.js';
import { sayLines } from '../../command/print.js';
import { type Call, word } from '../../command/word.js';
import { existing, inTheWay, onlyCrashed, reportOn } from './inTheWay.js';

/** What becomes of the session that is there already. */
const WAYS = ['resume', 'archive-existing', 'concurrent'] as const;

export const init = word({
  usage:
    'init TASK [--step TITLE]… [--steps A,B] [--name NAME]\n       [--resume [--session ID]|--archive-existing|--concurrent]',
  summary: 'begin a session with a plan',
  options: {
    step: { type: 'string', multiple: true },
    steps: { type: 'string' },
    name: { type: 'string' },
    concurrent: { type: 'boolean' },
    resume: { type: 'boolean' },
    'archive-existing': { type: 'boolean' },
  },
  words: 1,
  async run(call): Promise<ExitCode> {
    const { memory, values, words, print, context } = call;
    const [task = ''] = words;
    requireOneWay(values);
    if (task.trim() === '' && !values.resume)
      throw new UsageError('what is the task? For example: watchkeeper track init "Fix the login"');
    const titles = [...(values.step ?? []), ...(values.steps?.split(',') ?? [])].map((title) => title.trim());
    if (titles.includes('')) throw new UsageError('a step without a title: give each --step some words');
    if (memory.isBridges) return planBridges(task, titles, call);
    const named = textOf(values.session);
    if (named !== null && !values.resume)
      throw new UsageError('--session names a session to go on with: add --resume, or leave it out to begin one');
    const holder = values.concurrent ? null : memory.holder();
    const meant = values.resume ? await resumed(memory, holder, named) : null;
    if (meant !== null) {
      const { folder } = goOnWith(memory, meant);
      const isMeant = isInAgent(memory) || meant.id === holder?.id;
      const how = isMeant ? '' : ': name it with --session, because no agent works in this shell';
      print(`going on with session ${meant.id}${how}`, { session_id: meant.id, folder, resumed: true });
      return 0;
    }
    if (holder !== null && titles.length > 0 && !values['archive-existing'] && mayBePlanned(holder, memory))
      return plan(holder, task, titles, call);
    const archives = values['archive-existing'] === true;
    const others = values.concurrent ? [] : await (archives ? existing : inTheWay)(memory, holder);
    if (others.length > 0 && !archives) {
      sayLines(context.io, await reportOn(others, memory));
      return 1;
    }
    for (const other of others) {
      // Refused while another live agent works on it, who keeps the monitor then.
      archiveSession(memory, other, 'cancelled');
      await stopMonitor(memory, other);
      keepLater(context, memory, other);
    }
    if (values.resume && task.trim() === '')
      throw new UsageError('no session holds this directory, so there is nothing to go on with');
    sayWhatBecame(context, memory);
    const session = memory.lifecycle.begin(memory.workspace, {
      purpose: task,
      fields: { name: values.name },
      plan: planOf(titles),
      concurrent: values.concurrent === true,
    });
    adoptCaller(memory, session);
    roundLater(context, memory);
    print(`session ${session.id} begins${stepsOf(titles)}`, {
      session_id: session.id,
      folder: session.folder,
      steps: titles.length,
    });
    return 0;
  },
});

function requireOneWay(values: Call['values']): void {
  const given = WAYS.filter((way) => values[way]).map((way) => `--${way}`);
  if (given.length > 1) throw new UsageError(`${given.join(' and ')} exclude each other: give one of them`);
}

async function resumed(memory: Memory, holder: OpenSession | null, named: string | null): Promise<OpenSession | null> {
  return named === null ? (holder ?? onlyCrashed(memory)) : memory.which(named);
}

function stepsOf(titles: readonly string[]): string {
  return titles.length === 0
    ? '; add steps with: watchkeeper track step --add TITLE'
    : `, with ${counted(titles.length, 'step')}`;
}

function planOf(titles: readonly string[]): WorklogLine[] {
  return titles.map((title, index) => worklogKind.line('step_added', { step: String(index + 1), title }));
}

/** An agent of a bridge has a session already: the steps are its plan, and the task is an entry of its log. */
function planBridges(task: string, titles: readonly string[], call: Call): ExitCode {
  const { memory, values, print } = call;
  if (values['archive-existing'] || values.concurrent) requireOwnMemory(memory.places);
  const session = memory.which(textOf(values.session));
  const { id, folder } = session;
  if (values.resume) {
    print(`going on with session ${id}`, { session_id: id, folder, resumed: true });
    return 0;
  }
  return plan(session, task, titles, call);
}

/** The agent in this shell has begun it with `work start`, which makes no plan. */
function mayBePlanned({ id, log: { state } }: OpenSession, { conversation, bindings }: Memory): boolean {
  const isOwn = conversation !== null && bindings.sessionOf(conversation) === id;
  return isOwn && state.facts?.explicit === true && state.steps.size === 0;
}

function plan(
  session: OpenSession,
  task: string,
  titles: readonly string[],
  { memory, print }: Pick<Call, 'memory' | 'print'>,
): ExitCode {
  const { id, folder } = session;
  writeOrRefuse(session, memory.stamp, ({ steps }) => {
    if (steps.size > 0) throw hasPlan(id, [...steps.values()]);
    return [worklogKind.line('log', { message: task }), ...planOf(titles)];
  });
  print(`session ${id} has a plan of ${counted(titles.length, 'step')}`, {
    session_id: id,
    folder,
    steps: titles.length,
  });
  return 0;
}

function hasPlan(id: string, steps: readonly Step[]): RefusedError {
  const lines = [`session ${id} has a plan already:`, ...steps.map((step) => `  ${stepLine(step)}`)];
  const message = [...lines, 'Go on with it: watchkeeper track step …; add to it: watchkeeper track step --add TITLE'];
  return new RefusedError({ code: 'has_plan', message });
}
