/** What every place for issues must do. */
import { describe, expect, test } from '@jest/globals';
import type { IssueSink } from '../../monitoring/incident/issue/issueSink.js';

/** An issue as people see it. */
export interface SeenIssue {
  readonly title: string;
  readonly body: string;
  readonly labels: readonly string[];
  readonly comments: readonly string[];
}

export interface IssueSinkUnderTest {
  readonly sink: IssueSink;
  see(number: number): Promise<SeenIssue>;
  /** A person closes the issue. */
  close(number: number, reason: 'completed' | 'not_planned'): Promise<void>;
  /** A person files an issue without our label. */
  fileForeign(): Promise<void>;
}

const BODY =
  '<!-- watchkeeper v1 0123456789abcdef01234567 -->\n\nA body with\n---\nlines, "quotes", ünïcode 😀 and `ticks`.';

/** @param start called in each test; registers its own cleanup */
export function issueSinkContract(name: string, start: () => Promise<IssueSinkUnderTest>): void {
  describe(`${name} as a sink for issues`, () => {
    test('an issue is created once, with title, body and label, and found by list and number', async () => {
      const { sink, see } = await start();
      expect(await sink.list()).toEqual([]);
      const created = await sink.create('[Watchdog] popoto: silence', BODY);
      expect(created).toMatchObject({ state: 'open', closedAs: null, closedAt: null, body: BODY });
      expect(new URL(created.url).href).toBe(created.url);
      expect(await sink.list()).toEqual([created]);
      expect(await sink.get(created.number)).toEqual(created);
      expect(await see(created.number)).toEqual({
        title: '[Watchdog] popoto: silence',
        body: BODY,
        labels: ['watchdog'],
        comments: [],
      });
    });

    test('the list has every page, the newest first, and nothing of other people', async () => {
      const { sink, fileForeign } = await start();
      await fileForeign();
      const numbers: number[] = [];
      for (let count = 0; count < 103; count += 1) numbers.push((await sink.create(`issue ${count}`, BODY)).number);
      expect((await sink.list()).map(({ number }) => number)).toEqual(numbers.toReversed());
    });

    test('an issue that is not wanted is closed as not planned, with its text and comments', async () => {
      const { sink, see } = await start();
      const kept = await sink.create('one', BODY);
      const twin = await sink.create('one', BODY);
      await sink.close(twin.number, 'not_planned');
      await sink.comment(twin.number, `#${kept.number} goes on`);
      expect(await sink.get(twin.number)).toMatchObject({
        state: 'closed',
        closedAs: 'not_planned',
        body: BODY,
      });
      expect((await see(twin.number)).comments).toEqual([expect.stringContaining(`#${kept.number} goes on`)]);
      expect((await sink.list()).filter(({ state }) => state === 'open')).toEqual([kept]);
    });

    test('closed issues are in the list, with how they were closed', async () => {
      const { sink, close } = await start();
      const [one, two, three] = [
        await sink.create('one', BODY),
        await sink.create('two', BODY),
        await sink.create('three', BODY),
      ];
      await close(one.number, 'completed');
      await close(two.number, 'not_planned');
      expect(await sink.list()).toMatchObject([
        { number: three.number, state: 'open', closedAs: null },
        { number: two.number, state: 'closed', closedAs: 'not_planned', closedAt: expect.any(Number) },
        { number: one.number, state: 'closed', closedAs: 'completed', closedAt: expect.any(Number) },
      ]);
    });

    test('text is replaced, comments are added, a closed issue is reopened', async () => {
      const { sink, see, close } = await start();
      const { number } = await sink.create('one', BODY);
      await sink.update(number, `${BODY}\nmore`);
      await sink.comment(number, 'first');
      await sink.comment(number, 'second');
      expect(await see(number)).toMatchObject({ title: 'one', body: `${BODY}\nmore`, comments: ['first', 'second'] });
      await sink.update(number, BODY, 'another');
      expect(await sink.get(number)).toMatchObject({ title: 'another', body: BODY });
      await close(number, 'completed');
      await sink.reopen(number);
      expect(await sink.get(number)).toMatchObject({ state: 'open', closedAs: null, closedAt: null });
      await sink.close(number, 'completed');
      expect(await sink.get(number)).toMatchObject({ state: 'closed', closedAs: 'completed' });
    });

    test('an issue that does not exist is not found, and cannot be written to', async () => {
      const { sink } = await start();
      expect(await sink.get(4711)).toBeNull();
      await expect(sink.update(4711, BODY)).rejects.toMatchObject({ kind: 'refused', retryable: false });
      await expect(sink.comment(4711, BODY)).rejects.toMatchObject({ kind: 'refused' });
    });
  });
}
