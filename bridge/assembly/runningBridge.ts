/** A built bridge: how it starts and stops in order. */
import type { ConfigSource } from '../../src/config/configSource.js';
import type { Settings, Timings } from '../../src/config/settings.js';
import type { Lifecycle } from '../../src/log/lifecycle.js';
import { atMost, SECOND } from '../../src/time.js';
import type { StopMark } from '../runs/stopMark.js';
import type { ChatParts } from './chat.js';
import type { Foundation } from './foundation.js';
import type { Ground } from './ground.js';
import { describeIssuePlaces } from './issuePlaces.js';
import { reloadConfiguration, type ServedAgents } from './reloading.js';

export interface Bridge {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Ends every run by force, and returns when they are put back or that takes too long. */
  hurry(): Promise<void>;
  /** Reads the configuration again; never throws. */
  reload(): Promise<void>;
  /** One line in its log. */
  log(sentence: string): void;
  /** Aborted, with the error that ends the process as its reason, when the bridge cannot go on. */
  readonly lost: AbortSignal;
}

/** How long an orderly stop may take beyond its runs. An unreachable Redis must not keep a stopped bridge alive. */
const LEAVING_MS = 20 * SECOND;

/** @returns the longest that an orderly stop takes, in milliseconds; a supervisor must wait longer than that */
export function stopWithinMs({ drainMs, killGraceMs }: Timings): number {
  return drainMs + 2 * killGraceMs + LEAVING_MS;
}

export interface RunningBridgeParts {
  readonly source: ConfigSource;
  readonly foundation: Foundation;
  readonly ground: Ground;
  readonly lifecycle: Lifecycle;
  readonly agents: ServedAgents;
  readonly chat: ChatParts;
  readonly runner: { hurry(): Promise<void> };
  readonly stopMark: StopMark;
  readonly lost: AbortSignal;
  /** Ends what is not a service: the saga's work, the queue, the presence. Not the ground. */
  leave(): Promise<void>;
}

export class RunningBridge implements Bridge {
  readonly #parts: RunningBridgeParts;

  constructor(parts: RunningBridgeParts) {
    this.#parts = parts;
  }

  get lost(): AbortSignal {
    return this.#parts.lost;
  }

  log(sentence: string): void {
    this.#parts.foundation.logger.info(sentence);
  }

  reload(): Promise<void> {
    const { source, agents, foundation } = this.#parts;
    return reloadConfiguration(source, agents, foundation.logger);
  }

  async hurry(): Promise<void> {
    const { chat, runner, ground } = this.#parts;
    chat.telegram?.chat.hurry();
    await runner.hurry();
    // It leads a process group of its own, and would go on unseen.
    await ground.redis.stop();
  }

  async start(): Promise<void> {
    const { lifecycle, foundation } = this.#parts;
    try {
      await lifecycle.start();
    } catch (error) {
      await this.#leave();
      throw error;
    }
    this.log(`the bridge is up: ${describe(foundation.settings)}`);
  }

  async stop(): Promise<void> {
    const { lifecycle, foundation, chat, stopMark, ground } = this.#parts;
    const { clock, logger, settings } = foundation;
    logger.info('the bridge stops in order');
    const marked = stopMark.set();
    // No need to wait for answers that cannot come.
    if (ground.redis.lost.aborted) ground.connections.closeAll();
    chat.telegram?.chat.hurry();
    // The mark's file must be complete before the process may exit.
    const orderly = Promise.all([lifecycle.stop(), marked])
      .then(() => this.#leave())
      .then(() => true);
    if (await atMost(clock, stopWithinMs(settings.timings), orderly, false)) logger.info('the bridge has stopped');
    else logger.error('the bridge could not stop in order in time; what it left, the reaper and the next bridge end');
  }

  async #leave(): Promise<void> {
    await this.#parts.leave();
    await this.#parts.ground.close();
  }
}

function describe(settings: Settings): string {
  const projects = [...settings.projects.keys()].join(', ') || 'none';
  const chat = settings.telegram === null ? 'the terminal is the chat (no TELEGRAM_BOT_TOKEN)' : 'Telegram';
  return `projects ${projects}; ${chat}; ${describeIssuePlaces(settings)}; ${settings.agentConcurrency} agents at once`;
}
