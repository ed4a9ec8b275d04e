/** The critical events, one line each; the whole record opens below. */
import type { CriticalEvent } from '../../../src/jobs/incidents.js';
import { escapeHtml, type Links } from './html.js';

export function eventsHtml(events: readonly CriticalEvent[], links: Links): string {
  return events.map((event) => eventHtml(event, links)).join('\n');
}

function eventHtml(event: CriticalEvent, links: Links): string {
  const { timestamp, id, session_id, rule, reason, github_issue, final } = event;
  const step = id.slice(id.indexOf('.') + 1);
  const issue = github_issue === null ? '' : links.anchor(github_issue, `issue #${github_issue.split('/').at(-1)}`);
  return `<details class="event"><summary>
<time datetime="${escapeHtml(timestamp)}">${escapeHtml(timestamp.slice(11, 19))}</time>
<span class="step${final ? ' final' : ''}">${escapeHtml(step)}</span>
<span>${escapeHtml(rule ?? '')}</span>
<code>${escapeHtml(session_id ?? '')}</code>
<span class="soft">${escapeHtml(reason ?? '')}</span>
</summary><p>${issue}</p><pre>${escapeHtml(JSON.stringify(event, null, 2))}</pre></details>`;
}
