/** Links of an answer: a link never leads to another place than its words show. */
import type { Span } from './styledText.js';

/** What Telegram turns into a link, and what cannot break out of its tag. */
const WEB_ADDRESS = /^https?:\/\/[^\s<>"]{1,2000}$/i;
const MAIL_ADDRESS = /^mailto:[^\s<>"]{1,300}$/i;

/**
 * @param label without a link yet
 * @returns the label as a link; an address that is not a web page follows the label as text, because it may be a file's path
 */
export function shownLink(label: readonly Span[], href: string): Span[] {
  const words = label.map(({ text }) => text).join('');
  if (WEB_ADDRESS.test(href)) {
    const shown = showsAnotherAddress(words, href) || words.trim() === '' ? [{ text: href }] : label;
    return shown.map((span) => ({ ...span, href }));
  }
  if (MAIL_ADDRESS.test(href)) return [...label];
  const address = decoded(href);
  return address === '' || words.includes(address) ? [...label] : [...label, { text: ` (${address})` }];
}

/** An address as its author wrote it; if that is not UTF-8, only its ASCII characters. */
export function decoded(href: string): string {
  try {
    return decodeURI(href);
  } catch {
    return href.replace(/%[2-7][\da-f]/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  }
}

/** A file's name also looks like an address; the name of the target's own file does not count as one. */
const ADDRESS_IN_LABEL =
  /(?:[a-z][a-z\d+.-]*:\/\/)?(?:[\p{L}\p{N}_-]+[.\u3002\uFF0E\uFF61])+\p{L}{2,}(?:[:/?#]\S*)?/giu;
const ANY_DOT = /[.\u3002\uFF0E\uFF61]/;
const FILE_NAME = /^[\w.-]+\.(?:md|txt|ts|tsx|js|mjs|jsx|json|py|rs|go|sh|c|h|cc|cpp|java|rb|yml|yaml|toml|css|html)$/i;

/** @returns whether a reader of the label would expect another place than the link leads to */
function showsAnotherAddress(label: string, url: string): boolean {
  if (!ANY_DOT.test(label)) return false;
  const targets = [bareAddress(url), bareAddress(decoded(url))];
  if (targets.includes(bareAddress(label))) return false;
  return [...label.matchAll(ADDRESS_IN_LABEL)].some(([shown]) => !targets.some((target) => isOf(target, shown)));
}

function isOf(target: string, shown: string): boolean {
  if (FILE_NAME.test(shown) && target.split(/[?#]/)[0]?.endsWith(`/${shown.toLowerCase()}`) === true) return true;
  const bare = bareAddress(shown);
  return target === bare || ['/', '?', '#', ':'].some((end) => target.startsWith(bare + end));
}

function bareAddress(address: string): string {
  return address
    .toLowerCase()
    .replace(/^[a-z][a-z\d+.-]*:\/\//, '')
    .replace(/^www\./, '')
    .replace(/[\s.,;:!?/]+$/, '');
}
