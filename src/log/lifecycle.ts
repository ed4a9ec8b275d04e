/** Starts services in order and stops them in the reverse order. */
import { describeError } from '../errors.js';
import type { Service } from '../service.js';
import type { Logger } from './logger.js';

export class Lifecycle implements Service {
  readonly name: string;
  readonly #logger: Logger;
  readonly #services: readonly Service[];
  readonly #started: Service[] = [];

  constructor(name: string, logger: Logger, services: readonly Service[]) {
    this.name = name;
    this.#logger = logger;
    this.#services = services;
  }

  /** @throws the error of a service; that service, which may have started halfway, and the ones before it are stopped again */
  async start(): Promise<void> {
    try {
      for (const service of this.#services.slice(this.#started.length)) {
        this.#started.push(service);
        await service.start();
        this.#logger.debug(`${service.name} started`);
      }
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** A service that cannot stop does not keep the others from stopping. */
  async stop(): Promise<void> {
    for (let service = this.#started.pop(); service !== undefined; service = this.#started.pop()) {
      try {
        await service.stop();
        this.#logger.debug(`${service.name} stopped`);
      } catch (error) {
        this.#logger.error({ err: error }, `${service.name} did not stop in order: ${describeError(error)}`);
      }
    }
  }
}
