/** Markdown as GitHub shows it: of raw HTML only comments count, which are hidden, and a few tags without attributes. */
import MarkdownIt from 'markdown-it';
import { escapeHtml, type Links } from './html.js';

const RAW = /(<!--[\s\S]*?-->|<\/?(?:details|summary|sub|sup|br)>)/;
/** The page has headings of its own above those of a text. */
const HEADING_BELOW = 2;
const LOWEST_HEADING = 6;

export function markdownHtml(text: string, links: Links): string {
  const markdown = new MarkdownIt({ html: true, linkify: true }).disable('image');
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  const { rules } = markdown.renderer;
  rules.html_block = (tokens, index) => rawHtml(tokens[index]?.content ?? '');
  rules.html_inline = rules.html_block;
  rules.link_open = (tokens, index) => {
    const target = links.target(String(tokens[index]?.attrGet('href') ?? ''));
    return target === null ? '<a>' : `<a href="${escapeHtml(target)}">`;
  };
  rules.table_open = () => '<div class="scroll"><table>';
  rules.table_close = () => '</table></div>';
  const tokens = markdown.parse(text, {});
  for (const token of tokens) {
    const level = /^h(\d)$/.exec(token.tag)?.[1];
    if (level !== undefined) token.tag = `h${Math.min(Number(level) + HEADING_BELOW, LOWEST_HEADING)}`;
  }
  return markdown.renderer.render(tokens, markdown.options, {});
}

function rawHtml(content: string): string {
  return content
    .split(RAW)
    .map((part, index) => {
      const isKnown = index % 2 === 1;
      if (!isKnown) return escapeHtml(part);
      return part.startsWith('<!--') ? '' : part;
    })
    .join('');
}
