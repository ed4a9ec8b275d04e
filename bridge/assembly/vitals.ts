/** Builds the parts that look after the process itself: the pulse of its event loop, its guard, health over HTTP. */
import type { Service } from '../../src/service.js';
import { lagGauge } from '../health/gauges.js';
import { type Gauge, HealthServer } from '../health/healthServer.js';
import { LifeSign } from '../health/lifeSign.js';
import { LoopBeat, StallGuard } from '../health/stallGuard.js';
import type { Foundation } from './foundation.js';

/** @param isRequired whether the process must not run without serving its health if that is configured */
export function buildVitals(foundation: Foundation, given: readonly Gauge[], isRequired: boolean): Service[] {
  const { settings, clock, logger, here, logStream, logPath: logFile } = foundation;
  const { logsFolder, containerDiesWhole, health, timings } = settings;
  const { stallMs: limitMs } = timings;
  const beat = new LoopBeat(clock, limitMs);
  const guard = new StallGuard({ beat, limitMs, logFile, isTerminal: logStream.isTTY ?? false, logger });
  const lifeSign = new LifeSign({ containerDiesWhole, logsFolder, here, parentPid: process.ppid, clock, logger });
  const gauges = [...given, lagGauge(beat)];
  const served = health === null ? [] : [new HealthServer({ ...health, gauges, clock, logger, isRequired })];
  return [lifeSign, beat, guard, ...served];
}
