/** Chooses what is said if there is not enough room for everything: whole entries, the most important first. */

/** The entries of the first rank stay longest. */
export const RANKS = [
  'purpose',
  'next',
  'files',
  'critical_notes',
  'steps',
  'high_notes',
  'actions',
  'notes',
  'rest',
] as const;
export type Rank = (typeof RANKS)[number];

export interface Entry {
  readonly rank: Rank;
  readonly text: string;
}

export interface Section {
  /** A line of its own, none if empty. */
  readonly title: string;
  readonly entries: readonly Entry[];
}

const MORE = (count: number): string => `… and ${count} more`;
const LONGEST_MORE = MORE(100_000).length + 1;

/**
 * @param sections in reading order
 * @param budget characters, UTF-16 units
 * @returns lines of at most `budget` characters in all; what is left out is counted in its section
 */
export function withinBudget(sections: readonly Section[], budget: number): string[] {
  const kept = new Set<Entry>();
  let left = budget;
  for (const rank of RANKS) {
    for (const section of sections) {
      const begun = section.entries.some((entry) => kept.has(entry));
      let heading = begun ? 0 : section.title.length + 1 + LONGEST_MORE;
      for (const entry of section.entries) {
        const cost = heading + entry.text.length + 1;
        if (entry.rank !== rank || cost > left) continue;
        kept.add(entry);
        left -= cost;
        heading = 0;
      }
    }
  }
  return sections.flatMap(({ title, entries }) => {
    const shown = entries.filter((entry) => kept.has(entry));
    if (shown.length === 0) return [];
    const missing = entries.length - shown.length;
    return [
      ...(title === '' ? [] : [title]),
      ...shown.map(({ text }) => text),
      ...(missing > 0 ? [MORE(missing)] : []),
    ];
  });
}
