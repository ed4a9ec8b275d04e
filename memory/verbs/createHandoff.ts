/** Offers unfinished work: the document comes from options, from JSON, or from Markdown. */
import { resolve } from 'node:path';
import { UsageError } from '../../src/errors.js';
import { parseJson } from '../../src/json.js';
import { oneLine } from '../../src/log/visibleText.js';
import { handoffIn } from '../exchange/handoffMarkdown.js';
import { checkoutOf } from '../git/checkout.js';
import { Git, type GitState } from '../git/git.js';
import { repositoryOf } from '../git/history.js';
import { documentOf, type HandoffDocument, LIST_FIELDS, TEXT_FIELDS } from '../handoffs/document.js';
import { Handoffs } from '../handoffs/handoffs.js';
import { digestsOf } from '../keeping/digests.js';
import type { OpenSession } from '../sessions/sessions.js';
import type { Listener, Viewer } from '../sessions/views.js';
import { pathInWorkspace, type Workspace } from '../workspaces/workspace.js';
import { each, type Input, option } from './fields.js';
import { type Outcome, verb } from './verb.js';

const MOST_NAMED = 5;

const DOCUMENT = {
  title: option('--title T'),
  learnings: each('--learning T…', 'learning'),
  next: each('--next T…', 'next'),
  goal: option('\n       [--goal T]'),
  state: option('[--state T]'),
  notes: option('[--notes T]'),
  done: each('[--done T]…', 'done'),
  files: each('\n       [--file P]…', 'file'),
  references: each('[--reference P]…', 'reference'),
  tags: each('[--tag T]…', 'tag'),
};

export const createHandoff = verb({
  name: 'create',
  summary:
    'offer unfinished work to the next worker; learnings and next steps are\nneeded. --from: its fields as JSON, or Markdown; - reads standard input',
  fields: { ...DOCUMENT, from: option('| --from FILE|-') },
  async run(memory, { from, ...input }, door): Promise<Outcome> {
    const read = from === undefined ? {} : readDocument(await door.read('from', from));
    return offer(memory, new Handoffs(memory.shared), input, read);
  },
});

/** The same for callers that give the fields themselves. */
export const offerHandoff = verb({
  name: 'create_handoff',
  summary: 'offer unfinished work to the next worker',
  fields: DOCUMENT,
  run(memory, input): Outcome {
    return offer(memory, new Handoffs(memory.shared), input, {});
  },
});

function offer(
  memory: Viewer & Listener,
  handoffs: Handoffs,
  input: Input<typeof DOCUMENT>,
  read: Partial<HandoffDocument>,
): Outcome {
  const { session: named, ...fields } = input;
  const session = named === undefined ? memory.implied() : memory.which(named);
  const isGiven = ([, value]: [string, unknown]) =>
    value !== undefined && !(Array.isArray(value) && value.length === 0);
  const given: Partial<HandoffDocument> = { ...read, ...Object.fromEntries(Object.entries(fields).filter(isGiven)) };
  const place = placeOf(memory, session, named !== undefined);
  const isHere = place.id === memory.workspace.id;
  const pathOf = (path: string) => (isHere ? memory.pathOf(path) : pathInWorkspace(path, place.root, place));
  const files = (given.files ?? []).map((path) => pathOf(path.trim()));
  const document = documentOf({ ...given, files }, memory.stamp.redact);
  const digests = digestsOf(place, [...document.files, ...document.references]);
  const { handoff, isKnown } = handoffs.offer({
    ...{ document, ...stampsOf(memory, session, place), conversations: conversationsOf(session), digests },
  });
  const unread = document.files.filter((path) => digests.every((known) => known.path !== path));
  const { id } = handoff;
  const line = `Take over with: watchkeeper handoff accept ${id} --as follow`;
  return {
    lines: [`handoff ${id} is on offer${isKnown ? ' already' : ''}`, 'To paste for the next worker:', `  ${line}`],
    value: { handoff_id: id, line, session_id: session?.id ?? null, ...(isKnown && { already_offered: true }) },
    ...(unread.length > 0 && { asides: [unreadWords(unread)] }),
  };
}

/** A file that is misspelt looks to the next worker like one that has not changed. */
function unreadWords(paths: readonly string[]): string {
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '';
  const named = paths.slice(0, MOST_NAMED).map(oneLine).join(', ');
  return `not there, or no plain file, so later changes of it are not noticed: ${named}${more}`;
}

function readDocument(text: string): Partial<HandoffDocument> {
  const json = text.trimStart().startsWith('{') ? parseJson(text) : undefined;
  if (json === undefined) return handoffIn(text);
  if (typeof json !== 'object' || json === null) throw new UsageError('--from: neither JSON nor Markdown');
  const known: readonly string[] = ['title', ...TEXT_FIELDS, ...LIST_FIELDS];
  for (const [field, value] of Object.entries(json)) {
    if (!known.includes(field))
      throw new UsageError(`--from: unknown field ${JSON.stringify(field)} (known: ${known.join(', ')})`);
    const isList = (LIST_FIELDS as readonly string[]).includes(field);
    const isRight = isList
      ? Array.isArray(value) && value.every((one) => typeof one === 'string')
      : typeof value === 'string';
    if (!isRight) throw new UsageError(`--from: ${field} is ${isList ? 'a list of texts' : 'a text'}`);
  }
  return json;
}

/** A caller who names a session may be elsewhere: its work is where it is. */
function placeOf(memory: Viewer, session: OpenSession | null, isNamed: boolean): Workspace {
  const own = isNamed && session !== null ? memory.workspaceOf(session.log.state) : null;
  return own ?? memory.workspace;
}

function stampsOf({ surroundings, isBridges, places }: Viewer, session: OpenSession | null, workspace: Workspace) {
  const state = workspace.kind === 'git' ? new Git(workspace.root, surroundings.variables).state() : null;
  return {
    session_id: session?.id ?? null,
    memory: isBridges ? resolve(places.root) : null,
    root: workspace.root,
    workspace: workspace.id,
    repository: workspace.kind === 'git' ? repositoryOf(workspace.root) : null,
    ...(state === 'unanswered' ? ofFiles(workspace) : ofState(state)),
  };
}

function ofState(state: GitState | null) {
  const { branch = null, head = null, dirty_digest = null, dirty = [] } = state ?? {};
  return { branch, head, dirty_digest, dirty: dirty.length };
}

/** Without an answer of git, most files of it still say what is checked out. The words of an author must not wait for more. */
function ofFiles({ root }: Workspace) {
  return { branch: null, head: null, ...checkoutOf(root), dirty_digest: null, dirty: null };
}

function conversationsOf(session: OpenSession | null) {
  return (session?.log.state.conversations ?? [])
    .filter(({ moved_at }) => moved_at === null)
    .map(({ provider, id }) => ({ provider, conversation: id }));
}
