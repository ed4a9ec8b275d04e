/**
 * A text of any length as messages that Telegram takes. Pure: the same text always gives the same parts, because a
 * delivery that was interrupted goes on with part number n.
 *
 * Telegram counts 4,096 UTF-16 units after it has read the tags; here the source and the HTML with its tags both stay
 * within it, which is stricter and needs no second opinion. Parts end, by preference, after a paragraph, a line or a
 * word; a code block that is cut is closed and opened again.
 */
import { withoutInvisible } from '../../src/visibleText.js';
import { escapeHtml, inlineHtml } from './inlineHtml.js';

/** UTF-16 units (https://core.telegram.org/bots/api#sendmessage). */
export const MESSAGE_LIMIT = 4_096;

/** What stands where there would be nothing to see: Telegram refuses an empty message. */
const NOTHING_TO_SEE = '(The answer holds no visible text.)';
const INVISIBLE = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]*$/u;
const FENCE = /^\s*(`{3,}|~{3,})\s*([^`]*)$/;
const LANGUAGE = /^[A-Za-z0-9_+#.-]{1,20}$/;
const CODE_END = '</code></pre>';

export interface MessagePart {
  /** For `parse_mode: HTML`. */
  readonly html: string;
  /** The Markdown as it was written, for when Telegram refuses the HTML. */
  readonly plain: string;
}

interface Fence {
  readonly marker: string;
  readonly line: string;
  readonly html: string;
}

interface Piece {
  readonly plain: string;
  readonly html: string;
  /** `open` and `close` are the lines around code; their tags take no line of their own. */
  readonly kind: 'text' | 'open' | 'code' | 'close';
}

/**
 * @param text Markdown, any length
 * @param limit UTF-16 units that a part may have; at least 100
 * @returns at least one part, each with something to see
 */
export function renderParts(text: string, limit: number = MESSAGE_LIMIT): MessagePart[] {
  const splitter = new Splitter(limit);
  for (const line of wellFormed(withoutInvisible(text)).split('\n')) splitter.add(line);
  const parts = splitter.finish();
  return parts.length > 0 ? parts : [{ html: escapeHtml(NOTHING_TO_SEE), plain: NOTHING_TO_SEE }];
}

class Splitter {
  private readonly limit: number;
  private readonly parts: MessagePart[] = [];
  private pieces: Piece[] = [];
  private plainLength = 0;
  private htmlLength = 0;
  private fence: Fence | null = null;

  constructor(limit: number) {
    this.limit = limit;
  }

  add(line: string): void {
    const [, marker, info = ''] = (line.length <= this.limit / 4 ? FENCE.exec(line) : null) ?? [];
    if (marker === undefined) {
      this.addText(line);
    } else if (this.fence === null) {
      const html = codeStart(info);
      this.push({ plain: line, html, kind: 'open' });
      this.fence = { marker, line, html };
    } else if (info.trim() === '' && marker.startsWith(this.fence.marker)) {
      this.push({ plain: line, html: CODE_END, kind: 'close' });
      this.fence = null;
    } else {
      this.addText(line);
    }
  }

  finish(): MessagePart[] {
    this.emit(this.pieces.length, false);
    return this.parts;
  }

  /** A line of text or code; in pieces where it is longer than a part. */
  private addText(line: string): void {
    let rest = line;
    for (let room = this.roomOfEmptyPart(); rest.length > room || this.pieceOf(rest).html.length > room; ) {
      const end = this.cutIn(rest, room);
      this.push(this.pieceOf(rest.slice(0, end)));
      this.emit(this.pieces.length, true);
      rest = rest.slice(end);
      room = this.roomOfEmptyPart();
    }
    this.push(this.pieceOf(rest));
  }

  private pieceOf(line: string): Piece {
    if (this.fence !== null) return { plain: line, html: escapeHtml(line), kind: 'code' };
    return { plain: line, html: line.length > this.limit ? line : inlineHtml(line), kind: 'text' };
  }

  private push(piece: Piece): void {
    if (this.pieces.length > 0 && !this.hasRoomFor(piece)) this.emit(this.breakBefore(), true);
    // What was left over after a paragraph's end can still be too much.
    if (this.pieces.length > 0 && !this.hasRoomFor(piece)) this.emit(this.pieces.length, true);
    this.pieces.push(piece);
    this.plainLength += piece.plain.length + 1;
    this.htmlLength += piece.html.length + 1;
  }

  private hasRoomFor(piece: Piece): boolean {
    const reserve = this.reserveAfter(piece.kind);
    return (
      this.plainLength + piece.plain.length + 1 + reserve <= this.limit &&
      this.htmlLength + piece.html.length + 1 + reserve <= this.limit
    );
  }

  private reserveAfter(kind: Piece['kind']): number {
    if (kind === 'close') return 0;
    return kind === 'open' ? this.limit / 4 + CODE_END.length : this.closingLength();
  }

  private roomOfEmptyPart(): number {
    const reopened = this.fence === null ? 0 : Math.max(this.fence.line.length, this.fence.html.length) + 1;
    return this.limit - reopened - this.closingLength() - 1;
  }

  /** What a code block that is cut here needs for its end. */
  private closingLength(): number {
    return this.fence === null ? 0 : Math.max(this.fence.marker.length, CODE_END.length) + 1;
  }

  /** @returns how many pieces the full part keeps: up to its last paragraph's end if that leaves it half full */
  private breakBefore(): number {
    const last = this.pieces.length - 1;
    if (this.pieces[last]?.kind === 'open' && last > 0) return last;
    let length = 0;
    let best = this.pieces.length;
    for (const [index, piece] of this.pieces.entries()) {
      length += piece.plain.length + 1;
      const endsParagraph = piece.kind === 'close' || (piece.kind === 'text' && piece.plain.trim() === '');
      if (endsParagraph && length >= this.limit / 2) best = index + 1;
    }
    return best;
  }

  /** Ends the part after `count` pieces; `goesOn` opens the code block again for what follows. */
  private emit(count: number, goesOn: boolean): void {
    const kept = this.pieces.slice(0, count);
    const left = this.pieces.slice(count);
    const opened = kept.findLastIndex((piece) => piece.kind === 'open');
    const isCut = opened > kept.findLastIndex((piece) => piece.kind === 'close');
    if (isCut && this.fence !== null) {
      kept.push({ plain: goesOn ? this.fence.marker : '', html: CODE_END, kind: 'close' });
      if (goesOn) left.unshift({ plain: this.fence.line, html: this.fence.html, kind: 'open' });
    }
    const plain = kept.map((piece) => piece.plain).join('\n');
    if (!INVISIBLE.test(plain)) this.parts.push({ html: assemble(kept), plain: goesOn ? plain : plain.trimEnd() });
    this.pieces = left;
    this.plainLength = left.reduce((sum, piece) => sum + piece.plain.length + 1, 0);
    this.htmlLength = left.reduce((sum, piece) => sum + piece.html.length + 1, 0);
  }

  /** @returns where to cut a line that is longer than a part: after a word where one ends in the second half */
  private cutIn(line: string, room: number): number {
    let most = room;
    for (;;) {
      const space = line.lastIndexOf(' ', most - 1) + 1;
      const end = space > most / 2 ? space : charBoundary(line, most);
      if (this.pieceOf(line.slice(0, end)).html.length <= room) return end;
      most = Math.max(2, Math.floor(most * 0.8));
    }
  }
}

function codeStart(info: string): string {
  const language = info.trim().split(/\s/)[0] ?? '';
  return LANGUAGE.test(language) ? `<pre><code class="language-${language}">` : '<pre><code>';
}

function assemble(pieces: readonly Piece[]): string {
  let html = '';
  let previous: Piece['kind'] = 'open';
  for (const piece of pieces) {
    html += previous === 'open' || piece.kind === 'close' ? piece.html : `\n${piece.html}`;
    previous = piece.kind;
  }
  return html;
}

/** Telegram takes UTF-8 only; half a character becomes the sign for that. */
function wellFormed(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/\p{Surrogate}/gu, '\uFFFD');
}

function charBoundary(text: string, end: number): number {
  const before = text.charCodeAt(end - 1);
  return before >= 0xd800 && before <= 0xdbff ? end - 1 : end;
}
