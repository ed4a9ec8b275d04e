/** The work of a session and its reasons, for a person who did not do it. */
import { foreignMarkdown, inCode, inMarkdown } from '../../src/log/markdown.js';
import type { Redact } from '../../src/log/redact.js';
import { oneLine } from '../../src/log/visibleText.js';
import { spokenDuration } from '../../src/time.js';
import { unsettledOf } from '../fold/state.js';
import type { MadeCommit } from '../git/history.js';
import type { FailureGroup } from '../learnings/draw.js';
import type { Learning } from '../learnings/kind.js';
import type { Look } from '../look/look.js';
import type { ShownFile } from '../observed/combined.js';
import { changeWords } from '../observed/files.js';
import { wayWords } from '../show/learningWords.js';
import { CONTEXT_LISTS } from '../words.js';
import type { Check } from './checks.js';
import { isOfWork, type OwnPath } from './ownPath.js';
import type { QuietCommits } from './quietCommits.js';

const MOST_LINES = 30;

export interface Summarised {
  readonly look: Look;
  readonly ownPath: OwnPath;
  readonly checks: readonly Check[];
  /** Whether calls of its agents are on record. Without them, nothing is known of tests. */
  readonly hasCalls: boolean;
  /** Those that no output names. */
  readonly quiet: QuietCommits;
  /** Made in its worktree while it was open, if no calls are on record that would show whose they are. */
  readonly meanwhile: readonly MadeCommit[];
  /** Those of the session. */
  readonly learnings: readonly Learning[];
  /** Failed calls after which something worked. */
  readonly overcome: readonly FailureGroup[];
}

/** How words of others are written: for a terminal, or in Markdown. */
interface Writing {
  readonly words: (text: string) => string;
  readonly code: (text: string) => string;
}

const PLAIN: Writing = { words: oneLine, code: (text) => `\`${oneLine(text)}\`` };

interface Part {
  readonly title: string;
  readonly lines: readonly string[];
}

/**
 * @param redact before words of others are escaped: afterwards a secret may look otherwise
 * @returns Markdown that can be pasted: the purpose as its title, then what a reviewer asks
 */
export function pullRequestLines(given: Summarised, redact: Redact): string[] {
  const { state, log, fold } = given.look;
  const said = log.end?.summary ?? fold?.lastWords ?? '';
  const to: Writing = {
    words: (text) =>
      inMarkdown(
        redact(text)
          .trim()
          .replace(/\s*\n\s*/g, ' '),
      ),
    code: (text) => inCode(redact(text)),
  };
  const parts = [done, beside, decided, changed, checked, open].map((part) => part(given, to));
  return [
    `# ${to.words(state.purpose) || 'Work without a purpose'}`,
    ...(said === '' ? [] : ['', ...foreignMarkdown(redact(said).trim())]),
    ...parts.flatMap(({ title, lines }) => (lines.length === 0 ? [] : ['', `## ${title}`, '', ...bounded(lines)])),
  ];
}

/** @returns the same for a terminal, also with the errors that were overcome, the notes, the checkpoints, and how long it took */
export function summaryLines(given: Summarised, redact: Redact): string[] {
  const { state, log } = given.look;
  const summary = log.end?.summary ?? '';
  const parts = [done, beside, decided, changed, checked, overcome, noted, marked, open];
  return [
    oneLine(state.purpose),
    ...(summary === '' ? [] : summary.split('\n')),
    ...durationLines(given.look),
    ...parts
      .map((part) => part(given, PLAIN))
      .flatMap(({ title, lines }) =>
        lines.length === 0 ? [] : [`${title}:`, ...bounded(lines).map((line) => `  ${line}`)],
      ),
  ].map(redact);
}

function durationLines({ log, last }: Look): string[] {
  const until = log.end?.at ?? last;
  if (log.created_at === null || until === null) return [];
  const words = spokenDuration(until - log.created_at);
  return [log.end === null ? `${words} from its beginning to its last activity` : `it took ${words}`];
}

function bounded(lines: readonly string[]): string[] {
  const more = lines.length - MOST_LINES;
  return more <= 0 ? [...lines] : [...lines.slice(0, MOST_LINES), `- and ${more} more`];
}

function done({ look: { state, log, fold }, quiet }: Summarised, { words }: Writing): Part {
  const steps = state.steps.filter(({ status }) => status === 'completed');
  const outputs = new Map([...log.steps.values()].map(({ id, output }) => [id, output]));
  const made = [...(fold?.commits ?? []), ...quiet.commits].sort((left, right) => left.at - right.at);
  const commits = made.map(({ head, subject }) => `- ${words(subject)} (${head})`);
  const titles = steps.flatMap(({ id, title, kind }) => {
    const output = kind === 'todo' ? null : (outputs.get(id) ?? null);
    return [`- ${words(title)}`, ...(output === null ? [] : [`  - ${words(output)}`])];
  });
  return { title: 'What was done', lines: [...titles, ...commits, ...unknownLines(quiet)] };
}

function beside({ meanwhile }: Summarised, { words }: Writing): Part {
  const lines = meanwhile.map(({ subject, short }) => `- ${words(subject)} (${short})`);
  return { title: 'Commits made in the directory during the session', lines };
}

function unknownLines({ unknown }: QuietCommits): string[] {
  if (unknown === 0) return [];
  return [`- ${unknown === 1 ? 'A commit whose hash is' : `${unknown} commits whose hashes are`} not known`];
}

function decided({ look: { log }, learnings }: Summarised, { words }: Writing): Part {
  const notes = log.notes.filter(({ priority }) => priority !== 'normal').map(({ text }) => `- ${words(text)}`);
  const contexts = [...log.steps.values()].flatMap(({ context }) =>
    CONTEXT_LISTS.flatMap((name) =>
      (context?.[name] ?? []).map((text) => `- ${name === 'warnings' ? 'Warning: ' : ''}${words(text)}`),
    ),
  );
  return {
    title: 'Decisions and findings',
    lines: [...new Set([...notes, ...contexts, ...learnings.map(({ text }) => `- ${words(text)}`)])],
  };
}

function changed({ look: { state }, ownPath }: Summarised, to: Writing): Part {
  const lines = Object.entries(state.files).flatMap(([path, file]) => {
    const own = ownPath(path);
    return own === null ? [] : changedFile(own, file, ownPath, to);
  });
  return { title: 'Files', lines };
}

function changedFile(path: string, file: ShownFile, ownPath: OwnPath, { words, code }: Writing): string[] {
  const { change, from } = file;
  if (!isOfWork(file)) return [];
  const former = from == null ? null : (ownPath(from) ?? from);
  return [
    `- ${code(path)}${change === undefined || change === 'read' ? '' : ` (${words(changeWords(change, former))})`}`,
  ];
}

/** The important ones are decisions. */
function noted({ look: { log } }: Summarised, { words }: Writing): Part {
  const notes = log.notes.filter(({ priority }) => priority === 'normal');
  return { title: 'Notes', lines: notes.map(({ text }) => `- ${words(text)}`) };
}

function checked({ look: { log }, checks, hasCalls }: Summarised, { words, code }: Writing): Part {
  const validated = [...log.steps.values()].flatMap(({ title, validation }) => {
    if (validation === null) return [];
    const details = validation.details === undefined ? '' : `: ${words(validation.details)}`;
    return [`- ${words(title)}: validation ${validation.passed ? 'passed' : 'failed'}${details}`];
  });
  const run = checks.map((check) => `- ${code(check.command)} ${endWords(check)}`);
  const lines = [...run, ...validated];
  const none = hasCalls ? '- No test was seen to run.' : '- Not recorded: no calls of an agent are on record.';
  return { title: 'How it was checked', lines: lines.length === 0 ? [none] : lines };
}

function endWords({ ended, isOld }: Check): string {
  if (ended === 'unclear') return 'ran; how it ended is not recorded';
  return `${ended}${isOld ? ', before the last change' : ''}`;
}

function overcome({ overcome }: Summarised, { words }: Writing): Part {
  const lines = overcome.map(({ tool, command, example, worked }) => {
    const [way] = worked.values();
    const next = way === undefined ? '' : `; then ${wayWords(way)}`;
    return `- ${words(`${command || tool}: ${example.error}${next}`)}`;
  });
  return { title: 'Errors that were overcome', lines };
}

function marked({ look: { log } }: Summarised, { words }: Writing): Part {
  return { title: 'Checkpoints', lines: [...log.checkpoints.values()].map(({ name }) => `- ${words(name)}`) };
}

function open({ look: { state } }: Summarised, { words }: Writing): Part {
  const lines = unsettledOf(state.steps).map((step) => {
    const reason = 'reason' in step && step.reason !== null ? `: ${words(step.reason)}` : '';
    return `- ${words(step.title)} (${step.status.replace('_', ' ')}${reason})`;
  });
  const left = [...(state.loose_ends.turn ? ['- The agent was interrupted in the middle of its work.'] : [])];
  return { title: 'Open', lines: [...lines, ...left] };
}
