/**
 * Private keys as agents print them: kinds of keys × layouts × cuts. None is real: the bytes are random, behind those with which each
 * kind begins.
 */
import { type Random, seededRandom } from '../src/journal/random.js';

export interface KeyForm {
  readonly name: string;
  readonly text: string;
  /** The lines of its body. */
  readonly body: readonly string[];
}

interface Key {
  readonly first: string;
  readonly headers: readonly string[];
  readonly body: readonly string[];
  readonly last: string;
}

/** What a layout prints before a line. */
const LONGEST_PREFIX = 60;
/** Fewer characters of a key in a row open nothing. */
const PIECE = 8;

type Layout = (lines: readonly string[]) => string;

/** Marks are put together here, so that no scanner takes them for real. */
const mark = (word: 'BEGIN' | 'END', kind: string) => `-----${word} ${kind}-----`;

function key(random: Random, kind: string, lines: number, begins = '', width = 64): Key {
  const bytes = Buffer.concat([
    Buffer.from(begins, 'base64'),
    Buffer.from(Array.from({ length: Math.ceil(width * (lines - 0.4) * 0.75) }, () => random.below(256))),
  ]);
  const body = bytes.toString('base64').match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
  return { first: mark('BEGIN', kind), headers: [], body, last: mark('END', kind) };
}

const PRIVATE = ['PRIVATE', 'KEY'].join(' ');
const KEYS: Readonly<Record<string, (random: Random) => Key>> = {
  rsa: (random) => key(random, `RSA ${PRIVATE}`, 25, 'MIIEpAIBAAKCAQEA'),
  ec: (random) => key(random, `EC ${PRIVATE}`, 3, 'MHcCAQEEI'),
  openssh: (random) => key(random, `OPENSSH ${PRIVATE}`, 6, 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE', 70),
  pkcs8: (random) => key(random, PRIVATE, 27, 'MIIEvQIBADANBgkq'),
  encrypted: (random) => key(random, `ENCRYPTED ${PRIVATE}`, 30, 'MIIFHDBOBgkqhkiG'),
  'with headers': (random) => ({
    ...key(random, `RSA ${PRIVATE}`, 13),
    headers: ['Proc-Type: 4,ENCRYPTED', 'DEK-Info: AES-128-CBC,0123456789ABCDEF0123456789ABCDEF', ''],
  }),
  pgp: (random) => ({
    ...key(random, `PGP ${PRIVATE} BLOCK`, 40, 'lQOYBGA'),
    headers: ['Version: GnuPG v2', 'Comment: of the otter', ''],
  }),
  '400 lines': (random) => key(random, `RSA ${PRIVATE}`, 400, 'MIIEpAIBAAKCAQEA'),
};

const json = (text: string) => JSON.stringify(text);
const joined =
  (write: (line: string, index: number) => string, end = '\n') =>
  (lines: readonly string[]) =>
    lines.map(write).join(end);
const prefixed = (prefix: string) => joined((line) => prefix + line);

/** How a text is printed. */
export const LAYOUTS: Readonly<Record<string, Layout>> = {
  plain: prefixed(''),
  'line ends of Windows': joined((line) => line, '\r\n'),
  indented: prefixed('        '),
  'indented with tabs': prefixed('\t\t'),
  'double spaced': joined((line) => line, '\n\n'),
  'removed from a file': prefixed('-'),
  'added to a file': prefixed('+'),
  'unchanged in a diff': prefixed(' '),
  'removed in a diff of a diff': prefixed('--'),
  'added removed line': prefixed('+-'),
  'removed added line': prefixed('-+'),
  'diff in colours': joined((line) => `\u001b[31m-${line}\u001b[m`),
  'diff of words': joined((line) => `[-${line}-]`),
  'side by side': joined((line) => `${line.padEnd(72)} <`),
  quoted: prefixed('> '),
  'quoted twice': prefixed('>> > '),
  'comment #': prefixed('# '),
  'comment //': prefixed('// '),
  'comment *': joined((line) => ` * ${line}`),
  'comment --': prefixed('-- '),
  'comment ;': prefixed(';'),
  'comment in HTML': joined((line) => `<!-- ${line} -->`),
  'cat -n': joined((line, index) => `${String(index + 1).padStart(6)}\t${line}`),
  'cat -A': joined((line) => `${line}$`),
  'grep -n': joined((line, index) => `${index + 1}:${line}`),
  'grep -n with context': joined((line, index) => `${index + 1}-${line}`),
  'grep -Hn': joined((line, index) => `config/tls/server.pem:${index + 1}:${line}`),
  'arrow of an agent': joined((line, index) => `${String(index + 1).padStart(6)}→${line}`),
  'bar of a viewer': joined((line, index) => `${String(index + 1).padStart(4)} │ ${line}`),
  'stamp of a log': joined(
    (line, index) => `2026-11-27T23:18:${String(10 + (index % 50))}.${100 + index}Z INFO  ${line}`,
  ),
  'journal of a system': joined((line, index) => `Nov 27 23:18:${10 + (index % 50)} host app[4469]: ${line}`),
  'output of compose': prefixed('app-1  | '),
  'lines of JSON': joined((line, index) => json({ level: 'info', time: 1_793_000_000 + index, msg: line } as never)),
  'in JSON': (lines) => json({ key: lines.join('\n') } as never),
  'in JSON in JSON': (lines) => json({ out: json({ key: lines.join('\n') } as never) } as never),
  'in JSON three times': (lines) => json({ a: json({ b: json(lines.join('\n')) } as never) } as never),
  'diff of a diff in JSON in JSON': (lines) => json(json(lines.map((line) => `+-${line}`).join('\n'))),
  'colours in JSON': (lines) => json(lines.map((line) => `\u001b[32m${line}\u001b[0m`).join('\n')),
  'diff in colours in JSON in JSON': (lines) =>
    json(json(lines.map((line) => `\u001b[31m-${line}\u001b[m`).join('\n'))),
  'listing in JSON': (lines) => json(lines.map((line, index) => `${index + 1}\t${line}`).join('\n')),
  'list in JSON': (lines) => json(lines as never),
  'list in JSON, pretty': (lines) => JSON.stringify({ key: lines }, null, 2),
  'slashes escaped': (lines) => json(lines.join('\n')).replaceAll('/', '\\/'),
  'signs escaped': (lines) => json(lines.join('\n')).replaceAll('+', '\\u002b').replaceAll('=', '\\u003d'),
  'list of Python': joined((line) => `    "${line}",`),
  'strings of Python': joined((line) => `    '${line}\\n'`),
  'strings of JavaScript': joined((line) => `  '${line}\\n' +`),
  'strings of Java': joined((line) => `        + "${line}\\n"`),
  'template of JavaScript': (lines) => `const key = \`${lines.join('\n')}\`;`,
  'lines of C': joined((line) => `"${line}\\n" \\`),
  'trailing backslash': joined((line) => `${line} \\`),
  'trailing backslash and n': joined((line) => `${line}\\n\\`),
  'variable of an environment': (lines) => `TLS_KEY="${lines.join('\\n')}"`,
  'here-document': (lines) => `cat > k.pem <<'EOF'\n${lines.join('\n')}\nEOF`,
  'block of YAML': (lines) => `data:\n  tls.key: |\n${lines.map((line) => `    ${line}`).join('\n')}`,
  'folded YAML with numbers': joined((line, index) => `${index + 40}      ${line}`),
  'text of TOML': (lines) => `key = """\n${lines.join('\n')}"""`,
  'table of Markdown': joined((line, index) => `| ${index + 1} | ${line} |`),
  'code of Markdown': (lines) => `\`\`\`pem\n${lines.join('\n')}\n\`\`\``,
  'list of Markdown': prefixed('- '),
  'line breaks of HTML': joined((line) => line, '<br>\n'),
  'line breaks of HTML in one line': joined((line) => line, '<br/>'),
  'lines of HTML': joined((line, index) => `<td id="L${index + 1}">${line}</td>`),
  'coloured code of HTML': joined((line) => `<span class="hljs-string">${line}</span>`),
  'in an address': (lines) => `k=${encodeURIComponent(lines.join('\n'))}`,
  'fields of CSV': joined((line, index) => `${index + 1},"${line}",x`),
  'line with spaces': joined((line) => line, ' '),
  'output of a debugger': joined((line, index) => `  [${index}] => ${line}`),
  'each in its call': joined((line) => `  key.push("${line}");`),
  'echoes of a shell': joined((line) => `+ echo ${line}`),
  'output of diff': prefixed('< '),
};

interface Printed {
  readonly text: string;
  /** Positions in it. */
  readonly lines: readonly number[];
  readonly body: readonly string[];
}

/** Of a printed key; all but the first leave something out. */
export const CUTS: Readonly<Record<string, (printed: Printed) => string>> = {
  whole: ({ text }) => text,
  'first line missing': ({ text, lines }) => text.slice(lineBegin(text, lines[0] ?? 0)),
  'last line missing': ({ text, lines, body }) => text.slice(0, (lines.at(-1) ?? 0) + (body.at(-1) ?? '').length),
  'first lines cut within a line': ({ text, lines }) => text.slice((lines[1] ?? 0) + 11),
  'last lines cut within a line': ({ text, lines }) => text.slice(0, (lines.at(-2) ?? 0) + 39),
  'cut within the last line': ({ text, lines, body }) =>
    text.slice(0, text.indexOf('-----END', (lines.at(-1) ?? 0) + (body.at(-1) ?? '').length) + 17),
};

/** Of a text in one line it is the position itself. */
function lineBegin(text: string, at: number): number {
  const begin = text.lastIndexOf('\n', at) + 1;
  return at - begin > LONGEST_PREFIX ? at : begin;
}

/** @returns each layout with each cut, with the kinds of keys in turn */
export function keyForms(seed: number, layouts = LAYOUTS): KeyForm[] {
  const random = seededRandom(seed);
  const kinds = Object.entries(KEYS);
  let turn = seed;
  return Object.entries(layouts).flatMap(([layout, print]) =>
    Object.entries(CUTS).flatMap(([cut, apply]) => {
      const [kind, make] = kinds[turn++ % kinds.length] ?? [];
      if (kind === undefined || make === undefined) throw new Error('there are no kinds');
      const { first, headers, body, last } = make(random);
      const text = print([first, ...headers, ...body, last]);
      const lines = positions(text, body);
      if (lines === null && cut !== 'whole') return [];
      return { name: `${kind} key, ${layout}, ${cut}`, text: apply({ text, lines: lines ?? [], body }), body };
    }),
  );
}

/** @returns where each line of the body begins in the printed text; null if it is in other letters or another order */
function positions(text: string, body: readonly string[]): number[] | null {
  let at = 0;
  const found = body.map((line) => {
    // What is in all layouts: they escape signs, or begin a new line.
    const position = text.indexOf(/[A-Za-z0-9]{5,8}/.exec(line)?.[0] ?? line, at);
    at = position + 1;
    return position;
  });
  return found.includes(-1) ? null : found;
}

/** @returns how many pieces of the key's body of eight characters can be read */
export function legiblePieces({ body }: KeyForm, shown: string): number {
  const pieces = new Set(
    body.flatMap((line) =>
      Array.from({ length: Math.max(0, line.length - PIECE + 1) }, (_, at) => line.slice(at, at + PIECE)),
    ),
  );
  let count = 0;
  for (let at = 0; at + PIECE <= shown.length; at += 1) if (pieces.has(shown.slice(at, at + PIECE))) count += 1;
  return count;
}
