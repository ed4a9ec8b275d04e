/**
 * Starts the program behind the hooks from code that V8 compiled when it was built: an agent waits for it, and compiling takes
 * longer than all that it does (`npm run bench -- hooks`). Another version of Node compiles it anew. The build makes a module of
 * the older form of it, which has `require` and `__dirname`.
 */
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';

/** As the build makes it: a function of the two things that it has of this module. */
type Program = (require: (name: string) => unknown, filename: string) => void;

/** They take some milliseconds to load, and most events do without. */
const LOADED_LATE = ['node:child_process', 'node:fs/promises', 'node:url'];

const filename = `${__dirname}/program.cjs`;
// It has no letter that is not ASCII.
const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData: compiledCode() });
const program: Program = script.runInThisContext();
program(requireLate, filename);

function compiledCode(): Buffer | undefined {
  try {
    return readFileSync(`${filename}.cache`);
  } catch {
    return undefined;
  }
}

/** @returns the module; one of the late ones is loaded when something of it is used */
function requireLate(name: string): unknown {
  if (!LOADED_LATE.includes(name)) return require(name);
  return new Proxy({}, { get: (_, member) => Reflect.get(require(name), member) });
}
