/** The state of a session as it is shown: its declared side and its observed side in one. */
import { MOST_ENTRIES, MOST_FILES, type More } from '../fold/bounds.js';
import { type DeclaredState, filesOf, progressOf, stateOf, sumOf } from '../fold/state.js';
import type { DeclaredError, Worklog } from '../fold/worklog.js';
import type { FileStatus } from '../words.js';
import type { Agent } from './agents.js';
import type { ObservedError } from './calls.js';
import type { FileChange } from './files.js';
import { type LooseEnds, looseEndsOf } from './looseEnds.js';
import type { Observed } from './observed.js';
import { lastAskedOf, purposeOf } from './purpose.js';
import type { Observation } from './sources.js';
import type { Todo } from './todos.js';

/** Both sides of a session, as `state.json` and `--json` show them. */
export type CombinedState = Omit<DeclaredState, keyof BothSides> & BothSides;

interface BothSides {
  readonly observed: Observation['observed'];
  /** UTC epoch milliseconds, as all instants. */
  readonly idle_at: number | null;
  readonly loose_ends: LooseEnds;
  /** Steps of the plan, and tasks of the agent's own list. */
  readonly steps: readonly (DeclaredState['steps'][number] | (Todo & { readonly kind: 'todo' }))[];
  readonly errors: readonly (DeclaredError | ObservedError)[];
  readonly files: Readonly<Record<string, ShownFile>>;
  /** These are missing if nothing was observed. */
  /** The last prompt, unless it is the purpose. */
  readonly last_asked?: string | null;
  readonly first_tool?: string | null;
  readonly compactions?: number;
  readonly compacted_at?: number | null;
  readonly context_tokens?: number | null;
  readonly agents?: readonly Agent[];
}

/**
 * @param at bytes of the worklog that were read
 * @returns tokens are the observed ones; declared ones count only if none were observed, so that nothing counts twice
 */
export function combinedState(log: Worklog, at: number, { observed, fold }: Observation): CombinedState {
  const state = { ...stateOf(log, at), loose_ends: looseEndsOf(log, fold) };
  if (fold === null) return { ...state, observed };
  const purpose = log.facts === null ? state.purpose : purposeOf(log, fold);
  const plan = [...log.steps.values()];
  const todos = fold.todos.list;
  const more = sumsOf(log.more, fold.more);
  const files: Record<string, ShownFile> = { ...filesOf(log), ...observedFiles(fold, log) };
  const isWorkedOn = ([, { status }]: readonly [string, ShownFile]) => status === 'working';
  return {
    ...state,
    purpose,
    observed,
    last_activity: Math.max(log.last_activity ?? 0, fold.lastActivity ?? 0) || null,
    idle_at: fold.idleAt,
    last_asked: lastAskedOf(log, fold),
    first_tool: fold.firstTool,
    compactions: fold.compactions,
    compacted_at: fold.compactedAt,
    context_tokens: fold.contextTokens,
    violations: { blocked: fold.blocked, rejected: fold.rejected, refused: log.refused },
    steps: [...state.steps, ...todos.map((todo) => ({ ...todo, kind: 'todo' as const }))],
    progress: progressOf(plan.length > 0 ? plan : todos),
    // A reader of the record counts what was refused or stopped, too; its outcome says so.
    errors: latestOf([...log.errors, ...fold.errors, ...fold.refusals], { more, name: 'errors', atOf: ({ at }) => at }),
    files: Object.fromEntries(
      latestOf(Object.entries(files), {
        ...{ more, name: 'files', most: MOST_FILES, isKept: isWorkedOn },
        atOf: ([, { at }]) => at,
      }),
    ),
    ...(fold.tokens.size > 0 && {
      tokens: {
        total: sumOf(fold.tokens),
        by_agent: Object.fromEntries(
          latestOf([...fold.tokens], { more, name: 'tokens', isKept: ([agent]) => agent === 'main' }),
        ),
      },
    }),
    agents: latestOf(fold.agents.list(), { more, name: 'agents', isKept: ({ open }) => open }),
    more,
  };
}

/** A file of either side, or of both. */
export interface ShownFile {
  readonly at: number;
  /** Only in a part of the conversation that a person took back. */
  readonly rewound?: true;
  /** Missing if nothing was observed of it. */
  readonly change?: FileChange;
  /** Its former name, if it was renamed. */
  readonly from?: string | null;
  /** Null if nothing was declared of it. */
  readonly status: FileStatus | null;
  readonly step: string | null;
  /** SHA-256 of its content when the session was kept. */
  readonly digest: string | null;
}

function sumsOf(left: More, right: More): More {
  const sums = { ...left };
  for (const [name, count] of Object.entries(right)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

interface Bound<Entry> {
  /** Takes the count of those that are left out. */
  readonly more: More;
  readonly name: string;
  readonly most?: number;
  /** The later ones stay; if missing, the last of the list. */
  readonly atOf?: (entry: Entry) => number;
  /** Stay before others. */
  readonly isKept?: (entry: Entry) => boolean;
}

/** Both sides have their bounds, and together they have the same. The order of the list stays. */
function latestOf<Entry>(
  list: readonly Entry[],
  { more, name, most = MOST_ENTRIES, atOf, isKept = () => false }: Bound<Entry>,
): readonly Entry[] {
  if (list.length <= most) return list;
  const ranked = [...list.entries()].sort(([leftIndex, left], [rightIndex, right]) => {
    const byUse = Number(isKept(right)) - Number(isKept(left));
    return byUse || (atOf === undefined ? 0 : atOf(right) - atOf(left)) || rightIndex - leftIndex;
  });
  more[name] = (more[name] ?? 0) + list.length - most;
  const staying = new Set(ranked.slice(0, most).map(([index]) => index));
  return list.filter((_, index) => staying.has(index));
}

/** An observed change belongs to the step that was in progress, if there was exactly one. */
function observedFiles(fold: Observed, log: Worklog): Record<string, ShownFile> {
  return Object.fromEntries(
    [...fold.files].map(([path, { change, from, at, rewound }]) => {
      const declared = log.files.get(path);
      const step = declared?.step ?? stepAt(log, at);
      const digest = log.digests.get(path) ?? null;
      return [path, { change, from, at, ...(rewound && { rewound }), status: declared?.status ?? null, step, digest }];
    }),
  );
}

function stepAt(log: Worklog, at: number): string | null {
  const open = [...log.steps.values()].filter(({ spans }) =>
    spans.some(({ from, until }) => from <= at && at < (until ?? Number.POSITIVE_INFINITY)),
  );
  const [only] = open;
  return open.length === 1 && only !== undefined ? only.id : null;
}
