// Keeps what V8 has compiled from one test file of a worker to the next. jest compiles its own parts and every module anew for
// each file; that is most of what a small file costs.
import vm from 'node:vm';

/** By file name. The text is compared, so that a file that has changed meanwhile is compiled again. */
const functions = new Map();
const modules = new Map();
/** What is kept cannot know which file asks for a module later. */
const DYNAMIC = /\bimport\s*\(/;
const { compileFunction, SourceTextModule } = vm;

/** A script, unlike a function, can be run in each file's own context, and keeps what it has compiled so far. */
vm.compileFunction = function compileOnce(code, names, options) {
  const { filename, parsingContext } = options ?? {};
  if (!filename?.includes('/node_modules/') || !parsingContext || DYNAMIC.test(code)) {
    return compileFunction(code, names, options);
  }
  let known = functions.get(filename);
  if (known?.code !== code) {
    const opening = `(function (${names.join(', ')}) {`;
    const script = new vm.Script(`${opening}${code}\n})`, { filename, columnOffset: -opening.length });
    known = { code, script };
    functions.set(filename, known);
  }
  return known.script.runInContext(parsingContext);
};

vm.SourceTextModule = new Proxy(SourceTextModule, {
  construct(target, [code, options], newTarget) {
    const known = modules.get(options.identifier);
    if (known?.code === code && known.data !== null) {
      try {
        return Reflect.construct(target, [code, { ...options, cachedData: known.data }], newTarget);
      } catch (error) {
        // A test has changed how V8 compiles.
        if (error.code !== 'ERR_VM_MODULE_CACHED_DATA_REJECTED') throw error;
      }
    }
    const module = Reflect.construct(target, [code, options], newTarget);
    const data = known?.code === code || DYNAMIC.test(code) ? null : module.createCachedData();
    modules.set(options.identifier, { code, data });
    return module;
  },
});
