/** Orders that a person typed while the agent worked. Their program hands them over later; if it is killed before, they are lost. */
import { contentDigest } from '../../src/journal/digest.js';
import { type JournalRecord, textOf } from '../../src/journal/record.js';

export interface WaitingOrder {
  /** Digest of its words. */
  readonly order: string;
  /** Null if no texts are kept. */
  readonly text: string | null;
  readonly at: number;
  /** A person has asked something else afterwards. */
  isPassed: boolean;
  /** Not a program's. */
  readonly isPersons: boolean;
}

/** More are not remembered; the oldest is forgotten first. */
const MOST_ORDERS = 50;

/** Takes a line of the event `order`. */
export function takeOrder(orders: WaitingOrder[], record: JournalRecord, at: number): void {
  const order = textOf(record.order);
  switch (record.change) {
    case 'queued':
      if (order !== null)
        orders.push({ order, text: textOf(record.text), at, isPassed: false, isPersons: record.origin === 'human' });
      if (orders.length > MOST_ORDERS) orders.shift();
      break;
    case 'taken':
      drop(orders, order, 1);
      break;
    case 'withdrawn':
      drop(orders, order, orders.length);
      break;
  }
}

/**
 * A prompt that was typed directly leaves the orders in the queue. Those of a program that was killed are never handed over: they
 * stay known until a further turn has ended.
 * @param text of the prompt
 */
export function passOrders(orders: WaitingOrder[], { text, origin }: JournalRecord): void {
  const words = textOf(text);
  const same = words === null ? undefined : contentDigest(words);
  const at = orders.findIndex((each) => each.order === same || (each.text !== null && each.text === words));
  if (at >= 0) orders.splice(at, 1);
  else if (origin === 'human') for (const each of orders) each.isPassed = true;
}

/** A turn has ended. */
export function forgetPassed(orders: WaitingOrder[]): void {
  for (let at = orders.length - 1; at >= 0; at -= 1) if (orders[at]?.isPassed === true) orders.splice(at, 1);
}

/** @param order null for the first ones */
function drop(orders: WaitingOrder[], order: string | null, most: number): void {
  if (order === null) orders.splice(0, most);
  else {
    const at = orders.findIndex((each) => each.order === order);
    if (at >= 0) orders.splice(at, 1);
  }
}
