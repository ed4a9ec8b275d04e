/** Nothing that is longer is a slip of the hand. In UTF-16 units; the work grows with the length. */
const LONGEST_WORD = 200;

/** @returns `; did you mean "…"?`, or an empty text if no known word is similar */
export function didYouMean(word: string, known: readonly string[]): string {
  if (word.length > LONGEST_WORD) return '';
  const [best] = known
    .map((name) => ({ name, distance: editDistance(word.toLowerCase(), name.toLowerCase()) }))
    .sort((left, right) => left.distance - right.distance);
  if (best === undefined || best.distance > Math.max(2, Math.floor(word.length / 3))) return '';
  return `; did you mean ${JSON.stringify(best.name)}?`;
}

/** Levenshtein's distance, row by row. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
