/** One line of Markdown as Telegram's HTML: inline code, bold, italic and web links; everything else is shown as written. */

/** Spans longer than this are shown as written; also what keeps the pattern's work small. */
const LONGEST_SPAN = 500;

const CODE = String.raw`(?<ticks>\`{1,2})(?<code>[^\`]{1,${LONGEST_SPAN}})\k<ticks>(?!\`)`;
const LINK = String.raw`\[(?<label>[^[\]]{1,${LONGEST_SPAN}})\]\((?<url>https?:\/\/[^\s()<>"]{1,2000})\)`;
const BOLD = String.raw`\*\*(?=\S)(?<bold>[^*]{1,${LONGEST_SPAN}}?)(?<=\S)\*\*`;
const ITALIC = String.raw`(?<![\w*])\*(?=\S)(?<star>[^*]{1,${LONGEST_SPAN}}?)(?<=\S)\*(?![\w*])`;
/** An underscore within a word belongs to a name. */
const UNDERSCORE = String.raw`(?<![\w_])_(?=\S)(?<under>[^_]{1,${LONGEST_SPAN}}?)(?<=\S)_(?![\w_])`;
const SPANS = [CODE, LINK, BOLD, ITALIC, UNDERSCORE];

/**
 * @param line text without a line end
 * @returns HTML with balanced tags (https://core.telegram.org/bots/api#html-style); its text is the line's, without the
 *   signs that were understood
 */
export function inlineHtml(line: string): string {
  return renderSpans(line, SPANS);
}

/** @returns `text` with the three characters escaped that mean something between tags */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function renderSpans(text: string, spans: readonly string[]): string {
  let html = '';
  let from = 0;
  for (const match of text.matchAll(new RegExp(spans.join('|'), 'g'))) {
    html += escapeHtml(text.slice(from, match.index)) + renderSpan(match[0], match.groups ?? {});
    from = match.index + match[0].length;
  }
  return html + escapeHtml(text.slice(from));
}

function renderSpan(
  source: string,
  { code, label, url, bold, star, under }: Record<string, string | undefined>,
): string {
  if (code !== undefined) return `<code>${escapeHtml(code)}</code>`;
  if (label !== undefined && url !== undefined) {
    return `<a href="${escapeHtml(url)}">${escapeHtml(showsAnotherAddress(label, url) ? url : label)}</a>`;
  }
  if (bold !== undefined) return styled('b', bold);
  const italic = star ?? under;
  return italic === undefined ? escapeHtml(source) : styled('i', italic);
}

/** A file's name looks like an address, too: of the target's own file it is none. */
const ADDRESS_IN_LABEL =
  /(?:[a-z][a-z\d+.-]*:\/\/)?(?:[\p{L}\p{N}_-]+[.\u3002\uFF0E\uFF61])+\p{L}{2,}(?:[:/?#]\S*)?/giu;
const FILE_NAME = /^[\w.-]+\.(?:md|txt|ts|tsx|js|mjs|jsx|json|py|rs|go|sh|c|h|cc|cpp|java|rb|yml|yaml|toml|css|html)$/i;

/** @returns whether who reads the label would expect another place than the link leads to */
function showsAnotherAddress(label: string, url: string): boolean {
  const target = bareAddress(url);
  return [...label.matchAll(ADDRESS_IN_LABEL)].some(([shown]) => {
    if (FILE_NAME.test(shown) && target.split(/[?#]/)[0]?.endsWith(`/${shown.toLowerCase()}`) === true) return false;
    const bare = bareAddress(shown);
    return !(target === bare || ['/', '?', '#', ':'].some((end) => target.startsWith(bare + end)));
  });
}

function bareAddress(address: string): string {
  return address
    .toLowerCase()
    .replace(/^[a-z][a-z\d+.-]*:\/\//, '')
    .replace(/^www\./, '')
    .replace(/[\s.,;:!?/]+$/, '');
}

/** Code cannot stand inside another style: the style pauses around it. */
function styled(tag: 'b' | 'i', text: string): string {
  return renderSpans(text, [CODE])
    .split(/(<code>.*?<\/code>)/)
    .map((piece) => (piece === '' || piece.startsWith('<code>') ? piece : `<${tag}>${piece}</${tag}>`))
    .join('');
}
