/**
 * Starts a program from code that V8 compiled when it was built: compiling takes longer than most commands, and an agent waits for
 * its hooks. Another Node, or other flags of V8, compile it again.
 */
import { readFileSync, statSync } from 'node:fs';
import { constants, Script } from 'node:vm';

/** As the build makes it: a function of the two things that it has of the module that starts it. */
type Program = (require: (name: string) => unknown, filename: string) => unknown;

/**
 * @param filename ASCII, by the build
 * @param require for modules outside the program
 * @returns what the program exports, if it was made to be loaded by another one
 * @throws what cannot be read, or throws
 */
export function startCompiled(filename: string, require: (name: string) => unknown, code?: string): unknown {
  const program: Program = compiledScript(filename, code).runInThisContext();
  return program(require, filename);
}

/** @public for a test @returns the program, whose `cachedDataRejected` is undefined if there is no code to start from */
export function compiledScript(filename: string, code = `${filename}.cache`): Script {
  return new Script(readFileSync(filename, 'latin1'), {
    filename: nameInTraces(filename),
    cachedData: compiledCode(code),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
}

/** V8 keeps the name with the code, and a package lies elsewhere than the build: so the name leaves out where that was. */
function nameInTraces(filename: string): string {
  return filename.slice(filename.lastIndexOf('/bridge/') + 1);
}

/**
 * Behind the name of its Node the code is kept twice, because V8 checks neither: comparing takes no time, loading an algorithm would.
 * @returns undefined if there is none; if another Node made it, or it is damaged, as by a power failure: that would end the process
 */
function compiledCode(path: string): Buffer | undefined {
  try {
    const kept = readFileSync(path);
    const node = Buffer.from(nameOfNode());
    const code = kept.subarray(node.length, node.length + (kept.length - node.length) / 2);
    const isWhole = code.equals(kept.subarray(node.length + code.length));
    return isWhole && node.equals(kept.subarray(0, node.length)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** V8 takes the code of every Node with its own version, but two builds of one version of Node differ as well. */
function nameOfNode(): string {
  return `${process.version} ${process.arch} ${statSync(process.execPath).size}\n`;
}
