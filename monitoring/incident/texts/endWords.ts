/**
 * @param excerpt how a run ended, in clauses of ours and of the agent. Untrusted.
 * @param said the sentences that the reader has seen already
 * @returns the clauses that none of them is, so that a cause is said once; empty where nothing is left. Untrusted.
 */
export function endWords(excerpt: string | null | undefined, said: readonly string[]): string {
  const known = new Set(said.map(bare));
  const clauses = (excerpt ?? '').split('; ').filter((clause) => !known.has(bare(clause)));
  return clauses.join('; ').trim();
}

function bare(clause: string): string {
  return clause.trim().replace(/\.$/, '');
}
