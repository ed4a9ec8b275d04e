/**
 * The certainty that nothing outlives a scene. The sweeper is a process of its own that holds one end of a pipe: when the
 * pipe closes, because the scene is over or because whoever played it was killed, it ends what is left.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { compiledProgram } from '../../src/host/program.js';
import type { FoundProcess } from './processScan.js';

/** Every process of the scene carries it: the bridge by its environment, the agents by AGENT_ENV. */
export const SCENE_MARK = 'SCENE_MARK';

/**
 * Waits in the place of the program, and starts it where something may be left: most scenes leave nothing, and a shell takes a
 * tenth of the time of node. A bridge's own Redis has an empty environment, so its record is enough.
 */
const WATCHMAN = `cat >/dev/null
if [ -e "$1" ] || grep -qszxF "$2" /proc/[0-9]*/environ; then shift 2; exec "$@"; fi
echo '[]'`;

export class Sweeper {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #said: Promise<string>;
  #swept: Promise<FoundProcess[]> | null = null;

  /**
   * @param mark the value of {@link SCENE_MARK}
   * @param logsFolder where a bridge's own Redis is on record
   * @param main the sweeper's program
   */
  constructor(mark: string, logsFolder: string, main = compiledProgram('test/e2e/sweeperMain')) {
    // Detached, so that Ctrl-C in a terminal does not end it before its work.
    const program = [process.execPath, main, mark, logsFolder];
    const signs = [join(logsFolder, 'redis/endpoint.json'), `${SCENE_MARK}=${mark}`];
    this.#child = spawn('/bin/sh', ['-c', WATCHMAN, 'sh', ...signs, ...program], {
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#said = text(this.#child.stdout);
  }

  /** @returns what had to be ended by force */
  sweep(): Promise<FoundProcess[]> {
    this.#swept ??= this.#finish();
    return this.#swept;
  }

  async #finish(): Promise<FoundProcess[]> {
    const gone = once(this.#child, 'exit');
    this.#child.stdin.end();
    const said = await this.#said;
    await gone;
    return JSON.parse(said) as FoundProcess[];
  }
}
