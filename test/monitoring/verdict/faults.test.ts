import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import { HOUR, MINUTE, SECOND } from '../../../src/time.js';
import { measureFaults, measureQuietWords } from '../../faults/measure.js';

describe('a fault injected into a recorded healthy session', () => {
  // rule: every-injected-fault-is-found
  test('is found in every one of them, exactly in time', () => {
    const rows = measureFaults(join(import.meta.dirname, '../../fixtures/sessions'));
    expect(rows.map(({ fault, rule, injected, found, missed }) => [fault, rule, injected, found, missed])).toEqual([
      ['the agent stops while it thinks', 'silence', 88, 88, []],
      ['the agent stops within a call', 'silence', 88, 88, []],
      ['its calls fail from some point on', 'error_cascade', 88, 88, []],
      ['it repeats its last call', 'loop', 88, 88, []],
      ['its turn goes on', 'runaway', 88, 88, []],
    ]);
    const thinking = rows[0]?.delaysMs ?? [];
    expect(new Set(thinking)).toEqual(new Set([DEFAULT_THRESHOLDS.silence_ms + 1]));
    const stretched = rows[4]?.delaysMs ?? [];
    expect(Math.max(...stretched)).toBeLessThanOrEqual(DEFAULT_THRESHOLDS.runaway_ms + 1);
    expect(Math.max(...(rows[3]?.delaysMs ?? []))).toBeLessThan(MINUTE);
  });

  test('is mentioned quietly after six minutes if the model hangs; a healthy one is in two places', () => {
    const { delaysMs, warnings, owedMs } = measureQuietWords(join(import.meta.dirname, '../../fixtures/sessions'));
    expect(delaysMs).toHaveLength(88);
    const { quiet_ms } = DEFAULT_THRESHOLDS;
    expect(delaysMs.every((delay) => delay > quiet_ms && delay <= quiet_ms + SECOND)).toBe(true);
    expect([warnings, Math.round(owedMs / HOUR)]).toEqual([2, 38]);
  });
});
