import { describe, expect, test } from '@jest/globals';
import { explain, PLAIN_WORDS, PROTOCOL_WORDS } from '../../../../bridge/agents/failures/explain.js';
import { statedEnd } from '../../../../bridge/agents/failures/statedEnd.js';
import { readWords } from '../../../../bridge/agents/failures/wording.js';
import { isoTime } from '../../../../src/time.js';
import { AGENT_PROGRAMS, READ_AT, READ_IN, SEEN_WORDINGS, WORDINGS } from './wordings.js';

const reading = { now: Date.parse(READ_AT), zone: READ_IN };
const curly = (words: string) => words.replaceAll("'", '’');
const straight = (words: string) => words.replaceAll('’', "'");

describe.each(AGENT_PROGRAMS)('the table of %s', (program) => {
  // rule: failures-are-read-by-table
  test.each(SEEN_WORDINGS.filter((each) => each.program === program).map((each) => [each.words, each] as const))(
    'reads: %s',
    (words, { cause, ends }) => {
      for (const variant of [words, curly(words), straight(words)]) {
        const said = readWords(variant, WORDINGS[program], reading);
        const until = said?.until === undefined ? null : isoTime(said.until);
        expect({ cause: said?.cause ?? 'crash', until }).toEqual({ cause, until: ends });
      }
    },
  );
});

describe('a stated end', () => {
  test.each([
    // The day of the zone that is named, not of the reader.
    ['resets 1am (Pacific/Auckland)', '2026-10-08T12:00:59.000Z'],
    ['resets at 23:30 (Europe/London)', '2026-10-08T22:30:59.000Z'],
    ['try again at 10:15 UTC', '2026-10-08T10:15:59.000Z'],
    ['resets at 7:30 PM PDT', '2026-10-09T02:30:59.000Z'],
    ['resets 4pm (UTC+2)', '2026-10-08T14:00:59.000Z'],
    ['try again at 2026-10-08T11:30:00Z', '2026-10-08T11:30:00.000Z'],
    ['available again 2026-10-08 11:30 UTC', '2026-10-08T11:30:00.000Z'],
    ['Please try again in 1m30s', '2026-10-08T10:02:00.000Z'],
    ['retry after 250ms', '2026-10-08T10:00:30.250Z'],
    ['Try again in 3 days 2 hours', '2026-10-11T12:00:30.000Z'],
    ['Try again in about an hour', '2026-10-08T11:00:30.000Z'],
    ['retry-after: 90', '2026-10-08T10:02:00.000Z'],
    // The minute that is just over is meant, not tomorrow's.
    ['try again at 6:00 AM', '2026-10-08T10:00:59.000Z'],
    ['try again at 5:58 AM', '2026-10-08T10:00:30.000Z'],
    ['resets Jan 2, 9am (UTC)', '2027-01-02T09:00:59.000Z'],
    ['resets Monday at 9 AM', '2026-10-12T13:00:59.000Z'],
    ['resets Thu 9am', '2026-10-08T13:00:59.000Z'],
    ['resets Thu 5am', '2026-10-15T09:00:59.000Z'],
    ['resets Mon, Oct 19 at 9:00 AM', '2026-10-19T13:00:59.000Z'],
    ['try again tomorrow at 9 AM', '2026-10-09T13:00:59.000Z'],
    ['Try again tomorrow.', '2026-10-09T04:00:00.000Z'],
    ['limit resets 2026-10-12T15:00', '2026-10-12T19:00:59.000Z'],
    ['limit resets on 2026-10-12', '2026-10-12T04:00:00.000Z'],
    ['resets at midnight PT', '2026-10-09T07:00:59.000Z'],
    ['resets at 9am Pacific time', '2026-10-08T16:00:59.000Z'],
    ['{"reset_at":"2026-10-08T18:00:00Z"}', '2026-10-08T18:00:00.000Z'],
    ['{"retry_after_ms":90000}', '2026-10-08T10:02:00.000Z'],
    ['resets in 2:15', '2026-10-08T12:15:30.000Z'],
    ['Try again in 1 week 2 days', '2026-10-17T10:00:30.000Z'],
    ['Please wait 45 minutes before the next request', '2026-10-08T10:45:30.000Z'],
  ])('%s', (words, end) => {
    expect(isoTime(statedEnd(words, reading) ?? 0)).toBe(end);
  });

  test('is none in words that state no end', () => {
    for (const words of ['Try again later.', 'it failed at 5:40pm', 'read 12 files in 3 seconds', 'resets never', '']) {
      expect(statedEnd(words, reading)).toBeNull();
    }
  });

  test('keeps to the clock of its zone when that is changed', () => {
    const zone = 'Europe/Berlin';
    const before = { now: Date.parse('2026-10-24T22:00:00Z'), zone };
    expect(isoTime(statedEnd('resets 9am', before) ?? 0)).toBe('2026-10-25T08:00:59.000Z');
    const spring = { now: Date.parse('2026-03-28T22:00:00Z'), zone };
    expect(isoTime(statedEnd('resets 9am', spring) ?? 0)).toBe('2026-03-29T07:00:59.000Z');
  });
});

describe('a failure', () => {
  const crash = (detail: string) => ({ cause: 'crash', detail }) as const;
  const reported = (detail: string) =>
    explain({ failure: crash(detail), lastWords: '', isOwn: true }, PROTOCOL_WORDS, reading).cause;

  test.each([
    ['HTTP 503', 'provider_unavailable'],
    ['the server answered with status 502', 'provider_unavailable'],
    ['429 Too Many Requests', 'provider_unavailable'],
    ['read ECONNRESET', 'provider_unavailable'],
    ['request failed: connection reset by peer', 'provider_unavailable'],
    ['The server is busy, please wait', 'provider_unavailable'],
    ['HTTP 401', 'authentication'],
    ['your session has expired', 'authentication'],
    ['session 12 does not exist', 'conversation_unusable'],
    ['This model has a maximum context length of 8192 tokens', 'context_overflow'],
    ["model 'llama9' not found", 'misconfigured'],
    ['request failed: self-signed certificate in certificate chain', 'misconfigured'],
    ['the model User was not found in app shop', 'crash'],
    ['TypeError: x is undefined', 'crash'],
    ['line 503 of the file could not be read', 'crash'],
    ['500 files were changed', 'crash'],
  ])('that a program of any kind reports: %s', (detail, cause) => {
    expect(reported(detail)).toBe(cause);
  });

  test('that a plain program prints is read only by the wordings of agent programs', () => {
    const printed = (detail: string) =>
      explain({ failure: crash(detail), lastWords: '', isOwn: true }, PLAIN_WORDS, reading).cause;
    expect(printed('it printed: API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}')).toBe(
      'provider_unavailable',
    );
    expect(printed('it printed: Error: connect ECONNREFUSED 127.0.0.1:5432')).toBe('crash');
    expect(printed('it printed: GET /health 503 Service Unavailable')).toBe('crash');
  });

  test('keeps the cause that the program names, and gets the end that its words state', () => {
    const failure = { cause: 'rate_limit', detail: 'Limit reached. Try again at 11:11 PM.' } as const;
    const until = Date.parse('2026-10-09T03:11:59.000Z');
    expect(explain({ failure, lastWords: '', isOwn: true }, PROTOCOL_WORDS, reading)).toEqual({
      cause: 'rate_limit',
      until,
    });
    const known = { ...failure, until: 5 };
    expect(explain({ failure: known, lastWords: '', isOwn: true }, PROTOCOL_WORDS, reading)).toMatchObject({
      until: 5,
    });
    const login = { cause: 'authentication', detail: 'API Error: 529 overloaded' } as const;
    expect(explain({ failure: login, lastWords: '', isOwn: true }, PROTOCOL_WORDS, reading)).toEqual({
      cause: 'authentication',
    });
  });

  test('without a report is read from the last lines of what it printed, unless it was killed', () => {
    const lastWords = 'no rollout found for thread id a\nx\ny\nz';
    const end = (words: string, isOwn: boolean) =>
      explain({ failure: null, lastWords: words, isOwn }, PROTOCOL_WORDS, reading).cause;
    expect(end('Error: no rollout found for thread id a\n', true)).toBe('conversation_unusable');
    expect(end(lastWords, true)).toBe('crash');
    expect(end('Error: no rollout found for thread id a\n', false)).toBe('crash');
  });
});
