/**
 * Honest timings on a machine that is never quiet. What is measured and its yardstick take turns in one process, the one
 * that begins changes with each round, and rounds before the first counted one warm the compiler and the caches. A ratio is
 * taken within each round, so that a machine that slows down slows both; the median is what counts, and the spread
 * says how far to believe it.
 */

/** One side of a comparison; it measures itself, so that what it prepares does not count. */
export type Timed<Taken = number> = () => Taken | Promise<Taken>;

export interface Comparison<Taken = number> {
  /** Prepares a round for both. */
  readonly prepare?: () => Promise<void>;
  /** @returns how long it took, in milliseconds */
  readonly ours: Timed<Taken>;
  readonly yardstick: Timed<Taken>;
  readonly rounds: number;
  readonly warmUpRounds: number;
  /** No round begins later than this, in milliseconds. */
  readonly limitMs: number;
}

export interface Figure {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface Compared {
  /** In milliseconds. */
  readonly ours: Figure;
  readonly yardstick: Figure;
  /** Ours by yardstick, round by round. */
  readonly ratio: Figure;
  readonly rounds: number;
}

/** @throws Error where not even one round was counted in time */
export async function compare(comparison: Comparison): Promise<Compared> {
  return comparedOf(await pairsOf(comparison));
}

/**
 * @param units what is measured of both at once, as wall time and processor time
 * @throws Error where not even one round was counted in time
 */
export async function compareEach<Unit extends string>(
  units: readonly Unit[],
  comparison: Comparison<Readonly<Record<Unit, number>>>,
): Promise<Readonly<Record<Unit, Compared>>> {
  const pairs = await pairsOf(comparison);
  const of = (unit: Unit) => pairs.map(({ ours, yardstick }) => ({ ours: ours[unit], yardstick: yardstick[unit] }));
  const each = units.map((unit) => [unit, comparedOf(of(unit))] as const);
  return Object.fromEntries(each) as Record<Unit, Compared>;
}

interface Pair<Taken> {
  readonly ours: Taken;
  readonly yardstick: Taken;
}

async function pairsOf<Taken>({
  prepare = async () => undefined,
  ours,
  yardstick,
  rounds,
  warmUpRounds,
  limitMs,
}: Comparison<Taken>): Promise<Pair<Taken>[]> {
  const until = performance.now() + limitMs;
  const pairs: Pair<Taken>[] = [];
  for (let round = -warmUpRounds; round < rounds && performance.now() < until; round += 1) {
    await prepare();
    const oursFirst = round % 2 === 0;
    const before = oursFirst ? await ours() : await yardstick();
    const after = oursFirst ? await yardstick() : await ours();
    if (round >= 0) pairs.push(oursFirst ? { ours: before, yardstick: after } : { ours: after, yardstick: before });
  }
  return pairs;
}

function comparedOf(pairs: readonly Pair<number>[]): Compared {
  return {
    ours: figureOf(pairs.map((pair) => pair.ours)),
    yardstick: figureOf(pairs.map((pair) => pair.yardstick)),
    ratio: figureOf(pairs.map((pair) => pair.ours / pair.yardstick)),
    rounds: pairs.length,
  };
}

/** @returns how long `work` took, in milliseconds */
export async function timed(work: () => unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/**
 * Unlike {@link timed} it is not disturbed by others who want the same processor; what waits for a disk is not counted.
 * @returns how much time of a processor `work` took, in milliseconds, collecting its garbage included
 */
export async function processed(work: () => unknown): Promise<number> {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1_000;
}

/** @throws Error where there is no value */
export function figureOf(values: readonly number[]): Figure {
  const sorted = [...values].sort((left, right) => left - right);
  return { median: quantile(sorted, 0.5), least: quantile(sorted, 0), most: quantile(sorted, 1) };
}

/**
 * @param sorted ascending
 * @param share 0 to 1
 * @returns the value that this share of all does not exceed
 * @throws Error where there is no value
 */
export function quantile(sorted: readonly number[], share: number): number {
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  if (value === undefined) throw new Error('nothing was measured: the time was over before the first round');
  return value;
}
