/** Programs start from the code that the build kept, and from none that is damaged. */
import { isAscii } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { compiledProgram, packageRoot } from '../../../src/host/program.js';
import { testFolder } from '../../harness/folder.js';
import { everythingBelow } from '../../secrets/planted.js';
import { watchkeeper } from '../cli/program.js';
import { HOOK_FLAGS } from '../hook/hookScene.js';

// covers: bridge/command/compiled.ts

const PROGRAMS = ['cli/program', 'cli/quickProgram', 'hook/program', 'mcp/program', 'mcp/library', 'mcp/calls'];
const [CLI = '', QUICK = '', HOOK = '', SERVER = '', LIBRARY = '', CALLS = ''] = PROGRAMS.map((program) =>
  join(compiledProgram('bridge/cli/main'), '../..', `${program}.cjs`),
);
const HOOKS = join(packageRoot(), 'plugin/hooks/hooks.json');
const MODULE = compiledProgram('bridge/command/compiled');

/**
 * In one process of its own: a flag of V8 that another test has set here would have it compile everything anew.
 * @param programs each with its code; V8 compiles the same file only once in a process
 */
function startCompiled(programs: readonly (readonly [string, string])[], flags: readonly string[] = []): boolean[] {
  const code = `import { compiledScript } from ${JSON.stringify(MODULE)};
    const started = ${JSON.stringify(programs)}.map(([program, kept]) => compiledScript(program, kept).cachedDataRejected === false);
    console.log(JSON.stringify(started));`;
  const args = [...flags, '--input-type=module', '--eval', code];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

const withCache = (program: string) => [program, `${program}.cache`] as const;

function copyWith(change: (cache: string) => void): string {
  const copy = join(testFolder(), 'program.cjs');
  for (const end of ['', '.cache']) copyFileSync(`${CLI}${end}`, `${copy}${end}`);
  change(`${copy}.cache`);
  return copy;
}

/** @returns a module that lets the program fail when it prints */
function thrower(): string {
  const path = join(testFolder(), 'thrower.cjs');
  writeFileSync(path, "process.stdout.write = () => { console.error(new Error('here').stack); };");
  return path;
}

function flipBit(path: string): void {
  const bytes = readFileSync(path);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

test('the command line, the MCP server and its parts start from the code that the build kept', () => {
  const programs = [CLI, QUICK, SERVER, LIBRARY, CALLS];
  expect(startCompiled(programs.map(withCache))).toEqual(programs.map(() => true));
});

const EVENTS = Object.keys(JSON.parse(readFileSync(HOOKS, 'utf8')).hooks);
const hookWith = (event: string) => [HOOK, join(HOOK, `../${event}.cache`)] as const;

test.each(EVENTS)('so does the hook for %s', (event) => {
  expect(startCompiled([hookWith(event)], HOOK_FLAGS)).toEqual([true]);
});

test('with other flags V8 takes none of the code of a hook', () => {
  expect(startCompiled([hookWith(EVENTS[0] ?? '')])).toEqual([false]);
});

test.each([CLI, QUICK, HOOK])('a letter of %s is a byte', (path) => {
  expect(isAscii(readFileSync(path))).toBe(true);
});

test('letters of all languages in the product mean in its programs what they mean in its sources', () => {
  const folder = testFolder();
  const secret = 'âhunter2Secret9xyz';
  const said = watchkeeper(folder, ['track', 'note', '--workspace', `password=${secret} password=••••••••`], {
    WATCHKEEPER_HOME: join(folder, 'home'),
  });
  expect(said.err).toBe('');
  const noted = [...everythingBelow(join(folder, 'home')).values()].join('\n');
  expect(Buffer.from(noted, 'latin1').toString('utf8')).toContain('password=[redacted:value] password=••••••••');
});

test.each([
  ['bridge', 'program'],
  ['--version', 'quickProgram'],
  ['track', 'quickProgram'],
])(
  'a stack trace names the program of %s by its path below the build, wherever the package lies',
  (command, program) => {
    const words = ['--stack-trace-limit=50', '--require', thrower(), compiledProgram('bridge/cli/main'), command];
    const { stderr } = spawnSync(process.execPath, [...words, '--help'], { encoding: 'utf8' });
    expect(stderr).toContain(`(bridge/cli/${program}.cjs:`);
  },
);

test.each(['cli/program.cjs', 'cli/quickProgram.cjs', 'hook/SessionStart'])(
  'the kept code of %s says nothing of where it was built',
  (path) => {
    const kept = readFileSync(join(CLI, '../..', `${path}.cache`), 'latin1');
    for (const place of [packageRoot(), '.builds', 'wk-build-'])
      expect([place, kept.includes(place)]).toEqual([place, false]);
  },
);

test('code of another Node is left alone, even if V8 would take it', () => {
  const nameOf = (cache: string) => readFileSync(cache, 'latin1').split('\n', 1)[0] ?? '';
  const rename = (name: string) => (cache: string) => {
    const bytes = readFileSync(cache);
    writeFileSync(cache, Buffer.concat([Buffer.from(name), bytes.subarray(nameOf(cache).length)]));
  };
  const own = nameOf(`${CLI}.cache`);
  expect(own).toBe(`${process.version} ${process.arch} ${statSync(process.execPath).size}`);
  const others = [
    own.replace(/^v\d+\.\d+\.\d+/, 'v20.20.1'),
    own.replace(process.arch, 'arm64'),
    own.replace(/\d+$/, '1'),
  ];
  expect(others).not.toContain(own);
  const copies = [own, ...others].map((name) => withCache(copyWith(rename(name))));
  expect(startCompiled(copies)).toEqual([true, false, false, false]);
});

test('code that is damaged, cut off or gone is left alone', () => {
  const changes = [() => undefined, flipBit, (path: string) => truncateSync(path, 100), (path: string) => rmSync(path)];
  const copies = changes.map((change) => withCache(copyWith(change)));
  expect(startCompiled(copies)).toEqual([true, false, false, false]);
});
