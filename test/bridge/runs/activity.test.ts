import { describe, expect, test } from '@jest/globals';
import { noteActivity, startActivity } from '../../../bridge/runs/activity.js';
import { CoalescedWake } from '../../../bridge/runs/coalescedWake.js';
import { createRedactor } from '../../../src/log/redact.js';

describe('the view of a run in a chat', () => {
  const redact = createRedactor(['my-own-secret-value']);

  test.each(['my-own-secret-value', `ghp_${'a'.repeat(36)}`])('shows no part of a secret: %s', (secret) => {
    for (let before = 80; before < 125; before += 1) {
      const activity = startActivity(0);
      const text = `${'x'.repeat(before - 1)} ${secret}`;
      noteActivity(activity, { type: 'note', text }, 0, redact);
      const line = { event: 'pre_tool_use', tool_use_id: '1', tool_name: 'sh', tool_input: { command: text } } as const;
      noteActivity(activity, { type: 'journal', line }, 0, redact);
      expect(activity.note).not.toContain(secret.slice(0, 5));
      expect(activity.tool).not.toContain(secret.slice(0, 5));
    }
  });
});

describe('a coalesced wake', () => {
  test('makes one call at a time, and one more after the last request', async () => {
    const answers: (() => void)[] = [];
    const wake = new CoalescedWake(() => new Promise((resolve) => answers.push(resolve)));
    for (let times = 0; times < 1_000; times += 1) wake.ask();
    expect(answers).toHaveLength(1);
    answers[0]?.();
    await null;
    await null;
    expect(answers).toHaveLength(2);
    answers[1]?.();
    await null;
    await null;
    expect(answers).toHaveLength(2);
    wake.ask();
    expect(answers).toHaveLength(3);
  });
});
