import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** @returns a port of loopback that nobody listens on at this moment */
export async function freePort(): Promise<number> {
  const probe = createServer();
  probe.listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
