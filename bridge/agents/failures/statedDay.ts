/** The day that words state: as a date, as a day of the week, or as tomorrow. */
import { type CalendarDay, dayAfter, weekdayOf } from './localTime.js';

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DATE =
  /\b(?:(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(\d{1,2})|(\d{1,2})\.?\s+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?\b/i;
const NUMBERS = /\b(\d{4})-(\d{2})-(\d{2})(?!\d)T?/;
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const WEEKDAY = /\b(sun|mon|tue|wed|thu|fri|sat)(?:s|nes|rs|ur)?(?:day)?\b/i;
const TOMORROW = /\btomorrow\b/i;
const DAYS_OF_WEEK = 7;

export interface StatedDay {
  /** Only a day of the week that is today's may also mean the one in a week. */
  readonly day: CalendarDay;
  readonly isWeekday: boolean;
  /** The words without it: the numbers that are left are those of a time. */
  readonly rest: string;
}

/** @returns null if the words state no day */
export function statedDay(words: string, today: CalendarDay): StatedDay | null {
  const numbers = NUMBERS.exec(words);
  if (numbers !== null) return stated(words, numbers, dayOf(numbers.slice(1).map(Number)));
  const date = DATE.exec(words);
  if (date !== null) return stated(words, date, dated(date, today));
  if (TOMORROW.test(words)) return { day: dayAfter(today), isWeekday: false, rest: words };
  const weekday = WEEKDAY.exec(words);
  if (weekday === null) return null;
  const wanted = WEEKDAYS.indexOf((weekday[1] ?? '').toLowerCase());
  const ahead = (wanted - weekdayOf(today) + DAYS_OF_WEEK) % DAYS_OF_WEEK;
  return { ...stated(words, weekday, dayAfter(today, ahead)), isWeekday: true };
}

function stated(words: string, [found]: RegExpExecArray, day: CalendarDay): StatedDay {
  return { day, isWeekday: false, rest: words.replace(found, ' ') };
}

function dayOf([year = 0, month = 1, day = 1]: readonly number[]): CalendarDay {
  return { year, month, day };
}

/** Without a year, the next such day. */
function dated([, month, day, dayFirst, monthAfter, year]: RegExpExecArray, today: CalendarDay): CalendarDay {
  const number = MONTHS.indexOf((month ?? monthAfter ?? '').toLowerCase().slice(0, 3)) + 1;
  const isOver = number < today.month - 6;
  return {
    year: year === undefined ? today.year + (isOver ? 1 : 0) : Number(year),
    month: number,
    day: Number(day ?? dayFirst),
  };
}
