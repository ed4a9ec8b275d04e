/**
 * Layouts in which a private key was printed after the rule for its lines was written. They measure what the rule does with a layout
 * that it does not know.
 */

/** Prints the lines of a key. */
export type Layout = (lines: readonly string[]) => string;

const joined =
  (write: (line: string, index: number) => string, end = '\n') =>
  (lines: readonly string[]) =>
    lines.map(write).join(end);
const prefixed = (prefix: string) => joined((line) => prefix + line);
const json = (value: object | string) => JSON.stringify(value);
const hash = (index: number) => (0x9e3779b1 * (index + 7)).toString(16).slice(1, 9);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const wrapped = (text: string, width: number) => (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).join('\n');

/** Another program writes into the same terminal or log. */
const OTHER_LINES = ['GET /health 200 3ms', 'cache: 1,204 hits', 'compacted 12 segments into 1', 'tick'];
const other = (index: number) => OTHER_LINES[index % OTHER_LINES.length] ?? '';

export const LATER_LAYOUTS: Readonly<Record<string, Layout>> = {
  'git blame': joined((line, index) => `${hash(index >> 2)} (Otter 2026-11-27 23:18:10 +0100 ${index + 1}) ${line}`),
  'git grep of a revision': joined((line, index) => `HEAD~2:config/tls.pem:${index + 1}:${line}`),
  'search with columns': joined((line, index) => `${index + 1}:1:${line}`),
  'logs of Kubernetes': joined(
    (line, index) => `[pod/app-6d4f9-xk2lp/app] 2026-11-27T23:18:10.${100_000 + index * 37}Z ${line}`,
  ),
  'log of a workflow': joined((line, index) => `build\tRun tests\t2026-11-27T23:18:10.${1_000_000 + index}Z ${line}`),
  'log with another program between': joined((line, index) =>
    index % 3 === 2 ? `db-1   | ${other(index)}\napp-1  | ${line}` : `app-1  | ${line}`,
  ),
  'log with request ids': joined((line, index) => `level=info msg="${line}" id=${hash(index)}`),
  'log with levels in turn': joined((line, index) => `[${['INFO', 'WARN', 'DEBUG'][index % 3]}] ${line}`),
  'strings of PHP': joined((line) => `$key .= "${line}\\n";`),
  'strings of PowerShell': joined((line) => `$key += "${line}\`n"`),
  'strings of Basic': joined((line) => `    "${line}" & vbCrLf & _`),
  'rows of SQL': joined((line, index) => `INSERT INTO lines VALUES (${index + 1}, '${line}');`),
  'text of SQL': joined((line) => `'${line}' || chr(10) ||`),
  'macro of Rust': joined((line) => `        "${line}\\n",`),
  'commented strings of C': joined((line, index) => `  /* ${index} */ "${line}\\n"`),
  'elements of XML': joined((line, index) => `<line no="${index + 1}">${line}</line>`),
  'attribute of XML': joined((line) => line, '&#10;'),
  'attribute of XML, hexadecimal': joined((line) => line, '&#xA;'),
  'in HTML-escaped quotes': joined((line) => `&quot;${line}\\n&quot; +`),
  'HTML-escaped quote of a mail': prefixed('&gt; '),
  'narrow terminal': joined((line) => line.replace(/.{30}(?=.)/g, '$&\n')),
  'terminal beside another': joined((line, index) => `${line.padEnd(70)} │ ${other(index)}`),
  'terminal behind another': joined((line, index) => `${other(index).padEnd(30)} │ ${line}`),
  'plan of Terraform': joined((line) => `          + ${line}`),
  'words of a diff': joined((line) => `{+${line}+}`),
  'two columns of diff': joined((line) => `${line}\t${line}`),
  'read by strace': joined((line, index) => `[pid ${4000 + (index % 2)}] write(1, "${line}\\n", 65) = 65`),
  'ends of Windows as signs': joined((line) => `${line}^M`),
  'ends of lines as signs': joined((line) => line, '⏎'),
  'ends of lines as pictures': joined((line) => line, '␊'),
  'ends of lines in octal': joined((line) => line, '\\012'),
  'ends of lines in hex': joined((line) => line, '\\x0a'),
  'ends of lines as Unicode': joined((line) => line, '\\u000a'),
  'ends of Windows in JSON': (lines) => json({ key: lines.join('\r\n') }),
  'log of Docker': joined((line, index) =>
    json({ log: `${line}\n`, stream: 'stdout', time: `2026-11-27T23:18:10.${index}Z` }),
  ),
  'in a box': joined((line) => `║ ${line.padEnd(72)} ║`),
  'behind a picture': prefixed('🔑 '),
  'lines of LaTeX': joined((line) => `${line} \\\\`),
  'numbers behind': joined((line, index) => `${line}    # ${index + 1}`),
  'last line first': (lines) => [...lines].reverse().join('\n'),
  'in base64': (lines) => `  tls.key: ${base64(`${lines.join('\n')}\n`)}`,
  'in wrapped base64': (lines) => wrapped(base64(`${lines.join('\n')}\n`), 76),
  'as fields': (lines) => json(lines.map((text, line) => ({ line, text }))),
  'list of YAML': joined((line) => `  - '${line}' # of the otter`),
  'one word per span': joined((line, index) => `<tr><td>${index + 1}</td><td><code>${line}</code></td></tr>`),
  'quoted list in a quoted list': prefixed('> - > '),
  'superfluous line ends': joined((line) => line, '\n\n\n'),
};
