/** The end of a context: the next step, how the work is resumed, and where its result goes. */
import type { Worklog } from '../fold/worklog.js';
import { purposeOf } from '../observed/purpose.js';
import { type StepLike, stepsOf } from '../observed/step.js';
import type { Section } from './budget.js';
import { type ContextLevel, holds } from './levels.js';
import { entries, nextOf, type Words } from './observedSections.js';
import { resumeCommand, type WayToResume } from './resuming.js';
import type { SessionView } from './view.js';

/** The reader of a context, and further text for that reader. */
export interface ContextReader {
  /** Whether the reading agent works on the session already. */
  readonly isOwn?: boolean;
  /** The sub-agent that resumes its task. Null if the reader is the main agent. */
  readonly subAgent?: string | null;
  /** How its reader resumes the session: as an agent does, if missing. */
  readonly way?: WayToResume;
  /** Sections at the end, such as the number of other sessions. */
  readonly further?: readonly Section[];
  /** How its run ended, in words of others. Null if it is not known. */
  readonly end?: string | null;
  /** The message that its reader has anyway. */
  readonly message?: string;
  /** Characters of the level that the caller uses. */
  readonly used?: number;
}

/** An agent may have written to its own worklog: also the id of its session is its words. */
export function nameOf({ session_id }: Worklog, words: Words): string {
  return session_id === null ? 'without a name' : words.name(session_id);
}

export function nextLines(view: SessionView, level: ContextLevel, reader: ContextReader, words: Words): Section {
  const { log, fold } = view;
  const steps = stepsOf({ log, fold });
  const next = nextOf(steps);
  const name = nameOf(log, words);
  const isListed = holds(level, 'steps', 'open_steps');
  const title = (step: StepLike) => (isListed ? '' : `, ${words.text(step.title)}`);
  const was = next?.status === 'in_progress' ? ', which was in progress' : '';
  return {
    title: '',
    entries: entries('next', [
      ...(togetherLines(log, isListed ? [] : steps, words) ??
        (next === undefined ? [] : [`Next: step ${words.name(next.id)}${title(next)}${was}`])),
      ...(holds(level, 'way_to_resume') ? waysToResume(view, name, reader) : []),
    ]),
  };
}

/** @returns the steps in progress with their agents, if there are several: a reader must not take the first one for its own. Else null */
function togetherLines(log: Worklog, steps: readonly StepLike[], words: Words): string[] | null {
  const working = steps.filter(({ status }) => status === 'in_progress');
  if (working.length < 2) return null;
  const by = ({ id }: StepLike) => {
    const agent = log.steps.get(id)?.agent ?? null;
    return agent === null ? '' : `, by agent ${words.name(agent)}`;
  };
  return [
    'In progress at the same time:',
    ...working.map((step) => `- step ${words.name(step.id)}, ${words.text(step.title)}${by(step)}`),
  ];
}

/** Agents have tools for phases. */
function hasPhases({ steps }: Worklog): boolean {
  return [...steps.values()].some(({ agents }) => agents.length > 0);
}

/** Names the session that this one is a part of, and the receiver of the result of a delegated part. */
export function wayBack(view: SessionView, level: ContextLevel, subAgent: string | null, words: Words): string[] {
  if (level === 'delegated')
    return ['The result of this sub-agent goes to the agent that started it, which works on that session.'];
  const isDelegated = level === 'resumed_delegated';
  if (!isDelegated && !holds(level, 'way_to_resume')) return [];
  if (isDelegated && subAgent !== null)
    return [
      `Sub-agent ${words.name(subAgent)} goes on with its own task; its result goes to the agent that started it, which works on that session.`,
    ];
  const { log, parent } = view;
  if (parent === null) return [];
  const name = nameOf(parent, words);
  const [open] = [...parent.steps.values()].filter(({ status }) => status === 'in_progress');
  const part = `It is a part of session ${name}: ${words.text(purposeOf(parent, null))}; that one is ${parent.lifecycle}`;
  if (!isDelegated) return [part];
  return [
    part,
    ...(open === undefined ? [] : [`There, step ${words.name(open.id)} is in progress: ${words.text(open.title)}`]),
    `Its result goes to that session: watchkeeper track note "…" --session ${name}; to see all of ${nameOf(log, words)}: watchkeeper work show ${nameOf(log, words)}`,
  ];
}

function waysToResume({ log, isBridges }: SessionView, name: string, reader: ContextReader): string[] {
  const { isOwn = false, way = { command: resumeCommand(log, name), further: [] } } = reader;
  // A bridge decides itself what becomes of its sessions.
  if (isBridges) return [`To see all of it, where its bridge runs: watchkeeper session ${name}`];
  const all = `to see all of it: watchkeeper work show ${name}`;
  if (isOwn) return [`The agent that reads this works on that session already; ${all}`];
  const tool = hasPhases(log) ? ` (or the tool resume_session, with session_id ${name})` : '';
  if (way.command !== null) return [`To go on with it: ${way.command}${tool}; ${all}`, ...way.further];
  return [...way.further, `To see all of it: watchkeeper work show ${name}`];
}
