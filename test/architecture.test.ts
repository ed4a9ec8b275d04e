import { describe, expect, test } from '@jest/globals';
import { decisionsIn } from './architecture/composition.js';
import { findViolations } from './architecture/rules.js';
import { readSources } from './architecture/sourceFiles.js';
import { codeOnly, importsOf } from './architecture/sourceText.js';

/** Every file of ours that begins a process or a thread; the last plays the whole part of the scripted agent's program. */
const ENTRY_PROGRAMS = [
  'bridge/cli/main.ts',
  'bridge/cli/program.ts',
  'bridge/cli/quickProgram.ts',
  'bridge/cli/commandLine.ts',
  'bridge/agents/scriptedMain.ts',
  'bridge/agents/claude/claudeMain.ts',
  'bridge/redis/javascriptServerMain.ts',
  'bridge/runs/reaperMain.ts',
  'bridge/health/stallGuardMain.ts',
  'bridge/hook/main.ts',
  'bridge/hook/program.ts',
  'bridge/mcp/program.ts',
  'bridge/agents/scenarioPlayer.ts',
];

// rule: imports-point-inwards
test('the sources follow the rules of the house', () => {
  const sources = readSources(['src', 'memory', 'monitoring', 'bridge']);
  expect(sources.size).toBeGreaterThan(50);
  expect(findViolations(sources, ENTRY_PROGRAMS)).toEqual([]);
});

test('commands print through one function, which lets no name of others forge a line', () => {
  const commands = [...readSources(['bridge'])].filter(([path]) =>
    /^bridge\/(?:cli|command|plugin|doctor)\//.test(path),
  );
  const direct = commands.filter(([, text]) =>
    /\b(?:stdout|stderr)\(|\bprocess\.std(?:out|err)\.write\(/.test(codeOnly(text)),
  );
  // The last is the process's own streams, which all of it goes to.
  const allowed = ['bridge/command/command.ts', 'bridge/cli/commandLine.ts'];
  expect(direct.map(([path]) => path).sort()).toEqual(allowed.sort());
});

// rule: the-assembly-decides-nothing
test('the composition root wires and decides nothing', () => {
  const assembly = [...readSources(['src', 'memory', 'monitoring', 'bridge'])].filter(([path]) =>
    path.startsWith('bridge/assembly/'),
  );
  expect(assembly.length).toBeGreaterThan(5);
  expect(assembly.flatMap(([path, text]) => decisionsIn(path, text))).toEqual([]);
});

describe('a composition root that decides', () => {
  test.each<[string, string[]]>([
    ["const chat = session.status === 'failed' ? router : none;", ['a branch', '`===`']],
    ['if (lease.isActing) watchdog.start();', ['a branch']],
    ['if (settings.health !== null && isFirst) serve(settings.health);', ['a branch', '`&&`']],
    ['for (const service of services) service.start();', ['a loop']],
    ['switch (kind) { case 1: start(); }', ['a switch']],
    ['const isOurs = (lane: string) => !isLost(hostOf(lane));', ['`!`']],
    ['const due = () => clock.now() > until;', ['`>`']],
    ['const ours = projects.filter(isServed);', ['`filter`']],
    ['const url = given || fallback;', ['`||`']],
  ])('is refused: %s', (code, kinds) => {
    expect(decisionsIn('bridge/assembly/a.ts', code)).toEqual(
      kinds.map((kind) => `bridge/assembly/a.ts:1: decides by ${kind}`),
    );
  });

  test.each([
    'const health = settings.health === null ? [] : [new HealthServer(settings.health)];',
    'if (lines !== null && project !== undefined) all.push(new Intake(lines, project));',
    "const writer = terminal ?? { write: () => undefined }; ping?.('a === b');",
  ])('is not one that asks whether something optional is there: %s', (code) => {
    expect(decisionsIn('bridge/assembly/a.ts', code)).toEqual([]);
  });
});

describe('a violation is found', () => {
  test.each<[string, Record<string, string>, string]>([
    [
      'src imports monitoring',
      { 'src/a.ts': "import { b } from '../monitoring/b.js';", 'monitoring/b.ts': '' },
      'point inwards',
    ],
    [
      'monitoring imports bridge',
      { 'monitoring/a.ts': "export * from '../bridge/b.js';", 'bridge/b.ts': '' },
      'point inwards',
    ],
    [
      'src imports bridge lazily',
      { 'src/a.ts': "const b = await import('../bridge/b.js');", 'bridge/b.ts': '' },
      'point inwards',
    ],
    [
      'a type alone is an import too',
      { 'src/a.ts': "import type { B } from '../bridge/b.js';", 'bridge/b.ts': '' },
      'point inwards',
    ],
    [
      'an import over several lines',
      { 'src/a.ts': "import {\n  b,\n  c,\n} from '../bridge/b.js';", 'bridge/b.ts': '' },
      'point inwards',
    ],
    ['product imports tests', { 'src/a.ts': "import '../test/harness/clock.js';" }, 'is no file of'],
    [
      'a circle of three',
      {
        'src/a.ts': "import './b.js';",
        'src/b.ts': "import './c.js';",
        'src/c.ts': "import type { A } from './a.js';",
      },
      'circle of imports: src/a.ts → src/b.ts → src/c.ts → src/a.ts',
    ],
    [
      'two folders that import each other',
      {
        'src/a/one.ts': "import '../b/two.js';",
        'src/b/two.ts': '',
        'src/b/three.ts': "import type { Four } from '../a/four.js';",
        'src/a/four.ts': '',
      },
      'circle of folders: src/a → src/b → src/a',
    ],
    [
      'a folder and the one in it that import each other',
      { 'src/a/one.ts': "import './b/two.js';", 'src/a/b/two.ts': "import '../three.js';", 'src/a/three.ts': '' },
      'circle of folders: src/a → src/a/b → src/a',
    ],
    [
      'session memory that asks Redis',
      { 'memory/a.ts': "import type { Session } from '../src/jobs/model.js';", 'src/jobs/model.ts': '' },
      'memory needs no Redis',
    ],
    [
      'session memory with a client of Redis',
      { 'memory/a.ts': "import { Redis } from 'ioredis';" },
      'memory needs no Redis',
    ],
    [
      'a verdict that asks Redis',
      { 'monitoring/verdict/a.ts': "import '../../src/redis/commit.js';", 'src/redis/commit.ts': '' },
      'a verdict is pure',
    ],
    [
      'a verdict that reads a file',
      { 'monitoring/verdict/a.ts': "import { readFileSync } from 'node:fs';" },
      'is pure',
    ],
    ['an import of itself', { 'src/a.ts': "import './a.js';" }, 'circle of imports'],
    ['an import without its ending', { 'src/a.ts': "import { b } from './b';", 'src/b.ts': '' }, 'does not end in .js'],
    ['a default export', { 'src/a.ts': 'export default function a() {}' }, 'default export'],
    ['a default export by name', { 'src/a.ts': 'const a = 1; export { a as default };' }, 'default export'],
    ['a barrel', { 'src/store/index.ts': '' }, 'no barrels'],
    ['a name without meaning', { 'src/utils.ts': '' }, 'says nothing'],
    ['a folder without meaning', { 'bridge/helpers/a.ts': '' }, 'says nothing'],
    ['a cut of its own', { 'src/a.ts': 'const a = b.slice(0, LONGEST);' }, 'in the middle of a secret'],
    ['a cut at the front', { 'src/a.ts': 'const a = b.subarray(-this.limit);' }, 'in the middle of a secret'],
    ['a cut without redaction', { 'src/a.ts': 'const a = shorten(b, 3);' }, 'not redacted before'],
    ['git by its name', { 'memory/a.ts': "run('git', ['status']);" }, 'starts git'],
    ['git by its path', { 'bridge/a.ts': 'const line = { command: "/usr/bin/git" };' }, 'starts git'],
    ["somebody's machine", { 'src/a.ts': "const logs = '/home/anna/logs';" }, "somebody's machine"],
    ["somebody's machine in a comment", { 'src/a.ts': '// see /work/notes' }, "somebody's machine"],
  ])('%s', (_, files, words) => expectViolation(files, words));

  test.each([
    'const a = process.env.PATH;',
    'process.exit(1);',
    'const { env } = process;',
    "process['env'];",
    'const path = `${process.env.PATH}`;',
    'const half = total / 2; process.exit(half / 2);',
  ])('surroundings: %s', (code) => expectViolation({ 'bridge/a.ts': code }, 'only programs may'));

  test.each([
    'Date.now();',
    'new Date();',
    'new Date;',
    'new Date().toISOString();',
    'String(Date());',
    'performance.now();',
    'setTimeout(work, 1);',
    'const timer = setInterval(work, 1);',
    'await new Promise(setImmediate);',
    'globalThis.setTimeout(work, 1);',
    'AbortSignal.timeout(1000);',
    'process.hrtime.bigint();',
    "import { setTimeout as sleep } from 'node:timers/promises';",
    "import { setTimeout as sleep } from 'timers/promises';",
    "import { performance as p } from 'node:perf_hooks';",
  ])('clock: %s', (code) => expectViolation({ 'monitoring/a.ts': code }, 'take a Clock'));
});

describe('valid source', () => {
  test.each<[string, Record<string, string>]>([
    [
      'bridge imports everything',
      { 'bridge/a.ts': "import './b.js';\nimport '../src/c.js';", 'bridge/b.ts': '', 'src/c.ts': '' },
    ],
    [
      'two ways to one file',
      { 'src/a.ts': "import './b.js'; import './c.js';", 'src/b.ts': "import './c.js';", 'src/c.ts': '' },
    ],
    ['words in comments', { 'src/a.ts': '// process.env, Date.now()\n/* new Date(), export default */' }],
    ['words in texts', { 'src/a.ts': "say('process.exit()'); say(`setTimeout ${1} Date.now()`);" }],
    [
      'words in regular expressions',
      { 'src/a.ts': "const a = /[/'] process.env/; const b = x.replace(/\"Date.now()/g, '');" },
    ],
    ["an instant of one's own", { 'src/a.ts': 'new Date(clock.now()).toISOString();' }],
    ['a kind of workspace', { 'src/a.ts': "const a = b.kind === 'git' ? { kind: 'git' } : null;" }],
    ['the place that starts git', { 'memory/git/gitLine.ts': "return { command: 'git' };" }],
    ['the exit code', { 'src/a.ts': 'child.exitCode; process.exitCode = 1; socket.setTimeout(1);' }],
    ['the clock itself', { 'src/time.ts': 'Date.now(); setTimeout(work, 1); performance.now();' }],
    ['a program', { 'bridge/cli/program.ts': 'process.exit(process.env.X ? 1 : 0);' }],
    [
      'a path of every system',
      { 'src/a.ts': "read('/proc/self/stat'); get('/repos/o/r/work/'); at(homeUrl + 'a/home/b'); // /home/me/x" },
    ],
  ])('%s', (_, files) => {
    const programs = Object.keys(files).filter((path) => path === 'bridge/cli/program.ts');
    expect(findViolations(new Map(Object.entries(files)), programs)).toEqual([]);
  });
});

describe('reading sources', () => {
  test('finds imports regardless of the surrounding text', () => {
    const text = [
      'import a from \'a\'; import * as b from "b";',
      "import c, { type D } from './c.js'; // from './no.js'",
      "export { e } from './e.js'; export const from = 'no';",
      "export const text = `import x from 'no' ${await import('./f.js')}`;",
      "import 'g';",
      "import { h } /* from 'no' */ from 'h';",
    ].join('\n');
    expect(importsOf(text)).toEqual(['a', 'b', './c.js', './e.js', './f.js', 'g', 'h']);
  });

  test('blanking keeps every position', () => {
    const text = "a('é😀'); // 😀\nb(/[/]'/, `x${ {y: '}'} }z`);";
    const code = codeOnly(text);
    expect(code).toHaveLength(text.length);
    expect(code.replace(/ +/g, ' ')).toBe("a(' '); \nb(/ /, ` ${ {y: ' '} } `);");
  });
});

function expectViolation(files: Record<string, string>, words: string): void {
  const found = findViolations(new Map(Object.entries(files)), []);
  expect(found).toEqual(expect.arrayContaining([expect.stringContaining(words)]));
}
