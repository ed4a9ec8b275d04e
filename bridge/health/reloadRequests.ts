/** Hears `watchkeeper reload`, which reaches a process that no signal can: in a terminal, in a container, on another host. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { ReloadAnswer, ReloadOutcome } from '../../src/jobs/reloads.js';
import type { Store } from '../../src/jobs/store.js';
import type { Wakes } from '../../src/jobs/wakes.js';
import type { Logger } from '../../src/log/logger.js';
import type { Service } from '../../src/service.js';

export interface ReloadRequestsOptions {
  readonly store: Store;
  readonly wakes: Wakes;
  readonly here: ProcessIdentity;
  readonly logger: Logger;
  readonly service: ReloadAnswer['service'];
  /** Never throws. */
  reload(): Promise<ReloadOutcome>;
}

export class ReloadRequests implements Service {
  readonly name = 'reload requests';
  readonly #options: ReloadRequestsOptions;
  #unlisten: () => void = () => undefined;

  constructor(options: ReloadRequestsOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#unlisten();
    this.#unlisten = this.#options.wakes.listen(({ reload }) => {
      if (typeof reload === 'string') void this.#answer(reload);
    });
  }

  async stop(): Promise<void> {
    this.#unlisten();
  }

  async #answer(request: string): Promise<void> {
    const { store, here, logger, service, reload } = this.#options;
    const outcome = await reload();
    const answer = { service, host: here.host, pid: here.pid, ...outcome };
    await store.reloads
      .answer(request, answer)
      .catch((err: unknown) => logger.debug({ err }, 'the answer to a reload was lost'));
  }
}
