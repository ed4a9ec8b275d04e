/**
 * `manyCallsMain.js ASKED ANSWERED` runs the compiled command line for each call that comes through the pipe ASKED, with the
 * arguments, the directory and the variables of that call, and writes what it says to the pipe ANSWERED. The programs are read
 * once, and begin anew for each call.
 */
import { openSync, readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type { Script } from 'node:vm';
import { QUICK_NAMES, VERSION_WORDS } from '../../../bridge/cli/quickNames.js';
import { compiledScript } from '../../../bridge/command/compiled.js';
import { ownBuild } from '../../../src/host/program.js';
import type { Call } from './manyCalls.js';
import type { Said } from './program.js';

const [ASKED = '', ANSWERED = ''] = process.argv.slice(2);
const FOLDER = join(ownBuild(), 'bridge/cli');
const MAIN = join(FOLDER, 'main.js');
const end = process.exit;
const scripts = new Map<string, Script>();

/** Which program it is says `bridge/cli/main.ts`. */
function programOf(command: string | undefined): () => void {
  const isQuick = [...QUICK_NAMES, ...VERSION_WORDS].some((name) => name === command);
  const filename = join(FOLDER, isQuick ? 'quickProgram.cjs' : 'program.cjs');
  const script = scripts.get(filename) ?? compiledScript(filename);
  scripts.set(filename, script);
  return () => script.runInThisContext()(createRequire(MAIN), filename);
}

class Heard extends Writable {
  text = '';

  override _write(part: Buffer, _encoding: string, done: () => void): void {
    this.text += part.toString();
    done();
  }
}

async function run({ directory, args, environment }: Call): Promise<Said> {
  process.chdir(directory);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  process.argv = [process.execPath, MAIN, ...args];
  process.exitCode = undefined;
  const [stdin, stdout, stderr] = [Readable.from([]), new Heard(), new Heard()];
  for (const [name, value] of Object.entries({ stdin, stdout, stderr }))
    Object.defineProperty(process, name, { value, configurable: true });
  const begin = programOf(args[0]);
  const code = await new Promise<number>((resolve) => {
    const exit = (code: unknown) => resolve(Number(code ?? process.exitCode ?? 0));
    Object.assign(process, { exit });
    begin();
  });
  // Nobody works in that directory any more.
  process.chdir('/');
  return { code, out: stdout.text, err: stderr.text };
}

/** @returns the text to the end of the line, null if nobody will ask any more */
function nextLine(file: number): string | null {
  const parts: Buffer[] = [];
  const part = Buffer.alloc(65_536);
  for (;;) {
    const read = readSync(file, part);
    if (read === 0) return null;
    parts.push(Buffer.from(part.subarray(0, read)));
    if (part[read - 1] === 0x0a) return Buffer.concat(parts).toString();
  }
}

function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
}

const [asked, answered] = [openSync(ASKED, 'r'), openSync(ANSWERED, 'w')];
// Between two calls nothing else goes on here, as after the end of a process.
for (let line = nextLine(asked); line !== null; line = nextLine(asked))
  writeAll(answered, `${JSON.stringify(await run(JSON.parse(line)))}\n`);
// What a command has left behind keeps it from nothing.
end(0);
