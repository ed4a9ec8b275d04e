// How jest compiles a module: by swc, with the globals that it uses as constants of its own. Every test file runs in a context in
// which each use of a global name asks the context's owner: a loop over `Math.imul` takes twice as long there as in production.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import swc from '@swc/jest';

/** No test replaces one of them. A module that declares one itself does not load, and says so. */
// biome-ignore format: a list
const GLOBALS = [
  'Array', 'BigInt', 'Boolean', 'Buffer', 'Date', 'Error', 'JSON', 'Map', 'Math', 'Number', 'Object', 'Promise', 'RegExp', 'Set',
  'String', 'Symbol', 'process',
];
const OWN_TEXT = readFileSync(fileURLToPath(import.meta.url), 'utf8');

export default {
  createTransformer(options) {
    const inner = swc.createTransformer(options);
    return {
      ...inner,
      process: (...call) => withConstants(inner.process(...call)),
      processAsync: async (...call) => withConstants(await inner.processAsync(...call)),
      getCacheKey: (...call) => inner.getCacheKey(OWN_TEXT + call[0], ...call.slice(1)),
    };
  },
};

/** On the first line, so that all others keep their numbers. */
function withConstants({ code, ...rest }) {
  const used = GLOBALS.filter((name) => new RegExp(`\\b${name}\\b`).test(code));
  return { ...rest, code: used.length > 0 ? `const {${used.join(',')}}=globalThis;${code}` : code };
}
