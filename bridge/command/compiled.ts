/**
 * Starts a program from code that V8 compiled when it was built: compiling takes longer than most commands, and an agent waits for
 * its hooks. Another version of Node, or other flags of V8, compile it anew.
 */
import { readFileSync } from 'node:fs';
import { constants, Script } from 'node:vm';

/** As the build makes it: a function of the two things that it has of the module that starts it. */
type Program = (require: (name: string) => unknown, filename: string) => void;

/**
 * @param filename of the program, which the build has made ASCII
 * @param require loads what is not in the program
 * @throws the file system's error if it cannot be read; what its modules throw while they load
 */
export function startCompiled(filename: string, require: (name: string) => unknown): void {
  const program: Program = compiledScript(filename).runInThisContext();
  program(require, filename);
}

/** @returns the program, whose `cachedDataRejected` is undefined if there is no code to start from */
export function compiledScript(filename: string): Script {
  return new Script(readFileSync(filename, 'latin1'), {
    filename,
    cachedData: compiledCode(`${filename}.cache`),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
}

/**
 * It is kept twice, because V8 does not check it: comparing takes no time, loading an algorithm would.
 * @returns undefined if there is none, or it is damaged, as by a power failure: that would end the process
 */
function compiledCode(path: string): Buffer | undefined {
  try {
    const kept = readFileSync(path);
    const code = kept.subarray(0, kept.length / 2);
    return code.equals(kept.subarray(code.length)) ? code : undefined;
  } catch {
    return undefined;
  }
}
