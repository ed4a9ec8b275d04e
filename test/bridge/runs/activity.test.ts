import { describe, expect, test } from '@jest/globals';
import { activityLine, stepLine } from '../../../bridge/chat/progressView.js';
import { noteActivity, startActivity } from '../../../bridge/runs/activity.js';
import { Coalesced } from '../../../bridge/runs/coalesced.js';
import type { JournalEvent, PlanStatus } from '../../../src/journal/schema.js';
import { createRedactor } from '../../../src/log/redact.js';
import { ManualClock } from '../../harness/clock.js';

const CLOCK = new ManualClock();

describe('the view of a run in a chat', () => {
  const redact = createRedactor(['my-own-secret-value']);

  test.each(['my-own-secret-value', `ghp_${'a'.repeat(36)}`])('shows no part of a secret: %s', (secret) => {
    for (let before = 80; before < 125; before += 1) {
      const activity = startActivity(CLOCK);
      const text = `${'x'.repeat(before - 1)} ${secret}`;
      noteActivity(activity, { type: 'note', text }, CLOCK, redact);
      const line = { event: 'pre_tool_use', tool_use_id: '1', tool_name: 'sh', tool_input: { command: text } } as const;
      noteActivity(activity, { type: 'journal', line }, CLOCK, redact);
      expect(activity.note).not.toContain(secret.slice(0, 5));
      expect(activity.tool).not.toContain(secret.slice(0, 5));
    }
  });
});

test('a provider that refuses is not called thinking, from the first refusal until the model speaks again', async () => {
  const clock = new ManualClock();
  const redact = createRedactor([]);
  const activity = startActivity(clock);
  const shown = () => activityLine(activity, clock.monotonic());
  const note = (line: JournalEvent) => noteActivity(activity, { type: 'journal', line }, clock, redact);
  const until = '2026-02-05T09:30:00.000Z';
  const retry = { event: 'wait_start', kind: 'rate_limit', until } as const;
  expect(shown()).toBe('Thinking · 1 s');
  note({ ...retry, agent_id: 'helper' });
  expect(shown()).toBe('Thinking · 1 s');
  note(retry);
  await clock.advance(20_000);
  note(retry);
  expect(shown()).toBe("Waiting for the model's provider · 20 s");
  note({ event: 'wait_end', kind: 'rate_limit' });
  expect(shown()).toBe('Thinking · 1 s');
});

describe('the call that a chat shows', () => {
  const clock = new ManualClock();
  const watched = () => {
    const activity = startActivity(clock);
    const note = (line: JournalEvent) => noteActivity(activity, { type: 'journal', line }, clock, createRedactor([]));
    return {
      shown: () => activityLine(activity, clock.monotonic()),
      begin: (id: string, command: string, parent?: string) =>
        note({
          event: 'pre_tool_use',
          tool_use_id: id,
          tool_name: 'sh',
          tool_input: { command },
          ...(parent !== undefined && { agent_id: 'helper', parent_tool_use_id: parent }),
        }),
      end: (id: string) =>
        note({
          event: 'post_tool_use',
          tool_use_id: id,
          tool_name: 'sh',
          is_error: false,
          outcome: 'ok',
          tool_output_preview: '',
        }),
    };
  };

  test('is another one of the batch while that runs, with its own time; only after the last one the agent thinks', async () => {
    const { shown, begin, end } = watched();
    begin('1', 'make');
    begin('2', 'ls');
    expect(shown()).toBe('sh: ls · 1 s · 2 calls');
    await clock.advance(30_000);
    end('2');
    expect(shown()).toBe('sh: make · 30 s · 2 calls');
    end('1');
    expect(shown()).toBe('Thinking · 1 s · 2 calls');
    await clock.advance(5_000);
    end('1');
    expect(shown()).toBe('Thinking · 5 s · 2 calls');
  });

  test('is the one that started a sub-agent while that says nothing, and none of the sub-agent when it has ended', async () => {
    const { shown, begin, end } = watched();
    begin('1', 'delegate');
    begin('2', 'inner', '1');
    end('2');
    await clock.advance(48_000);
    expect(shown()).toBe('sh: delegate · 48 s · 2 calls');
    begin('3', 'cut off', '1');
    begin('4', 'deeper', '3');
    end('1');
    expect(shown()).toBe('Thinking · 1 s · 4 calls');
  });

  test('is none that never ended, if a hundred others began since', () => {
    const { shown, begin, end } = watched();
    begin('lost', 'lost');
    for (let count = 1; count <= 100; count += 1) begin(`${count}`, 'ls');
    for (let count = 1; count <= 100; count += 1) end(`${count}`);
    expect(shown()).toBe('Thinking · 1 s · 101 calls');
  });
});

describe('the step that a chat shows', () => {
  const redact = createRedactor(['my-own-secret-value']);
  const task = (title: string, status: PlanStatus, id?: string) => ({
    title,
    status,
    ...(id !== undefined && { external_id: id }),
  });
  type Plan = Extract<JournalEvent, { event: 'plan' }>;
  const stepAfter = (...plans: readonly Omit<Plan, 'event'>[]) => {
    const activity = startActivity(CLOCK);
    for (const plan of plans)
      noteActivity(activity, { type: 'journal', line: { event: 'plan', ...plan } }, CLOCK, redact);
    return stepLine(activity);
  };

  test('is the task in progress, else the first open one', () => {
    const items = [task('Look', 'completed'), task('Write the\ntests', 'in_progress'), task('Push', 'pending')];
    expect(stepAfter({ mode: 'replace', items })).toBe('step 2 of 3: Write the tests');
    const open = [
      task('Look', 'completed'),
      task('Ask', 'cancelled'),
      task('Write', 'pending'),
      task('Push', 'pending'),
    ];
    expect(stepAfter({ mode: 'replace', items: open })).toBe('step 2 of 3: Write');
  });

  test('is none without a list, and if everything is settled', () => {
    expect(stepAfter()).toBeNull();
    const items = [task('Look', 'completed'), task('Ask', 'skipped')];
    expect(stepAfter({ mode: 'replace', items })).toBeNull();
    expect(stepAfter({ mode: 'replace', items: [] })).toBeNull();
  });

  test('follows changes of single tasks, by their id or their title', () => {
    const made = { mode: 'merge', items: [task('Look', 'pending', '1'), task('Write', 'pending', '2')] } as const;
    const done = { mode: 'merge', items: [task('Write it', 'in_progress', '2')] } as const;
    expect(stepAfter(made, done)).toBe('step 2 of 2: Write it');
    const named = { mode: 'merge', items: [task('Look', 'in_progress')] } as const;
    expect(stepAfter(named, { mode: 'merge', items: [task('Look', 'completed'), task('Push', 'pending')] })).toBe(
      'step 2 of 2: Push',
    );
  });

  test('is none while a task is known only by its number, until the whole list is read: it was made in an earlier run', () => {
    const more = { mode: 'merge', items: [task('Write', 'pending', '3'), task('#1', 'in_progress', '1')] } as const;
    expect(stepAfter(more)).toBeNull();
    const items = [task('Look', 'in_progress', '1'), task('Push', 'pending', '2'), task('Write', 'pending', '3')];
    expect(stepAfter(more, { mode: 'replace', items })).toBe('step 1 of 3: Look');
    expect(stepAfter({ mode: 'merge', items: [task('#1', 'in_progress')] })).toBe('step 1 of 1: #1');
  });

  test("is never that of a sub-agent's list", () => {
    const items = [task('Look', 'pending')];
    expect(stepAfter({ mode: 'replace', items, agent_id: 'a' })).toBeNull();
    // Tasks with ids are shared.
    expect(stepAfter({ mode: 'merge', items: [task('Look', 'pending', '1')], agent_id: 'a' })).toBe(
      'step 1 of 1: Look',
    );
  });

  test('has no secret, and no more than a list of 200 tasks', () => {
    const secret = task(`Try my-own-secret-value`, 'in_progress');
    const items = [secret, ...Array.from({ length: 10_000 }, (_, at) => task(`task ${at}`, 'pending'))];
    const lines = [stepAfter({ mode: 'replace', items }), stepAfter({ mode: 'merge', items })];
    expect(lines).toEqual(Array(2).fill('step 1 of 200: Try [redacted:own_secret]'));
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
