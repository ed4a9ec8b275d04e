/**
 * @param excerpt how a run ended, in clauses of ours and of the agent. Untrusted.
 * @param said the sentences that the reader has already seen
 * @returns the clauses that are not among them, so that a cause is given once; empty if nothing is left. Untrusted.
 */
export function endWords(excerpt: string | null | undefined, said: readonly string[]): string {
  const known = new Set(said.map(bare));
  const clauses = (excerpt ?? '').split('; ').filter((clause) => !known.has(bare(clause)));
  return clauses.join('; ').trim();
}

function bare(clause: string): string {
  return clause.trim().replace(/\.$/, '');
}
