import { describe, expect, test } from '@jest/globals';
import { noteActivity, startActivity } from '../../../bridge/runs/activity.js';
import { Coalesced } from '../../../bridge/runs/coalesced.js';
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

describe('coalesced work', () => {
  const turn = () => new Promise(setImmediate);

  test('runs once at a time, and once more after the last request', async () => {
    const answers: (() => void)[] = [];
    const work = new Coalesced(() => new Promise((resolve) => answers.push(resolve)));
    void work.ask();
    await turn();
    for (let times = 0; times < 1_000; times += 1) void work.ask();
    await turn();
    expect(answers).toHaveLength(1);
    answers[0]?.();
    await turn();
    expect(answers).toHaveLength(2);
    answers[1]?.();
    await turn();
    expect(answers).toHaveLength(2);
    void work.ask();
    await turn();
    expect(answers).toHaveLength(3);
  });

  test('that fails is reported to those who asked for it, and is done again for the next', async () => {
    let calls = 0;
    const work = new Coalesced(async () => {
      calls += 1;
      if (calls === 1) throw new Error('away');
    });
    await expect(work.ask()).rejects.toThrow('away');
    await work.ask();
    expect(calls).toBe(2);
  });
});
