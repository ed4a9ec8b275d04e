// Compiles the sources into a folder below .builds/, to which the link .builds/current leads. A build is made aside and the link
// changed in one step, so a process runs one build from beginning to end, and one that fails or is broken off changes nothing.
// The product's programs become bundles: Node takes twice as long to load a bridge from its 500 modules as from a few files.
// dist/ gets a copy of the programs, because `npm pack` follows no link; docs/internals/processes.md, "Builds", says more.
// Where the sources are those of the present build, there is nothing to do.
// --if-possible, which npm calls at the end of an install, leaves quietly where the compiler or the sources are absent: `npm ci
// --omit=dev`. (It is `postprepare`, because npm warns of each package with a script named `prepare`, though it runs none of them.)
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Of the builds that came before, besides those from which a process runs. */
const KEPT = 5;
/** What the launcher of the plugin starts. */
const HOOK = 'hook/main.js';
/** What is compiled to the end. */
const HOOK_PROGRAM = 'hook/program.js';
/** What the plugin starts as the MCP server, its program, the parts that it loads at the first call, and the list of its tools. */
const SERVER = 'mcp/main.js';
const SERVER_PROGRAM = 'mcp/program.js';
const SERVER_LIBRARY = 'mcp/library.js';
const SERVER_CALLS = 'mcp/calls.js';
const SERVER_PARTS = [SERVER_PROGRAM, SERVER_LIBRARY, SERVER_CALLS];
const TOOL_LIST = 'mcp/tools.json';
/** A module of the library that the server does without, and what takes its place in that part. */
const SHIMS = ['@modelcontextprotocol/server/_shims', 'mcp/shims.js'];
/** Of the command line, with the commands that each runs meanwhile. Help loads all that its command needs. */
const CLI_PROGRAMS = {
  'cli/program.js': [
    ['bridge', '--help'],
    ['doctor', '--help'],
  ],
  'cli/quickProgram.js': [
    ['sessions'],
    ['events'],
    ['work', 'list'],
    ['track', 'init', 'a', '--step', 'b'],
    ['track', 'step', '1', '--start'],
    ['track', 'status'],
    ['track', 'done'],
  ],
};
/** Modules that are made into programs, by their names. */
const MAIN = /\b(main|\w+Main)\.js$/;
/** The demo runs on parts of the tests. Its programs get a folder of their own. */
const DEMO_PROGRAMS = ['test/demo/main.js', 'test/e2e/sweeperMain.js'];
/** What other programs import, and the declarations of its types, in the folder of the module. */
const LIBRARY = 'bridge/library/logs';
const TYPES = 'bridge/library/types';
/** Native code. msgpackr works without it. */
const NOT_BUNDLED = ['msgpackr-extract'];
/**
 * What takes the place of a library's module. node-fetch loads whatwg-url for versions of Node that have no `URL`; it would load
 * Node's own `punycode`, of which Node 22 warns each time.
 */
const REPLACED = { 'whatwg-url': 'node:url' };
/** Files that a library looks for next to its module, by the program that has the module in it. */
const BESIDE = [
  ['bridge/redis/javascriptServerMain.js', 'lua-redis-wasm/dist', ['redis_lua.mjs', 'redis_lua.wasm']],
  ['demo/main.js', 'emulate/dist', ['fonts']],
];
/** The licences of the libraries in the programs: they have to be passed on with the code. */
const LICENCES = 'third-party-licenses.txt';
/** Files of a library that hold its licence. */
const LICENCE = /^(licen[cs]e|copying|notice|third[-_]party)/i;
/** The part of a build that a package contains. The programs hold the other modules of `bridge/`. */
const SHIPPED = new RegExp(
  `^bridge/(parts/|library/(logs\\.js$|types/)|hook/flags$|mcp/tools\\.json$|.*(${MAIN.source}|\\.(cjs|cache)$|/redis_lua\\.))|^demo/|^${LICENCES}$`,
);
const COMPILED_EVENTS = [
  ['SessionStart', 'a', { source: 'startup' }],
  ['SessionStart', 'b', { source: 'startup' }],
  ['SubagentStart', 'b', { agent_id: 'a' }],
  ['PermissionRequest', 'b', { tool_name: 'Bash' }],
  ['SessionEnd', 'b', { reason: 'other' }],
];
/**
 * With these, Node starts in four fifths of its time (20 to 25, measured). Its strings keep the hashes with which it was built, which
 * anybody can know: a transcript with names that collide can make a start late, and no more, because a program ends a hook that is.
 * One thread helps V8 instead of four, which get in each other's way in a program that lives so short.
 */
const START_FLAGS = ['--no-rehash-snapshot', '--v8-pool-size=1'];
/**
 * Most hooks end before their young memory is full, and before a function is worth compiling further: on 1,000 sessions that takes a
 * quarter of the processor's time. The first flags that Node knows are used, by a Node of the same size; the launcher
 * knows both lists.
 */
const HOOK_FLAGS = [[...START_FLAGS, '--min-semi-space-size=16', '--interrupt-budget=400000'], START_FLAGS, []];
/** Runs the program and keeps its code when it ends, as bridge/command/compiled.ts reads it. Nothing that it begins outlives it. */
const COMPILING = `
const [{ Script }, fs] = [require('node:vm'), require('node:fs')];
const [, filename] = process.argv;
const [cache] = process.argv.splice(2, 1);
const children = { ...require('node:child_process'), spawn: () => ({ on() {}, unref() {} }) };
const load = (name) => (name === 'node:child_process' ? children : require(name));
const node = Buffer.from(process.version + ' ' + process.arch + ' ' + fs.statSync(process.execPath).size + '\\n');
const cachedData = fs.existsSync(cache) ? keptIn(cache) : undefined;
// A copy: V8 would keep all of what a slice is cut from.
const name = Buffer.from(filename.slice(filename.lastIndexOf('/bridge/') + 1)).toString();
const script = new Script(fs.readFileSync(filename, 'latin1'), { filename: name, cachedData });
process.on('exit', () => {
  const code = script.createCachedData();
  fs.writeFileSync(cache + '.part', Buffer.concat([node, code, code]));
  fs.renameSync(cache + '.part', cache);
});
function keptIn(path) {
  const kept = fs.readFileSync(path).subarray(node.length);
  return kept.subarray(0, kept.length / 2);
}
const made = script.runInThisContext()(load, filename);
`;
/** Appended to it for the parts of the MCP server that are loaded at the first call. */
const FIRST_CALLS = `
const server = { environment: process.env, directory: process.cwd(), parent: process.ppid };
const call = (name, args) => made.callFromServer(name, args, {}, server);
call('list_sessions', {}).then(() => call('get_session_status', {})).then(() => call('add_note', { text: 'a' }));
`;
const FIRST_REQUESTS = `
const { PassThrough } = require('node:stream');
const lines = new PassThrough();
const offered = { version: '0', tools: [], callTool: async () => ({ value: {}, isError: false }) };
made.serveByLibrary(offered, lines, process.stdout);
process.stdin.on('data', (chunk) => lines.write(chunk));
`;
/** What a build left that was broken off is removed later: until then it may be one that goes on. */
const LEFTOVER_AFTER_MS = 60 * 60_000;

const root = fileURLToPath(new URL('.', import.meta.url));
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const bundler = join(root, 'node_modules/esbuild');
const settings = join(root, 'tsconfig.json');
const dist = join(root, 'dist');
const builds = join(root, '.builds');
const current = join(builds, 'current');

const possible = [compiler, bundler, join(root, 'bridge'), settings].every((path) => fs.existsSync(path));
if (possible) {
  try {
    process.exitCode = build();
  } catch (error) {
    // A full disk, or a tree that may not be written.
    if (error.syscall === undefined) throw error;
    console.error(`build: ${error.message}`);
    process.exitCode = 1;
  }
} else if (!process.argv.includes('--if-possible')) {
  console.error('build: TypeScript, esbuild or the sources are missing; run `npm ci` in the project folder first');
  process.exitCode = 1;
}

/** @returns the exit code; whatever is not 0 has left the present build as it was */
function build() {
  // Once more where the sources were changed meanwhile: what was compiled may be of before or of afterwards.
  for (let sources = fingerprint(); !presentBuild()?.endsWith(sources); sources = fingerprint()) {
    const status = compile(sources);
    if (status !== 0) return status;
  }
  ship(presentBuild());
  return 0;
}

function compile(sources) {
  // Names that sort by age.
  const name = `${new Date().toISOString().replace(/\W/g, '')}-${process.pid}`;
  const aside = join(builds, `${name}.part`);
  fs.mkdirSync(aside, { recursive: true });
  const { status } = spawnSync(process.execPath, [compiler, '-p', settings, '--noEmit', 'false', '--outDir', aside], {
    stdio: 'inherit',
  });
  if (status !== 0 || fingerprint() !== sources) {
    fs.rmSync(aside, { recursive: true });
    return status ?? 1;
  }
  writeLicences(aside, [...bundle(aside), ...bundleLibrary(aside), ...bundleDemo(aside), ...copyBeside(aside)]);
  declareLibrary(aside);
  compileCommands(aside);
  compileHook(aside);
  listTools(aside);
  compileServer(aside);
  const programs = [...Object.keys(CLI_PROGRAMS), ...SERVER_PARTS].map(olderName);
  const events = COMPILED_EVENTS.map(([event]) => join(dirname(HOOK), event));
  const slow = [...programs, ...events].find((path) => !fs.existsSync(join(aside, 'bridge', `${path}.cache`)));
  if (slow !== undefined) {
    console.error(`build: what V8 compiled of ${slow} could not be kept in ${aside}; is the disk full?`);
    fs.rmSync(aside, { recursive: true });
    return 1;
  }
  const build = `${name}-${sources}`;
  fs.renameSync(aside, join(builds, build));
  pointTo(build);
  removeOld(build);
  return 0;
}

/**
 * Puts each program of the product in the place of its main module, with all that it loads, also of the packages.
 * @returns the files in the bundles, relative to the folder
 */
function bundle(folder) {
  const mains = fs
    .readdirSync(join(folder, 'bridge'), { recursive: true })
    .filter((path) => MAIN.test(path) && path !== HOOK && path !== SERVER);
  const bundled = bundleModules(folder, {
    entryPoints: mains.map((path) => join('bridge', path)),
    outbase: '.',
    outdir: '.',
    chunkNames: 'bridge/parts/[name]-[hash]',
  });
  // One file in the older form of modules starts in half the time, and agents wait for it.
  const older = { format: 'cjs' };
  const asOlder = (program) => ({
    ...older,
    entryPoints: [join('bridge', program)],
    outfile: join('bridge', olderName(program)),
  });
  bundled.push(...esbuild(folder, { ...asOlder(HOOK), ...forEveryNode('the hook has recorded nothing', 0) }));
  bundled.push(...esbuild(folder, { ...asOlder(SERVER), ...forEveryNode('the MCP server cannot start', 1) }));
  const url = "const __meta={get url(){return require('node:url').pathToFileURL(__filename).href}};";
  for (const program of [...Object.keys(CLI_PROGRAMS), HOOK_PROGRAM, ...SERVER_PARTS]) {
    const wrapped = {
      keepNames: program !== HOOK_PROGRAM,
      define: { 'import.meta.url': '__meta.url' },
      banner: { js: `(function(require,__filename){const module={exports:{}};${url}` },
      footer: { js: 'return module.exports})' },
      ...(program === SERVER_LIBRARY && { alias: { ...REPLACED, [SHIMS[0]]: join(folder, 'bridge', SHIMS[1]) } }),
    };
    bundled.push(...esbuild(folder, { ...asOlder(program), ...wrapped }));
    makeAscii(join(folder, 'bridge', olderName(program)));
  }
  return bundled;
}

/**
 * The launcher may find any Node. One that is too old says so in a line: it would print this file, if it could not read its syntax.
 * Nothing is loaded before, because some do not know modules by the names that begin with `node:`.
 */
function forEveryNode(failure, code) {
  const { engines } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'));
  const oldest = engines?.node.slice('>='.length) ?? '0.0';
  const [major, minor] = oldest.split('.');
  const line = `'watchkeeper: ${failure}: '+process.execPath+' is Node '+process.version.slice(1)+', and ${oldest} or newer is needed; run: watchkeeper plugin status\\n'`;
  return {
    target: 'es2015',
    banner: {
      js: `var __v=process.versions.node.split('.');if(__v[0]<${major}||__v[0]==${major}&&__v[1]<${minor}){process.stderr.write(${line});process.exit(${code})}`,
    },
  };
}

/**
 * In a file of its own, so that the programs share no more parts than they need.
 * @returns the files in the bundle, relative to the folder
 */
function bundleLibrary(folder) {
  const file = `${LIBRARY}.js`;
  return fs.existsSync(join(folder, file))
    ? esbuild(folder, { entryPoints: [file], outfile: file, format: 'esm', keepNames: true })
    : [];
}

/** Keeps the declarations that those of the library lead to. */
function declareLibrary(folder) {
  const source = join(root, `${LIBRARY}.ts`);
  if (!fs.existsSync(source)) return;
  const [outDir, config] = [join(folder, 'declared'), join(folder, 'declared.json')];
  const compilerOptions = { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: root, outDir };
  fs.writeFileSync(config, JSON.stringify({ extends: settings, compilerOptions, include: [], files: [source] }));
  const { status } = spawnSync(process.execPath, [compiler, '-p', config], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`the types of ${LIBRARY}.ts cannot be declared`);
  const reached = new Set([`${LIBRARY}.d.ts`]);
  for (const path of reached) {
    const text = fs.readFileSync(join(outDir, path), 'utf8');
    fs.mkdirSync(join(folder, TYPES, dirname(path)), { recursive: true });
    fs.writeFileSync(join(folder, TYPES, path), text);
    for (const [, other] of text.matchAll(/\bfrom '(\.[^']+)\.js'/g)) reached.add(join(dirname(path), `${other}.d.ts`));
  }
  fs.rmSync(outDir, { recursive: true });
  fs.rmSync(config);
}

/** @returns the files in the bundles, relative to the folder; none where there is no demo */
function bundleDemo(folder) {
  if (!DEMO_PROGRAMS.every((path) => fs.existsSync(join(folder, path)))) return [];
  return bundleModules(folder, {
    entryPoints: DEMO_PROGRAMS,
    outdir: 'demo',
    entryNames: '[name]',
    // All in one folder, as in the packages, which look there for files.
    chunkNames: '[name]-[hash]',
  });
}

/** Makes several programs, and files for the code that they share. */
function bundleModules(folder, options) {
  return esbuild(folder, {
    splitting: true,
    format: 'esm',
    // grammY's fetch knows a signal by the name of its class.
    keepNames: true,
    // What packages in CommonJS count on.
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    ...options,
  });
}

/** @returns the files that went into the bundles, relative to the folder */
function esbuild(folder, options) {
  const { buildSync } = createRequire(import.meta.url)(bundler);
  const { metafile } = buildSync({
    absWorkingDir: folder,
    allowOverwrite: true,
    bundle: true,
    metafile: true,
    platform: 'node',
    target: 'node20',
    // Names stay, for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    alias: REPLACED,
    external: NOT_BUNDLED,
    logLevel: 'warning',
    ...options,
  });
  return Object.keys(metafile.inputs);
}

/** @returns the files and folders that were copied */
function copyBeside(folder) {
  return BESIDE.filter(([program]) => fs.existsSync(join(folder, program))).flatMap(([program, from, names]) =>
    names.map((name) => {
      const source = join(root, 'node_modules', from, name);
      fs.cpSync(source, join(folder, dirname(program), name), { recursive: true });
      return source;
    }),
  );
}

/** @param files of the packages among others, as paths relative to the folder of the build, or absolute ones */
function writeLicences(folder, files) {
  const packages = new Set(files.map((path) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0]));
  packages.delete(undefined);
  const texts = [...packages].map((path) => licencesOf(resolve(folder, path)));
  const head = 'Code of these packages is in the programs of Watchkeeper.\n';
  fs.writeFileSync(join(folder, LICENCES), [head, ...new Set(texts.sort())].join(`\n${'-'.repeat(80)}\n\n`));
}

function licencesOf(folder) {
  const { name, version, license, author } = JSON.parse(fs.readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = fs.readdirSync(folder).filter((file) => LICENCE.test(file));
  const texts = files.sort().map((file) => fs.readFileSync(join(folder, file), 'utf8').trim());
  if (texts.length === 0)
    texts.push(`It has no file with its licence. Its author: ${author?.name ?? author ?? 'not named'}.`);
  return [`${name} ${version}: ${license}\n`, ...texts.map((text) => `${text}\n`)].join('\n');
}

/** A letter is a byte then, so that it is read in no time. The bundler leaves those in regular expressions. */
function makeAscii(path) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  fs.writeFileSync(path, fs.readFileSync(path, 'utf8').replace(/[^\0-\x7f]/g, escaped), 'ascii');
}

function olderName(program) {
  return program.replace(/\.js$/, '.cjs');
}

/**
 * Keeps what V8 makes of the hook's program for each event, beside it. Each run adds what it has needed more. Without that, with
 * another version of Node, or with other flags, the hook is slower.
 */
function compileHook(folder) {
  const room = join(folder, 'bridge', dirname(HOOK));
  const flags = HOOK_FLAGS.find((known) => spawnSync(process.execPath, [...known, '-e', '0']).status === 0) ?? [];
  fs.writeFileSync(join(room, 'flags'), `${flags.join(' ')}\n${fs.statSync(process.execPath).size}\n`);
  const recorded = join(root, 'test/fixtures/transcripts/claude/deeds.jsonl');
  inScratch((scratch, env) => {
    const transcript_path = join(scratch, 'recorded.jsonl');
    if (fs.existsSync(recorded)) fs.copyFileSync(recorded, transcript_path);
    for (const [hook_event_name, session_id, more] of COMPILED_EVENTS) {
      const input = JSON.stringify({ hook_event_name, session_id, transcript_path, cwd: scratch, ...more });
      const program = join(folder, 'bridge', olderName(HOOK_PROGRAM));
      runCompiling([program, join(room, `${hook_event_name}.cache`)], flags, { env, input });
    }
  });
}

/** The same of the command line. */
function compileCommands(folder) {
  inScratch((cwd, env) => {
    for (const [source, commands] of Object.entries(CLI_PROGRAMS)) {
      const program = join(folder, 'bridge', olderName(source));
      for (const words of commands) runCompiling([program, `${program}.cache`, ...words], [], { env, cwd });
    }
  });
}

/** Writes the tools of the MCP server as clients list them: their schemas take longer to make than the server needs to start. */
function listTools(folder) {
  const { version } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'));
  const list = 'import(process.argv[1]).then(({ listTools }) => console.log(JSON.stringify(listTools())))';
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', list, join(folder, 'bridge/mcp/listing.js')]);
  if (status !== 0) throw new Error(`the tools of the MCP server cannot be listed: ${stderr}`);
  fs.writeFileSync(join(folder, 'bridge', TOOL_LIST), JSON.stringify({ version, tools: JSON.parse(stdout) }));
}

/** Keeps what V8 makes of the MCP server's program until a client has the list of its tools, and of the first calls. */
function compileServer(folder) {
  const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'build', version: '0' } };
  const requests = [
    ['initialize', client],
    ['tools/list', {}],
    ['tools/call', { name: 'get_session_status', arguments: {} }],
  ];
  const lines = requests.map(([method, params], id) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  const [program, library, calls] = SERVER_PARTS.map((path) => join(folder, 'bridge', olderName(path)));
  inScratch((cwd, env) => {
    runCompiling([program, `${program}.cache`], [], { env, cwd, input: lines.slice(0, -1).join('') });
    runCompiling([library, `${library}.cache`], [], { env, cwd, input: lines.join('') }, FIRST_REQUESTS);
    runCompiling([calls, `${calls}.cache`], [], { env, cwd }, FIRST_CALLS);
  });
}

/** A shell starts it, as an agent that is gone when the next one starts. */
function runCompiling(words, flags, options, then = '') {
  const code = `${COMPILING}${then}`;
  spawnSync('sh', ['-c', '"$@"; exit', 'sh', process.execPath, ...flags, '-e', code, ...words], options);
}

function inScratch(use) {
  const scratch = fs.mkdtempSync(join(tmpdir(), 'wk-build-'));
  // So that none of them begins a command of its own, which would outlive this.
  fs.mkdirSync(join(scratch, 'home'), { mode: 0o700 });
  fs.writeFileSync(join(scratch, 'home/kept'), '');
  use(scratch, { PATH: process.env.PATH, HOME: scratch, WATCHKEEPER_HOME: join(scratch, 'home') });
  fs.rmSync(scratch, { recursive: true, force: true });
}

/** @returns the name of the build that runs; null if there is none, or if something else wrote into it */
function presentBuild() {
  try {
    const name = fs.readlinkSync(current);
    const writtenTo = fs.statSync(join(current, 'bridge/cli/main.js')).mtimeMs > fs.lstatSync(current).mtimeMs;
    return writtenTo ? null : name;
  } catch {
    return null;
  }
}

/** @returns a digest of all that the output depends on; what V8 makes, on the version of Node */
function fingerprint() {
  const hash = createHash('sha256').update(`${process.version} ${process.arch}\0`);
  const { include } = JSON.parse(fs.readFileSync(settings, 'utf8'));
  const tools = ['node_modules/typescript/package.json', 'node_modules/esbuild/package.json'];
  const paths = ['build.mjs', 'tsconfig.json', 'package.json', 'package-lock.json', ...tools];
  for (const folder of include) {
    if (!fs.existsSync(join(root, folder))) continue;
    for (const path of fs.readdirSync(join(root, folder), { recursive: true }).sort()) {
      if (path.endsWith('.ts')) paths.push(join(folder, path));
    }
  }
  for (const path of paths) {
    if (fs.existsSync(join(root, path))) hash.update(`${path}\0`).update(fs.readFileSync(join(root, path)));
  }
  return hash.digest('hex').slice(0, 16);
}

function pointTo(build) {
  const link = join(builds, `${build}.part`);
  fs.symlinkSync(build, link);
  fs.renameSync(link, current);
}

/**
 * Makes dist/ a plain copy of the part of the build that a package contains, and adds links to the other folders, for
 * `node dist/test/…`. It is moved into place as a whole. Between the two renames there is no dist/; the launchers do not need it.
 */
function ship(build) {
  const folder = join(builds, build);
  const paths = filesBelow(folder).filter((path) => SHIPPED.test(path));
  const others = fs.readdirSync(folder).filter((name) => !paths.some((path) => path.split('/')[0] === name));
  if (isShipped(folder, paths, others)) return;
  const aside = join(builds, `${build}-${process.pid}.dist.part`);
  for (const path of paths) {
    fs.mkdirSync(dirname(join(aside, path)), { recursive: true });
    fs.copyFileSync(join(folder, path), join(aside, path));
  }
  for (const name of others) fs.symlinkSync(join('../.builds/current', name), join(aside, name));
  for (;;) {
    if (fs.lstatSync(dist, { throwIfNoEntry: false }) !== undefined)
      removeWhole(dist, `${build}-${process.pid}.former`);
    try {
      return fs.renameSync(aside, dist);
    } catch (error) {
      // Another build was faster.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'ENOTDIR') throw error;
    }
  }
}

function isShipped(folder, paths, others) {
  try {
    const content = (place, path) => fs.readFileSync(join(place, path));
    return (
      filesBelow(dist).join() === paths.join() &&
      paths.every((path) => content(dist, path).equals(content(folder, path))) &&
      others.every((name) => fs.readlinkSync(join(dist, name)) === join('../.builds/current', name))
    );
  } catch {
    return false;
  }
}

/** @returns the paths of all files, in order; nothing that links lead to, and none of a folder that is a link */
function filesBelow(folder, below = '') {
  if (!fs.lstatSync(join(folder, below)).isDirectory()) return [];
  return fs
    .readdirSync(join(folder, below), { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(below, entry.name);
      return entry.isDirectory() ? filesBelow(folder, path) : entry.isFile() ? [path] : [];
    })
    .sort();
}

function removeOld(present) {
  const names = fs.readdirSync(builds).sort();
  const whole = names.filter((name) => !name.endsWith('.part') && name < present);
  const running = commandLines();
  for (const name of whole.slice(0, -KEPT)) {
    if (running.includes(`/.builds/${name}/`)) continue;
    removeWhole(join(builds, name), name);
  }
  for (const name of names.filter((name) => name.endsWith('.part'))) {
    const made = fs.lstatSync(join(builds, name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - made > LEFTOVER_AFTER_MS) fs.rmSync(join(builds, name), { recursive: true, force: true });
  }
}

/** Renames it first: half a build never has the name of a whole one. Another build may be faster. */
function removeWhole(folder, name) {
  const aside = join(builds, `${name}.part`);
  try {
    fs.renameSync(folder, aside);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  fs.rmSync(aside, { recursive: true, force: true });
}

/** @returns the command lines of all processes of this host that can be read; empty where there is no /proc */
function commandLines() {
  const lines = [];
  for (const pid of fs.existsSync('/proc') ? fs.readdirSync('/proc') : []) {
    try {
      if (/^\d+$/.test(pid)) lines.push(fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    } catch {
      // It has ended.
    }
  }
  return lines.join('\n');
}
