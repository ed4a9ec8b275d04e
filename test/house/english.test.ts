import { describe, expect, test } from '@jest/globals';
import { readSources } from '../architecture/sourceFiles.js';
import { type Comment, commentsIn, findingsIn, PATTERNS, ratesOf } from './english.js';
import { textsOf } from './figures.js';

describe('the patterns of English', () => {
  test.each<[string, string, string[]]>([
    [
      'subject',
      'Whoever starts next reads it. What a run wrote is kept.',
      ['Whoever starts next reads it', 'What a run wrote is kept'],
    ],
    ['subject', '@returns what is left', []],
    ['subject', '@returns What is left', ['@returns What is left']],
    ['subject', 'The reader: Who goes first is asked.', ['Who goes first is asked']],
    ['subject', 'The agent who wrote it ends. What is a run?', []],
    ['nobody', 'Nobody reads it, but somebody may.', ['Nobody reads it, but somebody may', 'somebody may']],
    ['nobody', 'The reader and any body of a request.', []],
    ['of which', 'Two files, of which one is kept.', ['of which one is kept']],
    ['of which', 'the agent in whose folder it lies', ['in whose folder it lies']],
    ['of which', 'the file which is kept', []],
    ['null:', '@returns the line; null: there is none', ['null: there is none']],
    ['null:', '@returns the line; null if there is none', []],
    ['go on', 'It went on. Going on is right.', ['went on', 'Going on is right']],
    ['go on', 'It resumes, and is gone once.', []],
    ['fragment', 'Of two lines, the last counts.', ['Of two lines, the last counts']],
    ['fragment', 'The last of two lines. Offers count.', []],
    [
      'anew',
      'Begins anew beside it; it has been so since.',
      ['anew beside it; it has been so since', 'beside it; it has been so since', 'since'],
    ],
    ['anew', 'next to it, since the start', []],
    ['told', 'The person is told of it.', ['told of it']],
    ['told', 'It totals and stellar.', []],
  ])('%s: %s', (name, text, found) => {
    const pattern = PATTERNS.find((each) => each.name.includes(name));
    if (pattern === undefined) throw new Error(`there is no pattern ${name}`);
    expect(findingsIn({ line: 1, text }, pattern)).toEqual(found);
  });

  test('are counted per 1,000 words of comments, in the order of the patterns', () => {
    const source = "// One two three four five six seven eight nobody ten.\nconst nobody = 'nobody goes on';";
    const rates = PATTERNS.map(({ name }) => (name.startsWith('nobody') ? 100 : 0));
    expect(ratesOf([source])).toEqual(rates);
    expect(ratesOf([source, '/** One two three four five six seven eight nine ten. */'])).toEqual(
      rates.map((rate) => rate / 2),
    );
    expect(ratesOf(['const a = 1;'])).toEqual(PATTERNS.map(() => 0));
  });
});

test.each(['src', 'memory', 'monitoring', 'bridge'])('the comments of %s keep each pattern rare', (ring) => {
  const rates = ratesOf(textsOf(readSources([ring]), ring));
  // The goal of `npm run house`; `npm run prove -- house --english PATH` names the places.
  expect(PATTERNS.map(({ name }) => name).filter((_, index) => (rates[index] ?? 0) > 0.5)).toEqual([]);
});

describe('comments', () => {
  test('are read without their signs; lines that follow each other are one', () => {
    const source = [
      '/**',
      ' * A file that',
      ' * `nobody` reads.',
      ' */',
      "const url = 'http://nobody.example'; // at its end",
      '',
      '  // Two lines',
      '  // are one.',
      '/* last */',
    ].join('\n');
    expect(commentsIn(source).map(asOneLine)).toEqual([
      { line: 1, text: 'A file that code reads.' },
      { line: 5, text: 'at its end' },
      { line: 7, text: 'Two lines are one.' },
      { line: 9, text: 'last' },
    ]);
  });
});

function asOneLine({ line, text }: Comment): Comment {
  return { line, text: text.replace(/\s+/g, ' ') };
}
