/** Begins a session with a plan: the first of its directory, next to another one, or in its place. */

import { counted } from '../../src/counted.js';
import { UsageError } from '../../src/errors.js';
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import type { Step } from '../fold/worklog.js';
import { archiveSession } from '../keeping/archive.js';
import { RefusedError } from '../logs/kind.js';
import { adoptCaller, isInAgent } from '../sessions/adoption.js';
import type { Memory } from '../sessions/memory.js';
import { requireOwnMemory } from '../sessions/ownMemory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { writeOrRefuse } from '../sessions/write.js';
import { stepLine } from '../show/status.js';
import { sinceScan } from '../workspaces/scan.js';
import { choice, list, option, word } from './fields.js';
import { putAway, reportsHere } from './followUps.js';
import { allHere, inTheWay, onlyCrashed, reportOn } from './inTheWay.js';
import { resumeWith } from './resumeWith.js';
import { keepScan } from './scan.js';
import { type Outcome, verb } from './verb.js';

/** The verb of `track init`. */
export const init = verb({
  name: 'init',
  summary: 'begin a session with a plan',
  fields: {
    task: word('TASK'),
    step: list('[--step TITLE]… [--steps A,B]', 'steps'),
    name: option('[--name NAME]'),
    /** How to treat the session that is there already. */
    existing: choice(
      '\n       [--resume [--session ID]|--archive-existing|--concurrent]',
      ['resume', 'archive', 'concurrent'],
      {
        flags: {
          resume: { means: 'resume' },
          'archive-existing': { means: 'archive' },
          concurrent: { means: 'concurrent' },
        },
        unclear: null,
      },
    ),
  },
  async run(memory, input): Promise<Outcome> {
    const { task = '', existing, session: named } = input;
    if (task.trim() === '' && existing !== 'resume')
      throw new UsageError('what is the task? For example: watchkeeper track init "Fix the login"');
    const titles = input.step.map((title) => title.trim());
    if (titles.includes('')) throw new UsageError('a step without a title: give each --step some words');
    if (memory.isBridges) return planBridges(memory, { ...input, task, titles });
    if (named !== undefined && existing !== 'resume')
      throw new UsageError('--session names a session to go on with: add --resume, or leave it out to begin one');
    const holder = existing === 'concurrent' ? null : memory.holder();
    if (existing === 'resume') {
      const meant = named === undefined ? (holder ?? (await onlyCrashed(memory))) : memory.which(named);
      if (meant !== null) return resumed(memory, meant, holder);
    }
    if (holder !== null && titles.length > 0 && existing !== 'archive' && mayBePlanned(holder, memory))
      return plan(memory, holder, { task, titles });
    return begin(memory, holder, { ...input, task, titles });
  },
});

interface Plan {
  readonly task: string;
  readonly titles: readonly string[];
}

interface Begun extends Plan {
  readonly name: string | undefined;
  readonly existing: 'resume' | 'archive' | 'concurrent' | undefined;
}

function resumed(memory: Memory, meant: OpenSession, holder: OpenSession | null): Outcome {
  const { folder } = resumeWith(memory, meant);
  const isImplied = isInAgent(memory) || meant.id === holder?.id;
  const how = isImplied ? '' : ': name it with --session, because no agent works in this shell';
  return {
    lines: `going on with session ${meant.id}${how}`,
    value: { session_id: meant.id, folder, resumed: true },
  };
}

async function begin(
  memory: Memory,
  holder: OpenSession | null,
  { task, titles, name, existing }: Begun,
): Promise<Outcome> {
  const archives = existing === 'archive';
  const others = existing === 'concurrent' ? [] : await (archives ? allHere : inTheWay)(memory, holder);
  if (others.length > 0 && !archives) return { verdict: 'refused', lines: await reportOn(others, memory), value: null };
  // Refused while another live agent works on one, which keeps its monitor then.
  for (const other of others) archiveSession(memory, other, { end: 'cancelled' });
  if (task.trim() === '') throw new UsageError('no session holds this directory, so there is nothing to go on with');
  const asides = reportsHere(memory);
  const session = memory.lifecycle.begin(memory.workspace, {
    purpose: task,
    fields: { name },
    plan: planOf(titles),
    concurrent: existing === 'concurrent',
  });
  adoptCaller(memory, session);
  keepScan(memory, session.id, sinceScan(memory, memory.workspace.root, null).scan);
  return {
    lines: `session ${session.id} begins${stepsOf(titles)}`,
    value: { session_id: session.id, folder: session.folder, steps: titles.length },
    asides,
    followUps: [...others.flatMap(putAway), { do: 'keep_round' }],
  };
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
function planBridges(
  memory: Memory,
  { session: named, existing, task, titles }: Begun & { session: string | undefined },
) {
  if (existing === 'archive' || existing === 'concurrent') requireOwnMemory(memory.places);
  const session = memory.which(named ?? null);
  const { id, folder } = session;
  if (existing === 'resume')
    return { lines: `going on with session ${id}`, value: { session_id: id, folder, resumed: true } };
  return plan(memory, session, { task, titles });
}

/** Whether the agent in this shell has begun it with `work start`, which makes no plan. */
function mayBePlanned({ id, log: { state } }: OpenSession, { conversation, bindings }: Memory): boolean {
  const isOwn = conversation !== null && bindings.sessionOf(conversation) === id;
  return isOwn && state.facts?.explicit === true && state.steps.size === 0;
}

function plan(memory: Memory, session: OpenSession, { task, titles }: Plan): Outcome {
  const { id, folder } = session;
  writeOrRefuse(session, memory.stamp, ({ steps }) => {
    if (steps.size > 0) throw hasPlan(id, [...steps.values()]);
    return [worklogKind.line('log', { message: task }), ...planOf(titles)];
  });
  return {
    lines: `session ${id} has a plan of ${counted(titles.length, 'step')}`,
    value: { session_id: id, folder, steps: titles.length },
  };
}

function hasPlan(id: string, steps: readonly Step[]): RefusedError {
  const lines = [`session ${id} has a plan already:`, ...steps.map((step) => `  ${stepLine(step)}`)];
  const message = [...lines, 'Go on with it: watchkeeper track step …; add to it: watchkeeper track step --add TITLE'];
  return new RefusedError({ code: 'has_plan', message });
}
