/**
 * Folds older files of the send memory into one, without the tries that were certainly not sent. A chat outage of hours makes
 * many of those, and they must not push out what was sent.
 */

interface Claim {
  readonly did?: unknown;
  readonly claim?: unknown;
}

/**
 * @param removed lines of the files that are removed once the new one is there, oldest first
 * @param replaced lines of the file that the new one replaces
 * @param later lines of newer files, which stay
 * @returns the lines of the new file. If a crash leaves some of the removed files beside it, all of them together still mean
 * the same.
 */
export function foldedLines(
  removed: readonly string[],
  replaced: readonly string[],
  later: readonly string[],
): string[] {
  const withdrawn = claimsOf([...removed, ...replaced, ...later], 'not_sent');
  // Until the removed file is gone, its claim needs the end that is in another one.
  const goes = claimsOf(removed, 'sending');
  return [...new Set([...removed, ...replaced])].filter((line) => {
    const { did, claim } = claimOf(line);
    if (did === 'sending') return !withdrawn.has(claim);
    return did !== 'not_sent' || goes.has(claim);
  });
}

/** @returns the newest of the lines that fit into `mostBytes` with their line ends */
export function newestLines(lines: readonly string[], mostBytes: number): readonly string[] {
  let bytes = 0;
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    bytes += Buffer.byteLength(lines[index] ?? '') + 1;
    if (bytes > mostBytes) return lines.slice(index + 1);
  }
  return lines;
}

function claimsOf(lines: readonly string[], did: string): ReadonlySet<unknown> {
  return new Set(lines.map(claimOf).flatMap((line) => (line.did === did ? [line.claim] : [])));
}

function claimOf(line: string): Claim {
  try {
    return (JSON.parse(line) ?? {}) as Claim;
  } catch {
    // Torn: probably useless, but harmless.
    return {};
  }
}
