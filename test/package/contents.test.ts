/** What a package holds: all that a user needs, nothing of the place that it was made in, and the same however it is packed. */
import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/host/program.js';
import { anchorsOf, codeSpans, linksIn } from '../docs/markdown.js';
import { testFolder } from '../harness/folder.js';
import { type Packed, pack, packCheckout, unpack } from './packing.js';

const ROOT = packageRoot();
const LIMIT_MS = 120_000;
/** Some times what it is: a build must not slip in, nor the tests. */
const LARGEST_BYTES = 40 * 1024 * 1024;

let packed: Packed;
let folder: string;
beforeAll(async () => {
  packed = await packCheckout();
  folder = unpack(packed, testFolder());
}, LIMIT_MS);

test(
  'a package is the same with and without scripts, and packing leaves the checkout as it is',
  () => {
    const before = checkout();
    const withScripts = pack(ROOT, testFolder());
    expect(withScripts.files).toEqual(packed.files);
    expect(withScripts.integrity).toBe(packed.integrity);
    expect(checkout()).toEqual(before);
  },
  LIMIT_MS,
);

test('has the programs that the launchers start, and those that the programs start', () => {
  const build = join(ROOT, '.builds/current');
  const programs = readdirSync(join(build, 'bridge'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\b(?:main|\w+Main)\.js$|\.cjs$|\.cache$|flags$/.test(path),
  );
  expect(programs.length).toBeGreaterThan(15);
  for (const path of [...programs.map((program) => `bridge/${program}`), 'demo/main.js', 'demo/sweeperMain.js'])
    expect([path, readFileSync(join(folder, 'dist', path)).equals(readFileSync(join(build, path)))]).toEqual([
      path,
      true,
    ]);
});

test.each([
  '.env.example',
  'watchkeeper.config.example.json',
  'deploy/watchkeeper.service',
  'CHANGELOG.md',
  'LICENSE',
  'docs/images/demo.png',
  'docs/design.md',
  'docs/rules.txt',
])('has %s', (path) => {
  expect(readFileSync(join(folder, path)).equals(readFileSync(join(ROOT, path)))).toBe(true);
});

describe('the documents of a package', () => {
  const documents = () => packed.files.filter((path) => path.endsWith('.md'));
  const targetsIn = (document: string) =>
    linksIn(read(document)).map((link) => {
      const [path = '', anchor] = link.split('#');
      return { link, path: path === '' ? document : normalize(join(dirname(document), path)), anchor };
    });

  test('link to nothing that is not in it', () => {
    expect(documents().length).toBeGreaterThan(30);
    const missing = documents().flatMap((document) =>
      targetsIn(document)
        .filter(({ path, anchor }) => !has(path) || (anchor !== undefined && !anchorsOf(read(path)).includes(anchor)))
        .map(({ link }) => `${document}: ${link}`),
    );
    expect(missing).toEqual([]);
  });

  test('are all that the product names in its messages', () => {
    const programs = packed.files.filter((path) => /^dist\/bridge\/.*\.(?:js|cjs)$/.test(path));
    const named = new Set(programs.flatMap((path) => read(path).match(/\b(?:docs|logs)\/[\w-]+\.md\b/g) ?? []));
    expect(named.size).toBeGreaterThan(3);
    expect([...named].filter((path) => !has(path))).toEqual([]);
  });

  test('say which files are in it', () => {
    const cells = [...read('docs/installation.md').matchAll(/^\| (`.*?) \|/gm)].map(([, cell = '']) => cell);
    const named = cells.flatMap(codeSpans).filter((path) => !path.startsWith('~'));
    expect(named.length).toBeGreaterThan(6);
    expect(named.filter((path) => !has(path.replace(/\/$/, '')))).toEqual([]);
  });
});

test('needs no other package, and no script of it runs where it is installed', () => {
  const { dependencies, optionalDependencies, peerDependencies, scripts } = JSON.parse(read('package.json'));
  expect({ dependencies, optionalDependencies, peerDependencies }).toEqual({});
  expect(Object.keys(scripts).filter((name) => /^(?:pre|post)?install$|^prepare$/.test(name))).toEqual([]);
});

test('names each library whose code is in it, with its version and its licence', () => {
  const { devDependencies } = JSON.parse(read('package.json'));
  const licences = read('dist/third-party-licenses.txt');
  const libraries = [
    '@octokit/rest',
    'bullmq',
    'croner',
    'emulate',
    'grammy',
    'ioredis',
    'js-redis-server',
    'pino',
    'zod',
  ];
  for (const name of libraries) expect(licences).toContain(`\n${name} ${devDependencies[name]}: `);
  const [, ...sections] = licences.split(/^-{80}$/m);
  expect(sections.length).toBeGreaterThan(30);
  const without = sections.filter((section) => section.trim().split('\n').length < 3);
  expect(without.map((section) => section.trim())).toEqual([]);
});

test('says nothing of the place in which it was made, and is no larger than it has to be', () => {
  let size = 0;
  for (const path of packed.files) {
    const content = readFileSync(join(folder, path));
    size += content.length;
    for (const place of [ROOT, '.builds/2'])
      expect([path, place, content.includes(place)]).toEqual([path, place, false]);
  }
  expect(size).toBeLessThan(LARGEST_BYTES);
});

test('keeps the modes of what is started', () => {
  const started = [
    'bin/watchkeeper',
    'bin/session-tracker',
    'plugin/bin/watchkeeper',
    'plugin/hooks/run',
    'deploy/container-entrypoint',
  ];
  for (const path of started) expect([path, statSync(join(folder, path)).mode & 0o111]).toEqual([path, 0o111]);
});

test('cannot be made where there is nothing to build with, unless scripts are ignored; then its launcher says what is wrong', () => {
  const bare = unpack(packed, join(testFolder(), 'bare'));
  spawnSync('rm', ['-r', join(bare, 'dist')]);
  spawnSync('cp', [join(ROOT, 'build.mjs'), bare]);
  expect(() => pack(bare, testFolder())).toThrow(/TypeScript, esbuild or the sources are missing/);
  const incomplete = unpack(pack(bare, testFolder(), '--ignore-scripts'), testFolder());
  const { status, stderr } = spawnSync(join(incomplete, 'bin/watchkeeper'), ['sessions'], { encoding: 'utf8' });
  const words = `the package in ${incomplete} is incomplete: it lacks dist/; install it again, from a tarball that has it`;
  expect([status, stderr]).toEqual([1, `watchkeeper: ${words}\n`]);
});

function has(path: string): boolean {
  return packed.files.some((file) => file === path || file.startsWith(`${path}/`));
}

function read(path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}

/** What must not change: the links and folders by which the checkout finds its programs. */
function checkout(): object {
  const { ino, mtimeMs } = lstatSync(join(ROOT, 'dist'));
  return {
    ino,
    mtimeMs,
    build: readlinkSync(join(ROOT, '.builds/current')),
    builds: readdirSync(join(ROOT, '.builds')),
  };
}
