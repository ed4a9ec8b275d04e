/**
 * `parse_mode: MarkdownV2` (https://core.telegram.org/bots/api#markdownv2-style): every reserved character is either part
 * of a pair or escaped.
 */
import { byteOffset, type FormattedText, FormattingError, inOrder, type TextEntity } from './formattedText.js';

interface OpenEntity {
  readonly marker: string;
  readonly type: string;
  /** As the server names it in its error. */
  readonly name: string;
  /** UTF-16 offset in the resulting text. */
  readonly start: number;
  readonly sourceAt: number;
  readonly language?: string;
}

const RESERVED = '_*[]()~`>#+-=|{}.!';

/** Longer markers first: `__` is greedily an underline. */
const MARKERS = [
  { marker: '```', type: 'pre', name: 'Pre' },
  { marker: '__', type: 'underline', name: 'Underline' },
  { marker: '||', type: 'spoiler', name: 'Spoiler' },
  { marker: '*', type: 'bold', name: 'Bold' },
  { marker: '_', type: 'italic', name: 'Italic' },
  { marker: '~', type: 'strikethrough', name: 'Strikethrough' },
  { marker: '`', type: 'code', name: 'Code' },
  { marker: '![', type: 'custom_emoji', name: 'CustomEmoji' },
  { marker: '[', type: 'text_link', name: 'TextUrl' },
] as const;

/** @throws FormattingError where a pair is not closed or a reserved character is not escaped */
export function parseMarkdownV2(source: string): FormattedText {
  return new MarkdownReader(source).read();
}

class MarkdownReader {
  readonly #source: string;
  readonly #open: OpenEntity[] = [];
  readonly #entities: TextEntity[] = [];
  #text = '';
  #at = 0;
  /** UTF-16 offset where the open block quotation began; null outside one. */
  #quoteStart: number | null = null;

  constructor(source: string) {
    this.#source = source;
  }

  read(): FormattedText {
    while (this.#at < this.#source.length) this.#step();
    const unclosed = this.#open.at(-1);
    if (unclosed) {
      const offset = byteOffset(this.#source, unclosed.sourceAt);
      throw new FormattingError(`Can't find end of ${unclosed.name} entity at byte offset ${offset}`);
    }
    this.#endQuote();
    return { text: this.#text, entities: inOrder(this.#entities) };
  }

  #step(): void {
    const character = this.#source.charAt(this.#at);
    const next = this.#source.charAt(this.#at + 1);
    const innermost = this.#open.at(-1);
    const verbatim = innermost?.type === 'code' || innermost?.type === 'pre';
    if (character === '\\' && next !== '' && next.charCodeAt(0) <= 126) this.#literal(next, 2);
    else if (innermost && this.#closes(innermost)) this.#close(innermost);
    else if (verbatim) this.#literal(character, 1);
    else if (character === '>' && this.#atLineStart()) this.#quoteLine();
    else if (this.#source.startsWith('||', this.#at) && this.#endsQuote()) this.#expandableMark();
    else if (RESERVED.includes(character)) this.#beginEntity(character);
    else {
      if (character === '\n' && next !== '>') this.#endQuote();
      this.#literal(character, 1);
    }
  }

  #literal(character: string, sourceLength: number): void {
    this.#text += character;
    this.#at += sourceLength;
  }

  #closes(entity: OpenEntity): boolean {
    if (entity.type === 'text_link' || entity.type === 'custom_emoji') return this.#source[this.#at] === ']';
    if (!this.#source.startsWith(entity.marker, this.#at)) return false;
    return entity.marker !== '_' || this.#source[this.#at + 1] !== '_';
  }

  #close(entity: OpenEntity): void {
    this.#open.pop();
    this.#at += entity.type === 'text_link' || entity.type === 'custom_emoji' ? 1 : entity.marker.length;
    const { type, start, language } = entity;
    const span = { type, offset: start, length: this.#text.length - start };
    if (entity.type === 'custom_emoji') this.#readEmojiUrl();
    else if (entity.type === 'text_link') {
      const url = this.#readUrl();
      if (url !== null) this.#entities.push({ ...span, url });
    } else this.#entities.push(language === undefined ? span : { ...span, language });
  }

  #readEmojiUrl(): void {
    const url = this.#readUrl();
    if (url === null) throw new FormattingError('The entity must contain a tg://emoji or tg://time URL');
    if (!url.startsWith('tg://')) throw new FormattingError('Invalid tg://emoji or tg://time URL specified');
  }

  #readUrl(): string | null {
    if (this.#source[this.#at] !== '(') return null;
    const startedAt = this.#at + 1;
    let url = '';
    for (let at = startedAt; at < this.#source.length; at += 1) {
      if (this.#source[at] === ')') {
        this.#at = at + 1;
        return url;
      }
      if (this.#source[at] === '\\') at += 1;
      url += this.#source.charAt(at);
    }
    throw new FormattingError(`Can't find end of a URL at byte offset ${byteOffset(this.#source, startedAt)}`);
  }

  #beginEntity(character: string): void {
    const found = MARKERS.find(({ marker }) => this.#source.startsWith(marker, this.#at));
    if (!found) {
      throw new FormattingError(`Character '${character}' is reserved and must be escaped with the preceding '\\'`);
    }
    const entity = { ...found, start: this.#text.length, sourceAt: this.#at };
    this.#at += found.marker.length;
    this.#open.push(found.type === 'pre' ? this.#withLanguage(entity) : entity);
  }

  /** After the three backticks: a word up to the line's end names a language; an empty line is swallowed. */
  #withLanguage(entity: OpenEntity): OpenEntity {
    const language = /^([^\s`]*)\s/.exec(this.#source.slice(this.#at));
    if (!language) return entity;
    this.#at += language[1]?.length ?? 0;
    if (this.#source[this.#at] === '\n') this.#at += 1;
    return language[1] ? { ...entity, name: 'PreCode', language: language[1] } : entity;
  }

  #atLineStart(): boolean {
    return this.#at === 0 || this.#source[this.#at - 1] === '\n';
  }

  #quoteLine(): void {
    this.#quoteStart ??= this.#text.length;
    this.#at += 1;
  }

  /** `||` as the last thing of a quotation makes it an expandable one. */
  #endsQuote(): boolean {
    const after = this.#source.slice(this.#at + 2, this.#at + 4);
    return this.#quoteStart !== null && (after === '' || (after.startsWith('\n') && after !== '\n>'));
  }

  #expandableMark(): void {
    this.#at += 2;
    this.#endQuote('expandable_blockquote');
  }

  #endQuote(type = 'blockquote'): void {
    if (this.#quoteStart === null) return;
    this.#entities.push({ type, offset: this.#quoteStart, length: this.#text.length - this.#quoteStart });
    this.#quoteStart = null;
  }
}
