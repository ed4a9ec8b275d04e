/** The changes of the files of a session. */
import { type JournalRecord, textOf } from '../../src/journal/record.js';
import { MOST_FILES, type More, setIn } from '../fold/bounds.js';
import { type AbandonedTurn, withRenamed } from './abandonedTurn.js';
import type { SubAgentsFile } from './inHand.js';

/** `changed`: a shell command created, modified or deleted it, and its program does not say which. */
export type FileChange = 'created' | 'modified' | 'deleted' | 'changed' | 'renamed' | 'read';

/** After one of these, `modified` says less about a file. */
const STAYING: readonly FileChange[] = ['created', 'renamed', 'changed'];

/** @returns for people, how a file was changed */
export function changeWords(change: FileChange, from: string | null = null): string {
  if (from !== null) return `${change} from ${from}`;
  return change === 'changed' ? 'changed by a shell command' : change;
}

export interface ObservedFile {
  readonly change: FileChange;
  /** Its former name, if it was renamed. */
  readonly from: string | null;
  readonly at: number;
  /** The call. Null if none is known. */
  readonly tool_use_id: string | null;
  /** How many prompts there had been when it was first changed. */
  readonly since: number;
  /** Only in a part of the conversation that a person took back. */
  readonly rewound?: true;
}

interface ObservedFiles {
  readonly prompts: number;
  readonly nameOf: (path: string) => string;
  readonly files: Map<string, ObservedFile>;
  /** Since the last end of a turn; the first ones. */
  readonly touched: Set<string>;
  leftTurns: readonly AbandonedTurn[];
  readonly looked: string[];
  readonly touchedBySubAgents: SubAgentsFile[];
  readonly more: More;
}

/** Takes a line of the event `files`. */
export function takeFiles(observed: ObservedFiles, record: JournalRecord, at: number): void {
  const { files, touched, more, nameOf } = observed;
  const tool_use_id = textOf(record.tool_use_id);
  const agent = textOf(record.agent_id);
  const keep = (path: string, change: FileChange, from: string | null = null) => {
    if (change !== 'read' && touched.size < MOST_FILES) touched.add(path);
    if (change !== 'read' && agent !== null) noteSubAgents(observed.touchedBySubAgents, { agent, path });
    if (change === 'read' && observed.leftTurns.some((turn) => turn.files.includes(path))) observed.looked.push(path);
    const before = files.get(path);
    // A file that was created or renamed in the session stays so when it is changed again; a look changes nothing.
    if (before !== undefined && change === 'read') return;
    const known = before?.rewound === true ? undefined : before;
    const stays = change === 'modified' && known !== undefined && STAYING.includes(known.change);
    const since = known === undefined || known.change === 'read' ? observed.prompts : known.since;
    const entry: ObservedFile = { ...(stays ? known : { change, from }), at, tool_use_id, since };
    setIn(files, [path, entry], {
      more,
      name: 'files',
      most: MOST_FILES,
      isSettled: (file) => file.change === 'read',
    });
  };
  for (const change of ['read', 'created', 'modified', 'deleted', 'changed'] as const)
    for (const path of textsOf(record[change])) keep(nameOf(path), change);
  for (const rename of Array.isArray(record.renamed) ? record.renamed : []) {
    const { from, to } = Object(rename);
    if (typeof from !== 'string' || typeof to !== 'string') continue;
    const [old, name] = [nameOf(from), nameOf(to)];
    const first = files.get(old)?.from ?? old;
    files.delete(old);
    // It is not gone: whether it is half written is seen under its new name.
    touched.delete(old);
    observed.leftTurns = observed.leftTurns.map((turn) => withRenamed(turn, old, name));
    keep(name, 'renamed', first);
  }
  const unnamed = typeof record.more === 'number' ? record.more : 0;
  if (unnamed > 0) more.files = (more.files ?? 0) + unnamed;
}

function noteSubAgents(files: SubAgentsFile[], file: SubAgentsFile): void {
  if (files.some(({ agent, path }) => agent === file.agent && path === file.path)) return;
  files.push(file);
  if (files.length > MOST_FILES) files.shift();
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((text): text is string => typeof text === 'string') : [];
}
