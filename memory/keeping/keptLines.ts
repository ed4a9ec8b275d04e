/** The lines of a worklog that say what was kept of a session. */
import { isoTimeOrNull } from '../../src/time.js';
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import { LONGEST_LINE_BYTES } from '../logs/line.js';
import type { Source } from '../observed/keptCopy.js';
import type { Observed } from '../observed/observed.js';
import type { SealedCopy } from './copyFile.js';
import type { FileDigest } from './digests.js';

/** For the sources and digests in a line. The rest is for their redaction, which can make a short secret four times as long. */
const MOST_BYTES = LONGEST_LINE_BYTES / 4;

export interface FoldedCopy extends SealedCopy {
  /** The observation of the copied lines. */
  readonly fold: Pick<Observed, 'lastActivity'>;
}

type Listed =
  | { readonly list: 'sources'; readonly entry: Source }
  | { readonly list: 'digests'; readonly entry: FileDigest };

/**
 * Paths and ids of conversations have any length, so lines are cut by bytes.
 * @returns the line that says everything, and lines that continue its lists
 */
export function keptLines(
  copy: FoldedCopy | null,
  digests: readonly FileDigest[],
  complete: boolean,
): WorklogLine<'kept'>[] {
  const last = copy?.fold.lastActivity ?? null;
  const first = {
    copy: copy === null ? null : { bytes: copy.bytes, digest: copy.digest },
    complete,
    last_activity: isoTimeOrNull(last),
  };
  const listed: Listed[] = [
    ...(copy?.seal.sources ?? []).map((entry) => ({ list: 'sources' as const, entry })),
    ...digests.map((entry) => ({ list: 'digests' as const, entry })),
  ];
  return pieces(listed).map((piece, index) =>
    worklogKind.line('kept', {
      ...(index === 0 ? first : { goes_on: true }),
      sources: piece.flatMap(({ list, entry }) => (list === 'sources' ? [entry] : [])),
      digests: piece.flatMap(({ list, entry }) => (list === 'digests' ? [entry] : [])),
    }),
  );
}

/** @returns the entries in lines; at least one, which may be empty */
function pieces(listed: readonly Listed[]): Listed[][] {
  let piece: Listed[] = [];
  const all = [piece];
  let bytes = 0;
  for (const item of listed) {
    const more = Buffer.byteLength(JSON.stringify(item.entry)) + 1;
    if (piece.length > 0 && bytes + more > MOST_BYTES) {
      piece = [];
      all.push(piece);
      bytes = 0;
    }
    piece.push(item);
    bytes += more;
  }
  return all;
}
