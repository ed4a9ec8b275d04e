import type { Settings } from '../../src/config/settings.js';
import { describeError } from '../../src/errors.js';
import type { Logger } from '../../src/log/logger.js';
import type { Clock } from '../../src/time.js';
import { startEmbeddedRedis } from './embeddedRedis.js';

/** The configured Redis, or one of the bridge's own. @throws UsageError, UnreachableError as {@link startEmbeddedRedis} */
export async function obtainRedis(settings: Settings, clock: Clock, logger: Logger, stopping: AbortSignal) {
  const never = new AbortController().signal;
  if (settings.redisUrl !== null) {
    const nothing = { missingFile: () => null, saveAgain: async () => undefined };
    return { url: settings.redisUrl, lost: never, stop: async () => undefined, ...nothing };
  }
  const { logsFolder, programPath: path, host, timings } = settings;
  const notify = (sentence: string) => logger.warn(sentence);
  const hungMs = timings.stallMs;
  const redis = await startEmbeddedRedis({ logsFolder, path, host, clock, stopping, hungMs, notify });
  redis.lost.addEventListener('abort', () => logger.error(describeError(redis.lost.reason)), { once: true });
  if (redis.notice !== null) logger.warn(redis.notice);
  const place = redis.persistent ? `, data below ${logsFolder}` : '';
  logger.info(`REDIS_URL is not set: the bridge owns a ${redis.kind}${place}`);
  return redis;
}
