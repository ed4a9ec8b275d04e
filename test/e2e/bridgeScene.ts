/**
 * A stage for the whole product, seen from outside: the test peers, a folder with its configuration, and `watchkeeper`
 * commands as real child processes. Whatever happens, nothing of it outlives the scene.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { compiledProgram } from '../../src/host/program.js';
import { openStore, type Store } from '../../src/jobs/store.js';
import { closeRedis, openRedis } from '../../src/redis/connect.js';
import { systemClock } from '../../src/time.js';
import { type GithubPeer, startGithubPeer } from '../peers/github/githubPeer.js';
import { startTelegramPeer, type TelegramPeer } from '../peers/telegram/telegramPeer.js';
import { eventually } from './eventually.js';
import { Evidence, FILES } from './evidence.js';
import type { FoundProcess } from './processScan.js';
import { Program } from './program.js';
import { RedisServer } from './redisServer.js';
import { REPOSITORY, type SceneConfiguration, writeSceneFiles } from './sceneFiles.js';
import { SCENE_MARK, Sweeper } from './sweeper.js';

export interface SceneOptions extends SceneConfiguration {
  /** An empty folder; everything of the scene lies below it. */
  readonly folder: string;
  /** `scene`: a server of the scene, by REDIS_URL, which tests can read. `bridge`: the bridge brings its own. */
  readonly redis: 'scene' | 'bridge';
  /** PATH of the bridge; the scene's own by default. */
  readonly searchPath?: string;
  /** Further variables of every command. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly concurrency?: number;
  /** What starts every command of the product; node and its compiled program by default. */
  readonly program?: string;
  /** The sweeper's program, where it is not among the tests. */
  readonly sweeper?: string;
  /** Of the scene's own Redis, on its command line. */
  readonly redisSettings?: string[];
}

/** Another version's may take its place. */
const MAIN = compiledProgram('bridge/cli/main');
const START_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 30_000;

/** Starts the peers and writes the files; no command of the product runs yet. */
export async function openScene(options: SceneOptions): Promise<BridgeScene> {
  const { folder } = options;
  mkdirSync(folder, { recursive: true });
  writeSceneFiles(folder, options);
  const mark = randomBytes(8).toString('hex');
  const sweeper = new Sweeper(mark, join(folder, 'logs'), options.sweeper);
  const telegram = await startTelegramPeer({ logFile: join(folder, FILES.transcript) });
  const github = await startGithubPeer({ repository: REPOSITORY, logFile: join(folder, FILES.issueWrites) });
  const redis =
    options.redis === 'scene'
      ? new RedisServer(join(folder, 'redis'), { [SCENE_MARK]: mark }, options.redisSettings)
      : null;
  await redis?.start();
  return new BridgeScene({ options, mark, sweeper, telegram, github, redis });
}

interface SceneParts {
  readonly options: SceneOptions;
  readonly mark: string;
  readonly sweeper: Sweeper;
  readonly telegram: TelegramPeer;
  readonly github: GithubPeer;
  readonly redis: RedisServer | null;
}

export class BridgeScene {
  readonly folder: string;
  readonly logs: string;
  readonly telegram: TelegramPeer;
  readonly github: GithubPeer;
  readonly evidence: Evidence;
  private readonly parts: SceneParts;
  private readonly programs: Program[] = [];
  private readonly closing: (() => void)[] = [];
  private opened: Store | null = null;

  constructor(parts: SceneParts) {
    this.parts = parts;
    this.folder = parts.options.folder;
    this.logs = join(this.folder, 'logs');
    this.telegram = parts.telegram;
    this.github = parts.github;
    this.evidence = new Evidence(this.folder);
  }

  /** Reads and writes the same Redis as the bridge. Only where the Redis is the scene's. */
  get store(): Store {
    if (this.opened === null) {
      const redis = openRedis(this.redis.url, { purpose: 'commands', clock: systemClock });
      this.closing.push(() => closeRedis(redis));
      this.opened = openStore(redis, systemClock);
    }
    return this.opened;
  }

  /** The scene's own, to be stopped and started again. */
  get redis(): RedisServer {
    if (this.parts.redis === null) throw new Error("the Redis of this scene is the bridge's own");
    return this.parts.redis;
  }

  /** @returns a bridge that takes messages */
  async startBridge(environment: Readonly<Record<string, string>> = {}, main = MAIN): Promise<Program> {
    const callsBefore = this.telegram.calls.length;
    const bridge = this.start(['bridge'], environment, main);
    await this.untilHeard(bridge, callsBefore);
    return bridge;
  }

  /**
   * Starts a bridge in a terminal of its own.
   * @returns the program that holds the terminal; the bridge is its child
   */
  async startBridgeInTerminal(): Promise<Program> {
    const callsBefore = this.telegram.calls.length;
    const words = [process.execPath, compiledProgram('bridge/cli/main'), 'bridge'].map((word) => `'${word}'`);
    const terminal = this.launch('script', ['-qec', `exec ${words.join(' ')}`, '/dev/null'], 'terminal', {});
    await this.untilHeard(terminal, callsBefore);
    return terminal;
  }

  /** Starts a command and does not wait for anything. */
  start(args: readonly string[], environment: Readonly<Record<string, string>> = {}, main = MAIN): Program {
    const { program } = this.parts.options;
    if (program !== undefined) return this.launch(program, args, args[0] ?? 'none', environment);
    const words = [main, ...args];
    return this.launch(process.execPath, words, args[0] ?? 'none', environment);
  }

  private launch(
    command: string,
    args: readonly string[],
    name: string,
    environment: Readonly<Record<string, string>>,
  ): Program {
    const number = this.programs.length + 1;
    const program = new Program(command, args, {
      workingDirectory: this.folder,
      environment: this.variables(environment),
      outputFile: join(this.folder, `process-${number}-${name}.log`),
    });
    this.programs.push(program);
    return program;
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Program> {
    const program = this.start(args, environment);
    await eventually(() => program.exit, {
      what: `the end of \`watchkeeper ${args.join(' ')}\``,
      withinMs: START_WITHIN_MS,
      instead: () => program.lastWords(),
    });
    return program;
  }

  /** Waits for what stands in files, in Redis or in `/proc`. */
  until<T>(
    what: string,
    look: () => T | Promise<T | false | null | undefined> | false | null | undefined,
    withinMs = 15_000,
    everyMs?: number,
  ): Promise<T> {
    return eventually<T>(look, { what, withinMs, ...(everyMs && { everyMs }), instead: () => this.describe() });
  }

  /**
   * Stops every program in an orderly way, then whatever is left by force; afterwards the peers.
   * @returns what had to be ended by force
   */
  async stop(): Promise<FoundProcess[]> {
    const { redis, sweeper, telegram, github } = this.parts;
    for (const close of this.closing.splice(0)) close();
    await Promise.allSettled(this.programs.map((program) => program.exit ?? program.stop(STOP_WITHIN_MS)));
    await redis?.stop().catch(() => undefined);
    const left = await sweeper.sweep();
    github.saveState(join(this.folder, FILES.issueState));
    await telegram.stop();
    await github.stop();
    return left;
  }

  /** @returns what a failing test wants to know */
  describe(): string {
    const running = this.programs.filter((program) => program.exit === null).map((program) => program.lastWords());
    return [`the scene: ${this.folder}`, ...running].join('\n');
  }

  private async untilHeard(bridge: Program, callsBefore: number): Promise<void> {
    await eventually(
      () => {
        if (bridge.exit !== null) throw new Error(`the bridge ended while it started:\n${bridge.lastWords()}`);
        return this.telegram.calls.slice(callsBefore).some(({ method }) => method === 'getUpdates');
      },
      { what: 'a bridge that asks for messages', withinMs: START_WITHIN_MS, instead: () => bridge.lastWords() },
    );
  }

  /** @returns the environment of every command */
  variables(further: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { options, mark, redis } = this.parts;
    return {
      PATH: options.searchPath ?? process.env.PATH ?? '',
      HOME: homedir(),
      // Not WATCHKEEPER_HOME: former builds do not know it.
      XDG_STATE_HOME: join(this.folder, 'memory'),
      [SCENE_MARK]: mark,
      SCRIPTED_RECORD: join(this.folder, FILES.agents),
      SCRIPTED_STATE: join(this.folder, 'conversations'),
      AGENT_ENV: `${SCENE_MARK} SCRIPTED_RECORD SCRIPTED_STATE`,
      AGENT_CONCURRENCY: String(options.concurrency ?? 6),
      TELEGRAM_BOT_TOKEN: this.telegram.token,
      TELEGRAM_API_ROOT: this.telegram.url,
      GITHUB_TOKEN: this.github.token,
      GITHUB_API_URL: this.github.url,
      WATCHKEEPER_LOGS: this.logs,
      ...(redis && { REDIS_URL: redis.url }),
      ...options.environment,
      ...further,
    };
  }
}
