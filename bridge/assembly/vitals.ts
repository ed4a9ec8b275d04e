/** Builds what looks after the process itself: the pulse of its event loop, its guard, health over HTTP. */
import { join } from 'node:path';
import { MemoryMark } from '../../src/jobs/memoryMark.js';
import type { Store } from '../../src/jobs/store.js';
import { publishWake } from '../../src/jobs/wakes.js';
import type { Service } from '../../src/service.js';
import { lagGauge } from '../health/gauges.js';
import { type Gauge, HealthServer } from '../health/healthServer.js';
import { LifeSign } from '../health/lifeSign.js';
import { LoopBeat } from '../health/loopBeat.js';
import { beatFor, StallGuard } from '../health/stallGuard.js';
import { StorePulse } from '../health/storePulse.js';
import type { Foundation } from './foundation.js';

export interface VitalsOptions {
  /** The log's name in the logs folder. */
  readonly logFile: string;
  /** Whether a person reads standard error. */
  readonly isTerminal: boolean;
  readonly gauges: readonly Gauge[];
  /** Whether the process must not run without serving its health if that is configured. */
  readonly isHealthRequired: boolean;
}

/** @returns services to be started first and stopped last */
export function buildVitals({ settings, clock, logger, here }: Foundation, options: VitalsOptions): Service[] {
  const { stallMs: limitMs } = settings.timings;
  const beat = new LoopBeat(clock, beatFor(limitMs));
  const logFile = join(settings.logsFolder, options.logFile);
  const guard = new StallGuard({ beat, limitMs, logFile, isTerminal: options.isTerminal, logger });
  const { logsFolder } = settings;
  const lifeSign = new LifeSign({ logsFolder, here, parentPid: process.ppid, clock, logger });
  const always = settings.containerDiesWhole ? [lifeSign, beat, guard] : [beat, guard];
  if (settings.health === null) return always;
  const gauges = [...options.gauges, lagGauge(beat)];
  const isRequired = options.isHealthRequired;
  return [...always, new HealthServer({ ...settings.health, gauges, clock, logger, isRequired })];
}

/**
 * @param onForgotten called when the store has forgotten everything
 * @returns the detector of a Redis that refuses its work or has forgotten some, and of its recovery
 */
export function buildStorePulse(
  { settings, clock, logger, outage }: Foundation,
  store: Store,
  onForgotten: () => void = () => undefined,
): Service {
  const mark = new MemoryMark(store.redis, store.keys, clock);
  const lookAtEverything = () => {
    const lost = (err: unknown) => logger.debug({ err }, 'what waited is looked at on schedule');
    publishWake(store, { everything: true }).catch(lost);
  };
  return new StorePulse({
    write: async () => {
      await store.presences.touch(settings.host);
      const forgotten = await mark.renew();
      if (forgotten === 'nothing') return;
      if (forgotten === 'all') onForgotten();
      lookAtEverything();
    },
    onWritten: (error) => outage.wrote(error),
    onBack: lookAtEverything,
    clock,
  });
}
