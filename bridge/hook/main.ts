/**
 * Starts the program behind the hooks from code that V8 compiled when it was built: an agent waits for it, and compiling takes
 * longer than all that it does (`npm run bench -- hooks`). Another version of Node compiles it anew. The build makes a module of
 * the older form of it, which has `require` and `__dirname`.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';

/** As the build makes it: a function of the two things that it has of this module. */
type Program = (require: (name: string) => unknown, filename: string) => void;

/** They take some milliseconds to load, and most events do without. */
const LOADED_LATE = ['node:child_process', 'node:fs/promises', 'node:url'];
const DIGEST = 'sha1';
const DIGEST_BYTES = 20;

const filename = `${__dirname}/program.cjs`;
try {
  // It has no letter that is not ASCII.
  const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData: compiledCode() });
  const program: Program = script.runInThisContext();
  program(requireLate, filename);
} catch (error) {
  // The agent works on, whatever is wrong with the installation.
  process.stderr.write(`watchkeeper: the hook cannot start: ${String(error).replaceAll('\n', ' ')}\n`);
}

/** @returns undefined if there is none, or it is damaged, as by a power failure: that would end the process */
function compiledCode(): Buffer | undefined {
  try {
    const kept = readFileSync(`${filename}.cache`);
    const code = kept.subarray(DIGEST_BYTES);
    return createHash(DIGEST).update(code).digest().compare(kept, 0, DIGEST_BYTES) === 0 ? code : undefined;
  } catch {
    return undefined;
  }
}

/** @returns the module; one of the late ones is loaded when something of it is used */
function requireLate(name: string): unknown {
  if (!LOADED_LATE.includes(name)) return require(name);
  return new Proxy({}, { get: (_, member) => Reflect.get(require(name), member) });
}
