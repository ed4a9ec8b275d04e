/**
 * In which order jest runs the test files. Files that start programs mostly wait, the others mostly compute: one of each in
 * turn keeps both the cores and the waiting workers busy. The largest come first, so that none is left for the end alone.
 */
const WAITS = /\/test\/(?:e2e|chaos|demo|bridge\/(?:agents|doctor|health))\//;
/** Small files with much work. */
const LONG =
  /\/(?:short|outageCrash|fuzz|redact|secrets|deliveryFaults|build|reportFaults|properties|recorded|rows|main|sendMemory|memoryHome|eventsByCommand|journalFollower|transcriptFollower|ends|endKills|endUnanswered|restart|claudeWorktrees|claudeCrash|endUnusual|programs|everything|answers|merged|mornings|installed|realAgents)\.test\.ts$/;

export default class Sequencer {
  sort(tests) {
    const sized = [...tests].sort((a, b) => weight(b) - weight(a) || (a.path < b.path ? -1 : 1));
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

function weight({ path, context }) {
  return LONG.test(path) ? Number.MAX_SAFE_INTEGER : (context.hasteFS.getSize(path) ?? 0);
}
