/** The review's sections on events that are about no job. */
import { counted } from '../../src/counted.js';
import type { Day, OtherFacts } from './dayFacts.js';
import type { DayZone } from './dayZone.js';
import { putInto } from './jobFacts.js';
import { exact, name, quoted } from './quoting.js';
import { shortDay } from './words.js';

type When = (other: OtherFacts | undefined) => string;

const MOST_SHOWN = 5;
const UNROUTABLE = 'message_unroutable';
const BRIDGE_GONE = 'bridge_gone';
const UNDELIVERED = 'message_undelivered';
const STORE_FORGOT = 'store_forgot';

/**
 * @returns sections about times without a bridge, about chats without a server, about messages that did not arrive, about a
 * store that lost data, and about the watch itself; none if there is nothing to say
 */
export function otherSections({ others, date }: Day, zone: DayZone): string[] {
  const when = (other: OtherFacts | undefined) => whenWords(other, date, zone);
  const unroutable = others.filter(({ event }) => event === UNROUTABLE);
  const undelivered = others.filter(({ event }) => event === UNDELIVERED);
  const bridge = others.filter(({ event }) => event === BRIDGE_GONE);
  const watch = others.filter(({ event }) => ![UNROUTABLE, UNDELIVERED, BRIDGE_GONE, STORE_FORGOT].includes(event));
  const forgotten = others.filter(({ event }) => event === STORE_FORGOT);
  return [
    plainSection('Times without a bridge, in which no message was run', bridge, when),
    unroutableSection(unroutable, when),
    plainSection('Messages that did not arrive, or may not have', undelivered, when),
    plainSection('What Redis has lost', forgotten, when),
    plainSection('The watch itself', watch, when),
  ];
}

function unroutableSection(found: readonly OtherFacts[], when: When): string {
  const byChat = new Map<string, OtherFacts[]>();
  for (const other of found) putInto(byChat, other.details.chat_id ?? 'unknown', other);
  const items = [...byChat].slice(0, MOST_SHOWN).map(([chat, messages]) => {
    const last = messages.at(-1);
    const line = `- chat ${exact(chat)}: ${counted(messages.length, 'message')}, the last at ${when(last)}`;
    return [line, ...quoted(last?.excerpt ? [last.excerpt] : [], '  ')].join('\n');
  });
  return section('Messages from chats that no project lists', items, byChat.size);
}

function plainSection(title: string, found: readonly OtherFacts[], when: When): string {
  const items = found.slice(0, MOST_SHOWN).map((other) => {
    const { event, reason, is_over, details } = other;
    const words = [
      ...(reason === null ? [] : [exact(reason)]),
      ...Object.entries(details).map(([field, value]) => `${exact(field)} ${exact(value)}`),
    ];
    const head = `- ${when(other)} **${name(event.replaceAll('_', ' '))}**${is_over ? '' : ' (not over yet)'}`;
    return words.length === 0 ? head : `${head}: ${words.join(', ')}`;
  });
  return section(title, items, found.length);
}

function whenWords(other: OtherFacts | undefined, date: string, zone: DayZone): string {
  if (other === undefined) return '';
  const instant = Date.parse(other.at);
  const day = zone.dayOf(instant);
  return day === date ? zone.timeOf(instant) : `${shortDay(day)}, ${zone.timeOf(instant)}`;
}

function section(title: string, items: readonly string[], all: number): string {
  if (items.length === 0) return '';
  const rest = all > items.length ? [`- … and ${all - items.length} more, in the critical events.`] : [];
  return `## ${title}\n\n${[...items, ...rest].join('\n')}`;
}
