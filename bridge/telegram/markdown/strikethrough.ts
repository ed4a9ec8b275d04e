/**
 * Strike-through in GitHub's flavour: between two pairs of tildes, or two single ones
 * (https://github.github.com/gfm/#strikethrough-extension-). The parser's own rule knows only pairs, and finds some in `~~~`.
 */
import type { MarkdownIt } from 'markdown-it';

const TILDE = 126;
/** Belongs to no character, so that a single tilde is never matched with a pair. */
const SINGLE = -TILDE;

export function addStrikethrough(parser: MarkdownIt): void {
  parser.inline.ruler.at('strikethrough', (state, isSilent) => {
    if (isSilent || state.src.charCodeAt(state.pos) !== TILDE) return false;
    const { length } = state.scanDelims(state.pos, true);
    // Unlike GitHub's, none within words: "5~10 minutes or 20~30" denotes ranges.
    const { can_open: open, can_close: close } = state.scanDelims(state.pos, length > 1);
    state.push('text', '', 0).content = '~'.repeat(length);
    if (length <= 2) {
      const marker = length === 1 ? SINGLE : TILDE;
      state.delimiters.push({ marker, length: 0, token: state.tokens.length - 1, end: -1, open, close });
    }
    state.pos += length;
    return true;
  });
  // They are matched by then; the parser's own rule makes tags of them.
  parser.inline.ruler2.before('strikethrough', 'single_tilde', ({ delimiters, tokens_meta }) => {
    for (const each of [delimiters, ...tokens_meta.map((meta) => meta?.delimiters ?? [])]) {
      for (const delimiter of each) if (delimiter.marker === SINGLE) delimiter.marker = TILDE;
    }
    return false;
  });
}
