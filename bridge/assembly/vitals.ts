/** Builds what looks after the process itself: the pulse of its event loop, its guard, health over HTTP. */
import { join } from 'node:path';
import type { TerminalStream } from '../../src/log/logDestinations.js';
import type { Service } from '../../src/service.js';
import { lagGauge } from '../health/gauges.js';
import { type Gauge, HealthServer } from '../health/healthServer.js';
import { LifeSign } from '../health/lifeSign.js';
import { LoopBeat } from '../health/loopBeat.js';
import { beatFor, StallGuard } from '../health/stallGuard.js';
import type { Foundation } from './foundation.js';

export interface VitalsOptions {
  /** The log's name in the logs folder. */
  readonly logFile: string;
  readonly logStream: TerminalStream;
  readonly gauges: readonly Gauge[];
  /** Whether the process must not run without serving its health if that is configured. */
  readonly isHealthRequired: boolean;
}

/** @returns services to be started first and stopped last */
export function buildVitals({ settings, clock, logger, here }: Foundation, options: VitalsOptions): Service[] {
  const { logsFolder, containerDiesWhole, health, timings } = settings;
  const { stallMs: limitMs } = timings;
  const { logStream, isHealthRequired: isRequired } = options;
  const beat = new LoopBeat(clock, beatFor(limitMs));
  const logFile = join(logsFolder, options.logFile);
  const guard = new StallGuard({ beat, limitMs, logFile, isTerminal: logStream.isTTY ?? false, logger });
  const lifeSign = new LifeSign({ containerDiesWhole, logsFolder, here, parentPid: process.ppid, clock, logger });
  const gauges = [...options.gauges, lagGauge(beat)];
  const served = health === null ? [] : [new HealthServer({ ...health, gauges, clock, logger, isRequired })];
  return [lifeSign, beat, guard, ...served];
}
