/**
 * A chat as its people saw it: every message in the order of the record, as it stands in the end. What it said before is folded
 * away, because nobody ever saw these wordings one below the other.
 */
import type { TextEntity } from '../../peers/telegram/formatting/formattedText.js';
import type { SeenChat, SeenMessage } from '../../peers/telegram/reader.js';
import { formattedHtml } from './formatted.js';
import { escapeHtml, type Links } from './html.js';

const MOST_QUOTED = 60;

interface Wording {
  readonly text: string;
  readonly entities: readonly TextEntity[];
  /** From when on it stood there, epoch ms. */
  readonly since: number;
}

export function chatHtml({ title, messages }: SeenChat, links: Links): string {
  const bubbles = messages.map((message) => messageHtml(message, messages, links)).join('\n');
  return `<section class="chat" aria-label="Chat ${escapeHtml(title)}">
<header><span class="avatar" aria-hidden="true">${escapeHtml(title.slice(0, 1))}</span><b>${escapeHtml(title)}</b></header>
<div class="messages">
${bubbles}
</div>
</section>`;
}

function messageHtml(message: SeenMessage, all: readonly SeenMessage[], links: Links): string {
  if (message.kind.startsWith('topic_')) return `<p class="service">Topic “${escapeHtml(message.text)}”</p>`;
  const answered = all.find(({ messageId }) => messageId === message.replyTo);
  const wordings = wordingsOf(message);
  const now = wordings.at(-1);
  const parts = [
    message.byBot ? '' : `<p class="name">${escapeHtml(message.name)}</p>`,
    answered === undefined ? '' : `<p class="answered">${escapeHtml(beginningOf(answered.text))}</p>`,
    `<div class="text">${formattedHtml(now?.text ?? '', now?.entities ?? [], links)}</div>`,
    wordings.length > 1 ? formerHtml(wordings.slice(0, -1), links) : '',
    footHtml(message),
  ];
  return `<article class="bubble ${message.byBot ? 'bot' : 'person'}">${parts.join('')}</article>`;
}

/** Those that differ from the next one in a number only, as a clock that counts, are left out. */
function wordingsOf({ text, entities, formerTexts, sentAt }: SeenMessage): Wording[] {
  const all: Wording[] = [];
  let since = sentAt;
  for (const former of formerTexts) {
    all.push({ text: former.text, entities: former.entities, since });
    since = former.until;
  }
  all.push({ text, entities, since });
  const shape = (wording: Wording | undefined) => wording?.text.replace(/\d+( m?s\b)?/g, '#');
  return all.filter((wording, index) => shape(wording) !== shape(all[index + 1]));
}

function formerHtml(wordings: readonly Wording[], links: Links): string {
  const lines = wordings.map(
    ({ text, entities, since }) =>
      `<li>${timeHtml(since)}<div class="text">${formattedHtml(text, entities, links)}</div></li>`,
  );
  return `<details class="former"><summary>What it said before</summary><ol>${lines.join('')}</ol></details>`;
}

function footHtml({ reactions, silent, sentAt, editedAt, formerTexts }: SeenMessage): string {
  const emoji = reactions.map((reaction) => `<span class="reaction">${escapeHtml(reaction.emoji)}</span>`).join('');
  const notes = [
    ...(silent ? ['<span title="sent without a sound">🔕</span>'] : []),
    ...(editedAt === null ? [] : [`edited ${formerTexts.length} ${formerTexts.length === 1 ? 'time' : 'times'}`]),
    timeHtml(editedAt ?? sentAt),
  ];
  return `<footer>${emoji}<span class="notes">${notes.join(' · ')}</span></footer>`;
}

function timeHtml(at: number): string {
  const iso = new Date(at).toISOString();
  return `<time datetime="${iso}">${iso.slice(11, 19)}</time>`;
}

function beginningOf(text: string): string {
  const [line = ''] = text.split('\n');
  return line.length > MOST_QUOTED ? `${line.slice(0, MOST_QUOTED)}…` : line;
}
