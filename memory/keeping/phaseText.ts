/** The plan of a session for people: where it stands, and a section for each phase. It contains no `now`. */
import { counted } from '../../src/counted.js';
import { foreignMarkdown, inMarkdown } from '../../src/log/markdown.js';
import { isoTime } from '../../src/time.js';
import { holderWords } from '../fold/holder.js';
import { PENDING } from '../fold/rules/work.js';
import type { DeclaredError, Step, Worklog } from '../fold/worklog.js';
import type { ShownFile } from '../observed/combined.js';
import type { FileChange } from '../observed/files.js';
import type { StepStatus } from '../words.js';
import { statusWords } from '../words.js';

export const MARKS: Readonly<Record<StepStatus, string>> = {
  completed: '✓',
  in_progress: '○',
  failed: '✗',
  pending: '□',
  skipped: '–',
  cancelled: '–',
};
const SHOWN_ORDER: readonly StepStatus[] = ['completed', 'skipped', 'cancelled', 'in_progress', 'failed', 'pending'];
const LEGEND = 'Marks: ✓ completed, ○ in progress, ✗ failed, □ pending, – skipped or cancelled.';

type Files = Readonly<Record<string, ShownFile>>;

/** @returns how the session ended, how many phases have each status, and which ones are not settled */
export function planLines({ end, steps }: Pick<Worklog, 'end' | 'steps'>): string[] {
  const phases = [...steps.values()];
  const counts = SHOWN_ORDER.flatMap((status) => {
    const { length } = phases.filter((step) => step.status === status);
    return length === 0 ? [] : [`${length} ${statusWords(status)}`];
  });
  const open = phases.filter(({ status }) => ['pending', 'in_progress', 'failed'].includes(status));
  const openWords = open.map(({ id, status }) => inMarkdown(`${id} (${statusWords(status)})`));
  return [
    ...(end === null
      ? []
      : ['', inMarkdown(`Ended as ${end.reason}${end.summary === null ? '' : `: ${end.summary}`}`)]),
    ...(phases.length === 0
      ? []
      : [
          '',
          `${counted(phases.length, 'phase')}: ${counts.join(', ')}. ${open.length === 0 ? 'None is open.' : `Open: ${openWords.join(', ')}.`}`,
          '',
          LEGEND,
        ]),
  ];
}

/** @returns the section of a phase, headed by its id */
export function phaseLines(step: Step, log: Pick<Worklog, 'errors'>, files: Files): string[] {
  const { id, title, status, output, context, no_context_reason, validation } = step;
  const changes = Object.entries(changedIn(step, files)).flatMap(([kind, paths]) =>
    paths.map((path) => `${path} (${kind})`),
  );
  const learned = Object.entries(context ?? {}).flatMap(([kind, texts]) =>
    texts.map((text) => `${kind.replaceAll('_', ' ')}: ${text}`),
  );
  return [
    `## Phase ${inMarkdown(`${id}: ${title}`)} ${MARKS[status]}`,
    ...['', ...stateLines(step).map((line) => `- ${inMarkdown(line)}`)],
    ...(output === null ? [] : ['', ...foreignMarkdown(output).map((line) => `> ${line}`.trimEnd())]),
    ...section('Files changed', changes, '###'),
    ...section('Downstream context', learned, '###'),
    ...(no_context_reason === null ? [] : ['', `No downstream context: ${inMarkdown(no_context_reason)}`]),
    ...(validation === null
      ? []
      : ['', `Validation: ${validation.passed ? 'passed' : 'failed'}${detailsOf(validation)}`]),
    ...section('Errors', errorsOf(step, log).map(errorWords), '###'),
  ];
}

/** @returns a line each: the status with its reason, the times, the agents, what it waits for */
function stateLines(step: Step): string[] {
  const { status, reason, assumed, retries, holder, agent, agents, blocked_by, started_at, ended_at } = step;
  const times = [
    ...(started_at === null ? [] : [`started ${isoTime(started_at)}`]),
    ...[ended_at ?? []].flat().map((at) => `ended ${isoTime(at)}`),
  ];
  const planned = agents.join(', ');
  return [
    `status: ${statusWords(status)}${assumed ? ', which was not checked' : ''}${reason === null ? '' : `: ${reason}`}`,
    ...(times.length === 0 ? [] : [times.join(', ')]),
    ...(retries === 0 ? [] : [`tried again: ${retries === 1 ? 'once' : `${retries} times`}`]),
    ...(planned === '' ? [] : [`planned for: ${planned}`]),
    ...(holder === null ? [] : [`in the hands of: ${holderWords(step)}`]),
    ...(agent === null || agent === planned || holder !== null ? [] : [`started by: ${agent}`]),
    ...(blocked_by.length === 0 ? [] : [`comes after: ${blocked_by.join(', ')}`]),
  ];
}

export function errorsOf({ id }: Step, { errors }: Pick<Worklog, 'errors'>): DeclaredError[] {
  return errors.filter(({ step }) => step === id);
}

/** The files declared for a step, and the other files that were seen to change while it was in progress. */
export function changedIn({ id, files: declared }: Step, files: Files): Step['files'] {
  const named = new Set(Object.values(declared).flat());
  const own = Object.entries(files).filter(([path, { step }]) => step === id && !named.has(path));
  const observed = (...changes: readonly FileChange[]) =>
    own.flatMap(([path, { change }]) => (change !== undefined && changes.includes(change) ? [path] : []));
  return {
    // These lists know no renaming: the new name is created, and the old one deleted. A file with an unknown kind of change is only
    // in the list of all files.
    created: [...declared.created, ...observed('created', 'renamed')],
    modified: [...declared.modified, ...observed('modified')],
    deleted: [...declared.deleted, ...observed('deleted'), ...own.flatMap(([, { from }]) => from ?? [])],
  };
}

export function errorWords({ agent, type, message, resolution, resolved, at }: DeclaredError): string {
  const by = agent === null ? '' : ` of ${agent}`;
  const how = resolution === PENDING ? '' : `: ${resolution}`;
  return `${isoTime(at)} ${type}${by}: ${message} (${resolved ? 'resolved' : 'open'}${how})`;
}

function detailsOf({ details }: { readonly details?: string | undefined }): string {
  return details === undefined ? '' : `, ${inMarkdown(details)}`;
}

/** @returns a heading and a list; empty if there are no entries */
export function section(title: string, entries: readonly string[], level = '##'): string[] {
  return entries.length === 0 ? [] : ['', `${level} ${title}`, '', ...entries.map((entry) => `- ${inMarkdown(entry)}`)];
}
