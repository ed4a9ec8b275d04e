/** Numbers that look random and are the same in every run. */
export interface Random {
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  /** One of `items`. */
  pick<Item>(items: readonly Item[]): Item;
  /** The items in another order. */
  shuffle<Item>(items: readonly Item[]): Item[];
}

/** @param seed any whole number; a linear congruential generator with the constants of Knuth's MMIX, upper bits used */
export function seededRandom(seed: number): Random {
  let state = BigInt(seed);
  const below = (limit: number): number => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) & 0xffff_ffff_ffff_ffffn;
    return Number((state >> 33n) % BigInt(limit));
  };
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  const shuffle = <Item>(items: readonly Item[]): Item[] => {
    const rest = [...items];
    const shuffled: Item[] = [];
    while (rest.length > 0) shuffled.push(...rest.splice(below(rest.length), 1));
    return shuffled;
  };
  return { below, pick, shuffle };
}
