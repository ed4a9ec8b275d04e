/** One system call for all commands of a turn of the event loop, where each would be one of its own. */
import type { Socket } from 'node:net';

/** @param socket whose writes leave together, at the end of the turn in which they were made */
export function writeTogether(socket: Socket): void {
  const write = socket.write;
  let isGathering = false;
  socket.write = ((...args: Parameters<typeof write>) => {
    if (!isGathering) {
      isGathering = true;
      socket.cork();
      process.nextTick(() => {
        isGathering = false;
        socket.uncork();
      });
    }
    return write.apply(socket, args);
  }) as typeof write;
}
