/** Checks a plan before it is stored: all its faults in one answer, and the order of its phases. */
import { namedFiles } from '../../src/counted.js';
import { oneLine, withoutInvisible } from '../../src/log/visibleText.js';
import { MOST_FILES, MOST_PHASE_BYTES, MOST_PLAN_STEPS } from '../fold/bounds.js';

export interface PlannedPhase {
  readonly id: string;
  readonly name: string;
  readonly agents: readonly string[];
  /** May run at the same time as other parallel phases. */
  readonly parallel: boolean;
  readonly blocked_by: readonly string[];
  /** Paths of files that it will change, all spelled in the same way. */
  readonly files: readonly string[];
}

export type PlanRule =
  | ('no_phases' | 'too_many_phases' | 'no_name' | 'bad_id' | 'duplicate_id')
  | ('unknown_blocker' | 'own_blocker' | 'cycle' | 'file_conflict' | 'too_many_files' | 'no_path' | 'too_long');

export interface Violation {
  readonly rule: PlanRule;
  /** Null if it is about the plan as a whole. */
  readonly phase: string | null;
  /** For people and models: a sentence. */
  readonly message: string;
}

export interface CheckedPlan {
  /** Empty if the plan is valid. */
  readonly violations: readonly Violation[];
  /** Each phase after its blockers, else in the plan's order. Empty if there are violations. */
  readonly order: readonly string[];
  /** Run one after another; the phases of one batch may run together. Empty if there are violations. */
  readonly batches: readonly (readonly string[])[];
}

const LONGEST_ID = 100;
/** The ids of tasks in an agent's own list look like this. */
const TASK = /^t\d+$/;

/** @returns whether a caller can read and repeat it: two ids must not look like one */
function isPlainId(id: string): boolean {
  return id !== '' && id.length <= LONGEST_ID && id.trim() === id && oneLine(id) === id && withoutInvisible(id) === id;
}

/** @param phases in the order of the list; one may be listed before its blockers */
export function checkPlan(phases: readonly PlannedPhase[]): CheckedPlan {
  const size = sizeFaults(phases);
  // To look through a plan of any size would take any time.
  if (size.length > 0) return { violations: size, order: [], batches: [] };
  const single = [...phases.flatMap(phaseFaults), ...idFaults(phases), ...blockerFaults(phases)];
  const ordered = inOrder(phases);
  const cycle = single.length > 0 || ordered.length === phases.length ? [] : [cycleFault(phases, ordered)];
  const violations = [...single, ...cycle, ...fileConflicts(phases)];
  if (violations.length > 0) return { violations, order: [], batches: [] };
  return { violations, order: ordered.map(({ id }) => id), batches: batchesOf(ordered) };
}

/** @returns the phases, each after its blockers, else in their order; those in a cycle and behind one are left out */
export function inOrder(phases: readonly PlannedPhase[]): PlannedPhase[] {
  const placed = new Set<string>();
  const ordered: PlannedPhase[] = [];
  let waiting = [...phases];
  for (;;) {
    const next = waiting.find(({ blocked_by }) => blocked_by.every((id) => placed.has(id)));
    if (next === undefined) return ordered;
    placed.add(next.id);
    ordered.push(next);
    waiting = waiting.filter((phase) => phase !== next);
  }
}

function sizeFaults({ length }: readonly PlannedPhase[]): Violation[] {
  if (length === 0) return [{ rule: 'no_phases', phase: null, message: 'a plan needs at least one phase' }];
  if (length <= MOST_PLAN_STEPS) return [];
  const message = `the plan has ${length} phases; a session has at most ${MOST_PLAN_STEPS}`;
  return [{ rule: 'too_many_phases', phase: null, message }];
}

function phaseFaults(phase: PlannedPhase): Violation[] {
  const { id, name, files } = phase;
  const faults: Violation[] = [];
  const add = (rule: PlanRule, message: string) =>
    faults.push({ rule, phase: id.length > LONGEST_ID ? null : id, message });
  if (name.trim() === '') add('no_name', `phase ${id} has no name`);
  if (!isPlainId(id))
    add(
      'bad_id',
      `the id of a phase must be one line of 1 to ${LONGEST_ID} visible characters, without spaces around it${shownId(id)}`,
    );
  if (TASK.test(id)) add('bad_id', `the id ${id} is one of an agent's own list of tasks; take another`);
  if (files.includes('')) add('no_path', `phase ${id} names a file whose path is empty`);
  const bytes = Buffer.byteLength(JSON.stringify(phase));
  if (files.length > MOST_FILES)
    add('too_many_files', `phase ${id} names ${files.length} files; a phase has at most ${MOST_FILES}`);
  else if (bytes > MOST_PHASE_BYTES)
    add(
      'too_long',
      `phase ${id} takes ${bytes} bytes with its files, blockers and agents; at most ${MOST_PHASE_BYTES} fit`,
    );
  return faults;
}

/** @returns it in quotes, after a colon; nothing if it is too long to be shown */
function shownId(id: string): string {
  return id.length > LONGEST_ID ? '' : `: ${oneLine(JSON.stringify(id))}`;
}

function idFaults(phases: readonly PlannedPhase[]): Violation[] {
  const counts = new Map<string, number>();
  // A letter with an accent may be one character or two, and looks the same.
  for (const id of phases.map((phase) => phase.id.normalize())) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].flatMap(([id, count]) =>
    count === 1 ? [] : [{ rule: 'duplicate_id' as const, phase: id, message: `${count} phases have the id ${id}` }],
  );
}

function blockerFaults(phases: readonly PlannedPhase[]): Violation[] {
  const known = new Set(phases.map(({ id }) => id));
  return phases.flatMap(({ id, blocked_by }) => {
    const own: Violation[] = blocked_by.includes(id)
      ? [{ rule: 'own_blocker', phase: id, message: `phase ${id} waits for itself` }]
      : [];
    const dangling = blocked_by.filter((other) => !known.has(other));
    const unknown = dangling.map(
      (other): Violation => ({
        rule: 'unknown_blocker',
        phase: id,
        message: `phase ${id} waits for ${other}, and the plan has no such phase`,
      }),
    );
    return [...own, ...unknown];
  });
}

function cycleFault(phases: readonly PlannedPhase[], ordered: readonly PlannedPhase[]): Violation {
  const left = phases.filter((phase) => !ordered.includes(phase));
  const [first] = left;
  const path: string[] = [];
  // Each of them waits for another one of them, so this comes to a phase for the second time.
  for (let at = first; at !== undefined && !path.includes(at.id); ) {
    path.push(at.id);
    const { blocked_by } = at;
    at = left.find(({ id }) => blocked_by.includes(id));
    if (at !== undefined && path.includes(at.id)) path.splice(0, path.indexOf(at.id));
  }
  const words = [...path, path[0]].join(' → ');
  return { rule: 'cycle', phase: path[0] ?? null, message: `these phases wait for each other in a circle: ${words}` };
}

/** Two parallel phases conflict over a file if neither of them waits for the other. */
function fileConflicts(phases: readonly PlannedPhase[]): Violation[] {
  const byFile = new Map<string, PlannedPhase[]>();
  for (const phase of phases)
    if (phase.parallel) for (const path of new Set(phase.files)) byFile.set(path, [...(byFile.get(path) ?? []), phase]);
  const shared = [...byFile].filter(([, owners]) => owners.length > 1);
  if (shared.length === 0) return [];
  const before = ancestorsOf(phases);
  const conflicts = new Map<
    string,
    { readonly pair: readonly [PlannedPhase, PlannedPhase]; readonly paths: string[] }
  >();
  for (const [path, owners] of shared)
    for (const [index, left] of owners.entries())
      for (const right of owners.filter((_, at) => at > index)) {
        if (before.get(left.id)?.has(right.id) || before.get(right.id)?.has(left.id)) continue;
        const key = JSON.stringify([left.id, right.id]);
        const known = conflicts.get(key);
        if (known === undefined) conflicts.set(key, { pair: [left, right], paths: [path] });
        else known.paths.push(path);
      }
  return [...conflicts.values()].map(({ pair: [left, right], paths }) => ({
    rule: 'file_conflict',
    phase: right.id,
    message: `phases ${left.id} and ${right.id} may run at the same time, and both change ${namedFiles(paths)}`,
  }));
}

/** @returns for each phase all that it waits for, also through others */
function ancestorsOf(phases: readonly PlannedPhase[]): ReadonlyMap<string, ReadonlySet<string>> {
  const known = new Map<string, ReadonlySet<string>>();
  for (const { id, blocked_by } of inOrder(phases))
    known.set(id, new Set(blocked_by.flatMap((other) => [other, ...(known.get(other) ?? [])])));
  return known;
}

/** A batch has the parallel phases of one depth; each other phase is a batch of its own. */
function batchesOf(ordered: readonly PlannedPhase[]): string[][] {
  const depths = new Map<string, number>();
  for (const { id, blocked_by } of ordered)
    depths.set(id, Math.max(-1, ...blocked_by.map((other) => depths.get(other) ?? 0)) + 1);
  const batches: string[][] = [];
  for (let depth = 0; depth <= Math.max(...depths.values()); depth += 1) {
    const level = ordered.filter(({ id }) => depths.get(id) === depth);
    const together = level.filter(({ parallel }) => parallel).map(({ id }) => id);
    if (together.length > 0) batches.push(together);
    batches.push(...level.filter(({ parallel }) => !parallel).map(({ id }) => [id]));
  }
  return batches;
}
