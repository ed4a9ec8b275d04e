import { DEFAULT_THRESHOLDS, type Thresholds } from '../../src/config/rules.js';
import { readOptionFile } from './options.js';

const LONGEST_BYTES = 1024 * 1024;

/**
 * @param path the file of `--thresholds`; null: the defaults
 * @throws UsageError with every fault of the file
 */
export async function readThresholds(path: string | null): Promise<Thresholds> {
  if (path === null) return DEFAULT_THRESHOLDS;
  const text = await readOptionFile('--thresholds', path, LONGEST_BYTES);
  // Loaded only on demand: without it, a plain `assess` starts in half the time.
  const { checkThresholds } = await import('../../src/config/thresholdsFile.js');
  return { ...DEFAULT_THRESHOLDS, ...checkThresholds(path, text) };
}

/** @returns every threshold by its configuration name: `silence_ms 600000, error_batches 5, …` */
export function describeThresholds(thresholds: Thresholds): string {
  return Object.entries(thresholds)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
