// covers: memory/brief/resumeContext.ts memory/brief/observedSections.ts memory/brief/declaredSections.ts memory/brief/changesSince.ts
/** One fact is told once, to a new window, a resumed one, and one that has others beside it; mornings.test.ts says so of each story. */
import { expect, test } from '@jest/globals';
import { Morning } from './mornings.js';
import { MOST_REPEATED, nothingNew } from './played.js';

const TITLES = ['Find out why the login fails', 'Write tests for the session cookie', 'Tell the person what it was'];

const asked = (text: string) => [{ type: 'user', message: { role: 'user', content: text } }];
const times = (text: string, words: string) => text.split(words).length - 1;

test('a plan that was declared, kept as a list of tasks, and entered by calls, is told once; so is each call', async () => {
  const morning = new Morning();
  await morning.planned('Repair the login', TITLES);
  const { text } = await morning.next();
  for (const words of [...TITLES, 'Repair the login', 'npm run a-long-check', 'npm run the-server'])
    expect([words, times(text, words)]).toEqual([words, 1]);
  expect(text).toContain(`[~] 2 "${TITLES[1]}"; in its own list: pending\n`);
  expect(text).toContain('\nNext: step 2, which was in progress\n');
  expect(nothingNew(text)).toBeLessThanOrEqual(MOST_REPEATED);
});

test('a window that is resumed after an answer is told how long it rested, and at once nothing', async () => {
  const morning = new Morning();
  await morning.chat('rain');
  const asked = await morning.session('rain', [], 'orderly', 'resume');
  expect(asked).toMatchObject({ level: 'resumed', text: '' });
  await morning.rest(3);
  const { text } = await morning.session('rain', [], 'orderly', 'resume');
  expect(text).toMatch(/^Session \S+\. It began at \S+; it was active; last activity \S+, 3 h ago\.$/);
  expect(text.length).toBeLessThanOrEqual(MOST_REPEATED);
});

test('a window that is resumed after a crash is told what was open and its next step, each once', async () => {
  const morning = new Morning();
  await morning.planned('Repair the login', TITLES);
  await morning.rest(3);
  const { level, text } = await morning.session('Repair the login', [], 'alive', 'resume');
  expect(level).toBe('resumed');
  for (const words of [TITLES[1] ?? '', 'Repair the login', 'npm run the-server', '3 h ago'])
    expect([words, times(text, words)]).toEqual([words, 1]);
  expect(nothingNew(text)).toBeLessThanOrEqual(MOST_REPEATED);
  // The window beside it hears of it in a sentence.
  expect(nothingNew((await morning.next()).text)).toBeLessThanOrEqual(MOST_REPEATED);
});

test.each(['orderly', 'window'] as const)(
  'a conversation that was resumed after a crash, and left without a word, was interrupted by the crash: %s',
  async (end) => {
    const morning = new Morning();
    await morning.halfWritten('Write the parser', 'kill');
    await morning.session('Write the parser', [], end, 'resume');
    const { text, notice } = await morning.next();
    expect(text).toMatch(
      /^Its agent was cut off: process \d+ was gone in the middle of a turn and had not reported its end, and process \d+ ended at \S+ without going on with it\.$/m,
    );
    expect(text).toContain('Write-the-parser.ts');
    expect(text).not.toContain('An agent of it crashed');
    expect(notice).toContain('Write the parser');
    // One that was asked something else, and was cut off in that, has a turn of its own.
    await morning.running('Run the tests', 'kill');
    await morning.session('Run the tests', [...asked('Go on')], end, 'resume');
    expect((await morning.next()).text).toMatch(/process \d+ ended at \S+, in the middle of a turn\.$/m);
  },
);
