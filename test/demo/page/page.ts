/**
 * The demo's page: chats, issues, critical events and the daily review as the Telegram and GitHub peers and the log files
 * hold them. One file that loads nothing.
 */
import type { SeenChat } from '../../peers/telegram/reader.js';
import { CHATS } from '../cast.js';
import type { Checked } from '../checkClaims.js';
import type { Readings } from '../readings.js';
import { chatHtml } from './chats.js';
import { eventsHtml } from './events.js';
import { escapeHtml, Links } from './html.js';
import { issueHtml } from './issues.js';
import { markdownHtml } from './markdown.js';
import { STYLE } from './style.js';

/** @returns the whole document */
export function demoPage(readings: Readings, claims: readonly Checked[]): string {
  const { issues } = readings.evidence.issueState();
  const links = new Links(issues);
  const events = readings.evidence.criticalEvents();
  const chats = readings.chats();
  const hold = claims.filter(({ contradictions }) => contradictions.length === 0).length;
  const reviews = readings.reviews().map((review) => `<div class="card markdown">${markdownHtml(review, links)}</div>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Watchkeeper: the demo's record</title>
<style>${STYLE}</style>
</head>
<body><main>
<h1>Watchkeeper: what the demo left</h1>
<p>The chats as people saw them, the issues, the critical events and the daily review of one run, made from its files. Times
are UTC. Silence was judged after seconds instead of minutes.</p>
<p class="soft">${chats.length} chats · ${issues.length} issues · ${events.length} critical events · ${hold} of ${claims.length} claims hold</p>
<nav>${chats.map((chat) => `<a href="#project-${projectOf(chat)}">${projectOf(chat)}</a>`).join('')}
<a href="#events">Critical events</a><a href="#review">Daily review</a><a href="#claims">Claims</a></nav>
${chats.map((chat) => projectHtml(chat, readings, links)).join('\n')}
<h2 id="events">Critical events</h2>
<p>From <a href="logs/critical_events.jsonl"><code>logs/critical_events.jsonl</code></a>, in the order of the file. A line
opens to the whole record.</p>
<div>${eventsHtml(events, links)}</div>
<h2 id="review">The daily review</h2>
${reviews.join('\n')}
<h2 id="claims">What is claimed, and where to look</h2>
<ul class="claims card">${claims.map(claimHtml).join('\n')}</ul>
</main></body>
</html>
`;
}

function projectHtml(chat: SeenChat, readings: Readings, links: Links): string {
  const project = projectOf(chat);
  const issues = readings.issues(project).map((issue) => issueHtml(issue, links));
  const beside =
    issues.length === 0 ? '<p class="card soft">Nothing went wrong here: no issue.</p>' : issues.join('\n');
  return `<h2 id="project-${project}">Project ${project}</h2>
<div class="pair">${chatHtml(chat, links)}<div class="issues">${beside}</div></div>`;
}

function projectOf({ chatId }: SeenChat): keyof typeof CHATS {
  const project = (Object.keys(CHATS) as (keyof typeof CHATS)[]).find((key) => CHATS[key].id === chatId);
  if (project === undefined) throw new Error(`no project has the chat ${chatId}`);
  return project;
}

function claimHtml({ says, files, contradictions }: Checked): string {
  const places = files.map((file) => `<a href="${escapeHtml(file)}">${escapeHtml(file)}</a>`).join(' ');
  const against = contradictions.map((sentence) => `<br>But: ${escapeHtml(sentence)}`).join('');
  return `<li${contradictions.length === 0 ? '' : ' class="false"'}>${escapeHtml(says)}${against}<br><span class="soft">${places}</span></li>`;
}
