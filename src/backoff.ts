/** How long to wait before retrying: twice as long after every failure, up to a limit. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** @param failures consecutive so far, from 1 */
export function pauseAfter(failures: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}
