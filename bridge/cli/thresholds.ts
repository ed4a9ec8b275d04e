import type { Thresholds } from '../../src/model.js';

/** @returns every threshold by the name that it is configured by: `silence_ms 600000, error_batches 5, …` */
export function describeThresholds(thresholds: Thresholds): string {
  return Object.entries(thresholds)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
