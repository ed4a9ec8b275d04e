/** A text as a person sees it, and which parts of it are set apart. */
export interface FormattedText {
  readonly text: string;
  readonly entities: readonly TextEntity[];
}

/** Offset and length in UTF-16 code units (https://core.telegram.org/bots/api#messageentity). */
export interface TextEntity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

/** Where a parse mode's rules are broken; the server puts "can't parse entities: " before it. */
export class FormattingError extends Error {}

/** @returns the position as the server counts it: in bytes of UTF-8 */
export function byteOffset(source: string, at: number): number {
  return Buffer.byteLength(source.slice(0, at));
}

/**
 * @param closed in the order in which they were closed: inner before outer
 * @returns the entities without empty ones, by offset, outer before inner
 */
export function inOrder(closed: readonly TextEntity[]): TextEntity[] {
  return closed
    .filter((entity) => entity.length > 0)
    .reverse()
    .sort((a, b) => a.offset - b.offset || b.length - a.length);
}
