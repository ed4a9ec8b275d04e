/** The help of one word of a command, such as `step` of `track`. */

/** @returns the part about the word; the whole help if it is none of the command's */
export function helpOfWord(help: string, word: string | undefined): string {
  const [usage = '', , words = '', ...rest] = help.split('\n\n');
  const [name] = usage.split(' WORD ');
  if (word === undefined || name === usage) return help;
  const own = words.split(/\n(?= {2}\S)/).filter((part) => firstOf(part) === word || part.includes(`(also: ${word})`));
  if (own.length === 0) return help;
  const common = rest.map((paragraph) => withoutOthers(paragraph, word)).filter((paragraph) => paragraph !== '');
  const all = `${name?.replace('usage: ', 'all words: ')} --help`;
  return [usage.replace(' WORD ', ` ${word} `), own.join('\n'), ...common, all].join('\n\n');
}

function firstOf(part: string): string | undefined {
  return part.trim().split(/\s/)[0];
}

/** @returns a paragraph with only the word's own examples; empty if there are none */
function withoutOthers(paragraph: string, word: string): string {
  const [title = '', ...examples] = paragraph.split('\n');
  if (title !== 'examples:') return paragraph;
  const own = examples.filter((line) => firstOf(line.trim().split(' ').slice(2).join(' ')) === word);
  return own.length === 0 ? '' : [title, ...own].join('\n');
}
