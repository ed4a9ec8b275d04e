/**
 * In which order jest runs the test files. Files that start programs mostly wait, the others mostly compute: one of each in
 * turn keeps both the cores and the waiting workers busy. The largest come first, so that none is left for the end alone.
 */
const WAITS = /\/test\/(?:e2e|chaos|doctor|agents|demo|health)\//;

export default class Sequencer {
  sort(tests) {
    const sized = [...tests].sort((a, b) => size(b) - size(a) || (a.path < b.path ? -1 : 1));
    const waiting = sized.filter(({ path }) => WAITS.test(path));
    const computing = sized.filter(({ path }) => !WAITS.test(path));
    return waiting
      .flatMap((test, index) => [test, ...computing.slice(index, index + 1)])
      .concat(computing.slice(waiting.length));
  }

  cacheResults() {
    // The order is the same in every run.
  }
}

function size({ path, context }) {
  return context.hasteFS.getSize(path) ?? 0;
}
