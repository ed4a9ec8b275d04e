/** The message of the commit that merges a worktree, made of the records of its sessions and of its commits. */
import { resolve } from 'node:path';
import { headOf, shorten } from '../../src/log/shorten.js';
import { oneLine } from '../../src/log/visibleText.js';
import { isOfWork } from '../brief/ownPath.js';
import { Git } from '../git/git.js';
import { hasLeftNothing } from '../look/leftNothing.js';
import { lookAt } from '../look/look.js';
import { type Locating, standingIn } from '../look/standing.js';
import { worktreeAt } from '../workspaces/workspace.js';
import { unanswered } from './unanswered.js';

const LONGEST_TITLE = 72;
const LONGEST_LINE = 500;
const LONGEST_SUMMARY = 4_000;
const MOST_SESSIONS = 20;
const MOST_LINES = 30;
/** As many are counted. */
const MOST_COMMITS = 500;
/** A branch of ours, or of Claude Code. */
const PREFIX = /^(?:[a-z]+\/|worktree-)/;

/** The worktree that is merged. */
export interface Squashed {
  /** The top level of the worktree. */
  readonly path: string;
  /** The branch, or the name of the folder. */
  readonly name: string;
  /** The commit into which it is merged. */
  readonly into: string;
}

/**
 * @returns a title, a block for each session that began or entered there (purpose, summary, steps, files), and the commits' titles
 * @throws UnreachableError if git does not answer
 */
export async function squashMessage(memory: Locating, { path, name, into }: Squashed): Promise<string> {
  const { known, guests } = standingIn(memory, worktreeAt(path));
  const ids = [...(known?.sessions ?? []), ...guests.map(({ id }) => id)].slice(-MOST_SESSIONS);
  const blocks: Block[] = [];
  for (const id of ids) {
    const block = await blockOf(memory, id, path);
    if (block !== null) blocks.push(block);
  }
  const purpose = blocks.find((block) => block.isExplicit)?.purpose ?? blocks[0]?.purpose ?? '';
  const { redact } = memory.stamp;
  const { variables } = memory.surroundings;
  const git = new Git(path, variables);
  const commits = git.subjectsSince(into, MOST_COMMITS);
  // The commit lasts: without the titles it would never get them.
  if (commits === null) throw unanswered({ root: path }, variables, git.refusal);
  const only = commits.length === 1 ? commits[0] : undefined;
  const title = titleLine(headOf(purpose || only || titleOf(name), 2 * LONGEST_TITLE, redact));
  const subjects = commits.map((subject) => `- ${shorten(redact(oneLine(subject)), LONGEST_LINE)}`);
  const isSaid = blocks.length === 0 && only === title;
  const lines = [...blocks.flatMap(({ lines }) => ['', ...lines]), ...(isSaid ? [] : listed('Commits:', subjects))];
  return `${[title, ...lines].join('\n')}\n`;
}

/** @param text redacted @returns it in one line, cut between words */
function titleLine(text: string): string {
  const line = oneLine(text);
  if (line.length <= LONGEST_TITLE) return line;
  const cut = shorten(line, LONGEST_TITLE);
  return cut.replace(/\s+\S*…$/, '…');
}

/** @returns `login-form` of `feature/login-form` as "Login form" */
function titleOf(name: string): string {
  const words =
    name
      .replace(PREFIX, '')
      .replaceAll(/[-_/]+/g, ' ')
      .trim() || name;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

interface Block {
  readonly purpose: string;
  readonly isExplicit: boolean;
  readonly lines: readonly string[];
}

/** @returns null if it cannot be read, or has nothing to say, as a chat that has left nothing */
async function blockOf(memory: Locating, id: string, path: string): Promise<Block | null> {
  const session = memory.look(id);
  if (session === null) return null;
  const look = await lookAt(memory, session);
  if (hasLeftNothing(look)) return null;
  const { log, state } = look;
  const { redact } = memory.stamp;
  const purpose = redact(oneLine(state.purpose)).trim();
  const summary = redact(log.end?.summary ?? '').trim();
  const steps = state.steps.map(
    ({ title, status }) => `- ${shorten(redact(oneLine(title)), LONGEST_LINE)} (${status.replace('_', ' ')})`,
  );
  const root = memory.workspaceOf(log)?.root ?? path;
  const files = Object.entries(state.files).flatMap(([file, known]) => {
    if (!isOfWork(known)) return [];
    const whole = resolve(root, file);
    if (whole.startsWith(`${path}/`)) return [`- ${redact(whole.slice(path.length + 1))}`];
    // A session that began elsewhere has changed files there, too.
    return root === path ? [`- ${redact(file)}`] : [];
  });
  if (purpose === '' && summary === '' && steps.length === 0) return null;
  const lines = [
    `Session ${id}: ${shorten(purpose, LONGEST_LINE)}`,
    ...(summary === '' ? [] : ['', ...shorten(summary, LONGEST_SUMMARY).split('\n').map(oneLine)]),
    ...listed('Steps:', steps),
    ...listed('Files:', files),
  ];
  return { purpose, isExplicit: log.facts?.explicit === true, lines };
}

function listed(head: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const more = items.length > MOST_LINES ? [`- and ${items.length - MOST_LINES} more`] : [];
  return ['', head, ...items.slice(0, MOST_LINES).map(oneLine), ...more];
}
