/** An issue as GitHub shows it. */
import type { PeerIssue } from '../../peers/github/issues.js';
import { escapeHtml, type Links } from './html.js';
import { markdownHtml } from './markdown.js';

export function issueHtml(
  { number, title, state, stateReason, labels, body, comments }: PeerIssue,
  links: Links,
): string {
  const reason = stateReason === null || state === 'open' ? '' : ` as ${stateReason.replaceAll('_', ' ')}`;
  const tags = labels.map((label) => `<span class="label">${escapeHtml(label)}</span>`).join(' ');
  const answers = comments.map(
    (comment) =>
      `<div class="comment"><p class="name">${escapeHtml(comment.author)} commented</p>${markdownHtml(comment.body, links)}</div>`,
  );
  return `<article class="issue card" id="issue-${number}">
<header><h3>${escapeHtml(title)} <span class="number">#${number}</span></h3>
<p><span class="state ${state}">${state}${escapeHtml(reason)}</span> ${tags}</p></header>
<div class="markdown">${markdownHtml(body, links)}</div>
${answers.join('\n')}
</article>`;
}
