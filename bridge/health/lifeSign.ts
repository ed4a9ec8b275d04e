/** This process's life sign, for processes that share its logs folder from another container. See `src/host/lifeSign.ts`. */

import { once } from 'node:events';
import { chmod, readdir, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describeError } from '../../src/errors.js';
import { makePrivateFolder } from '../../src/files/privateFiles.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { lifeSignFolder, lifeSignPath } from '../../src/host/lifeSign.js';
import type { Logger } from '../../src/log/logger.js';
import type { Service } from '../../src/service.js';
import { type Clock, DAY } from '../../src/time.js';

/** The socket that a killed process leaves proves its death; after this time the proof is not needed any more. */
const KEPT_MS = DAY;

export interface LifeSignOptions {
  /** Whether its container dies whole, as configured: without that there is no life sign. */
  readonly containerDiesWhole: boolean;
  readonly logsFolder: string;
  readonly here: ProcessIdentity;
  readonly parentPid: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class LifeSign implements Service {
  readonly name = 'life sign';
  readonly #options: LifeSignOptions;
  #server: Server | null = null;

  constructor(options: LifeSignOptions) {
    this.#options = options;
  }

  /** Without a life sign the process works on: its runs then count as lost after two leases. */
  async start(): Promise<void> {
    if (this.#server !== null) return;
    const { containerDiesWhole, here, parentPid, logger, logsFolder } = this.#options;
    if (!containerDiesWhole) return;
    if (here.pid !== 1 && parentPid !== 1) {
      logger.warn(
        'WATCHKEEPER_CONTAINER_DIES_WHOLE is set, but this process is not the main one of its container; it gives no life sign',
      );
      return;
    }
    const path = lifeSignPath(logsFolder, here);
    const server = createServer((socket) => socket.destroy());
    try {
      await makePrivateFolder(lifeSignFolder(logsFolder));
      await this.#forgetOld();
      await rm(path, { force: true });
      server.listen(path);
      await once(server, 'listening');
      // Connecting requires the right to write, and a standby may run as another user of the group.
      await chmod(path, 0o660);
      server.unref();
      this.#server = server;
    } catch (error) {
      server.close();
      logger.warn(
        { err: error },
        `no life sign can be given at ${path}: ${describeError(error)}; if this container dies, its runs count as lost only after two leases`,
      );
    }
  }

  /** A process that stopped in order leaves nothing behind whose death has to be proven. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    server.close();
    await once(server, 'close');
  }

  async #forgetOld(): Promise<void> {
    const folder = lifeSignFolder(this.#options.logsFolder);
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const found = await stat(path).catch(() => null);
      const oldest = this.#options.clock.now() - KEPT_MS;
      if (found !== null && found.mtimeMs < oldest) await rm(path, { force: true });
    }
  }
}
