import { describe, expect, test } from '@jest/globals';
import {
  lastingReason,
  type Reason,
  readReason,
  reasonWord,
} from '../../../../monitoring/verdict/detectors/reasons.js';

describe('the word of a reason', () => {
  test.each<[string, Reason]>([
    ['run_lost', { kind: 'plain', reason: 'run_lost' }],
    ['run_failed_rate_limit', { kind: 'plain', reason: 'run_failed_rate_limit' }],
    ['silent_for_15_minutes', { kind: 'lasting', what: 'silent', value: 15, unit: 'minutes' }],
    ['waiting_for_6_seconds', { kind: 'lasting', what: 'waiting', value: 6, unit: 'seconds' }],
    ['error_cascade_of_6', { kind: 'counted', rule: 'error_cascade', count: 6 }],
    ['provider_outage_of_12', { kind: 'counted', rule: 'provider_outage', count: 12 }],
    ['run_failed_exit_137', { kind: 'exit', code: 137 }],
    ['run_failed_signal_SIGKILL', { kind: 'signal', signal: 'SIGKILL' }],
  ])('%s is parsed as the fact that it was made from', (word, reason) => {
    expect(reasonWord(reason)).toBe(word);
    expect(readReason(word)).toEqual(reason);
  });

  test.each([
    '',
    'run_failed',
    'run_lost ',
    'loop_of_',
    'loop_of_1e3',
    'silent_for_1_hours',
    'silent_for__minutes',
    'silent_for_seconds',
    'run_failed_signal_sigkill',
    'run_failed_signal_SIGKILL; rm -rf /',
  ])('%j, which nothing here writes, has no meaning', (word) => {
    expect(readReason(word)).toBeNull();
  });

  test('has whole minutes, and seconds only below one minute', () => {
    expect([59_999, 60_000, 119_999].map((ms) => lastingReason('running', ms))).toEqual([
      'running_for_59_seconds',
      'running_for_1_minutes',
      'running_for_1_minutes',
    ]);
  });
});
