/** Notices to the operator about the bridge's own Redis. */
import { describeDuration } from '../../src/time.js';
import { type Endpoint, logPath } from './endpoint.js';

export const IN_MEMORY =
  'NO redis-server OR valkey-server IS ON PATH: the JavaScript server is used instead. It KEEPS NOTHING when it ends and is slow; use it for trials only. Install Redis 6.2 or newer, or set REDIS_URL';

export function hungWords({ kind, server }: Endpoint, hungMs: number): string {
  return `the bridge's own Redis (${kind}, process ${server.pid}) has not answered for ${describeDuration(hungMs)} and is being killed`;
}

export function replacedWords(former: Endpoint, now: Endpoint): string {
  const gone = `the bridge's own Redis (${former.kind}, process ${former.server.pid}) was gone`;
  if (now.persistent) return `${gone}; process ${now.server.pid} serves its data again`;
  return `${gone}, AND ALL ITS DATA IS LOST: waiting messages, sessions, open incidents, conversations. The bridge stores again what it is running and the waiting messages that it knows of. Process ${now.server.pid} starts empty. Install Redis 6.2 or newer, or set REDIS_URL`;
}

/** @param ends how often it ended; `trouble` is why the last start failed */
export function lostWords(
  { kind, persistent }: Endpoint,
  { folder, ends, trouble }: { readonly folder: string; readonly ends: number; readonly trouble: string | null },
): string {
  const what = `the bridge's own Redis (${kind}) ended ${ends} times in a row, each time within a minute of its start`;
  const last = trouble === null ? '' : ` (at last: ${trouble})`;
  const data = persistent ? `, its data in ${folder} are damaged (\`redis-check-aof --fix\`, on a copy)` : '';
  return `${what}${last}. ${logPath(folder)} says why: memory or disk is full, something kills it${data}. Fix that and start the bridge again, or set REDIS_URL to another Redis`;
}
