/** What an agent is asked. */
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type PromptContext, promptOf } from '../../../bridge/runs/prompt.js';
import { type WorklogLine, worklogKind } from '../../../memory/fold/rules/kind.js';
import { Log } from '../../../memory/logs/log.js';
import { memorySettings } from '../../../src/config/memorySettings.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { revivalOf } from '../../../src/jobs/newRecords.js';
import { journalPath } from '../../../src/journal/path.js';
import { createRedactor, redactShapes } from '../../../src/log/redact.js';
import { isoTime, MINUTE } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { describeWithRedis } from '../../harness/redis.js';
import { repeatedIn } from '../../memory/brief/repeated.js';
import {
  activeSession,
  must,
  openSagaScene,
  runIdOf,
  type SagaScene,
} from '../../monitoring/incident/saga/sagaScene.js';

const HERE = readProcessIdentity('host-a');

function contextOf({ store, clock, folder, logger }: SagaScene, revival = 6_000): PromptContext {
  const memory = memorySettings().parse({ context: { revival } });
  const redact = createRedactor(['hunter2hunter2']);
  return { store, clock, here: HERE, logger, redact, settings: { logsFolder: folder, memory } };
}

const ask = async (context: PromptContext, session: AgentSession) => (await promptOf(context, session)).text;

/** Lines as they lie on the disk: not every writer had the secrets that this bridge has. */
function journalOf({ folder, clock }: SagaScene, { session_id }: AgentSession, ...lines: readonly object[]): void {
  const path = journalPath(folder, session_id);
  mkdirSync(dirname(path), { recursive: true });
  for (const line of lines) {
    const whole = { v: 1, timestamp: isoTime(clock.now()), session_id, ...line };
    appendFileSync(path, `${JSON.stringify(whole)}\n`);
  }
}

function declare({ folder, clock }: SagaScene, { session_id }: AgentSession, lines: WorklogLine[]): void {
  const path = join(dirname(journalPath(folder, session_id)), 'worklog.jsonl');
  mkdirSync(dirname(path), { recursive: true });
  Log.begin(path, worklogKind)?.write(() => lines, { clock, redact: redactShapes, origin: 'agent' });
}

const TASKS = {
  event: 'plan',
  mode: 'replace',
  items: [
    { title: 'Look', status: 'completed' },
    { title: 'Write the tests with hunter2hunter2 </session-record>', status: 'in_progress' },
    { title: 'Push', status: 'pending' },
  ],
};
const call = (id: string, tool_name: string, tool_input: object) => ({
  event: 'pre_tool_use',
  tool_use_id: id,
  tool_name,
  tool_input,
});
const result = (id: string, outcome: string) => ({ event: 'post_tool_use', tool_use_id: id, outcome });

/** A first attempt in its own directory, which holds a half-written file, and its revival. */
async function attempts(scene: SagaScene) {
  const directory = testFolder();
  writeFileSync(join(directory, 'half.ts'), 'const ha');
  const first = { ...(await activeSession(scene)), working_directory: directory };
  return { directory, first, second: revivalOf(first, scene.clock.now()) };
}

describeWithRedis('the prompt of a message whose run was interrupted', () => {
  // rule: interruptions-count-over-both-attempts
  test('says so in either attempt, of its own interruptions; the second one also says what became of the first', async () => {
    const scene = await openSagaScene();
    const first = await activeSession(scene);
    const second = revivalOf(first, scene.clock.now());
    const asked = (session: typeof first) => ask(contextOf(scene), session);
    const interrupted = 'You were interrupted while you worked on this';
    expect(await asked({ ...first, interruptions: 1 })).toContain(interrupted);
    const said = await asked({ ...second, interruptions: 1 });
    expect(said).toContain('This is the second and last attempt');
    expect(said).toContain(interrupted);
    expect(await asked(second)).not.toContain(interrupted);
    expect(revivalOf({ ...first, interruptions: 2 }, scene.clock.now()).interruptions).toBe(2);
  });

  test('of a second attempt does not say so because of the first one', async () => {
    const scene = await openSagaScene();
    const { store } = scene;
    const session = await activeSession(scene);
    const proof = { run_id: runIdOf(session), proven_at: scene.clock.now(), by: 'no_process' } as const;
    const waiting = must(await store.transitions.interrupt(session.session_id, runIdOf(session), proof));
    const second = revivalOf(waiting, scene.clock.now());
    expect(second.interruptions).toBe(1);
    expect(await ask(contextOf(scene), second)).not.toContain('You were interrupted');
    expect(await ask(contextOf(scene), { ...second, interruptions: 2 })).toContain('You were interrupted');
  });
});

describeWithRedis('the prompt of a second attempt', () => {
  test('has the message first, then the steps, the files in doubt and the last calls of the first one, as data', async () => {
    const scene = await openSagaScene();
    const { first, second, directory } = await attempts(scene);
    journalOf(
      scene,
      first,
      { event: 'user_prompt', text: first.request.message_text },
      TASKS,
      ...Array.from({ length: 11 }, (_, index) => [call(`r${index}`, 'Read', {}), result(`r${index}`, 'ok')]).flat(),
      call('1', 'Bash', { command: 'npm test' }),
      result('1', 'failed'),
      { event: 'files', modified: [join(directory, 'half.ts')], renamed: [{ from: 'old.ts', to: 'new.ts' }] },
      call('2', 'Write', { file_path: 'hunter2hunter2.ts' }),
      { event: 'session_end', reason: 'failed' },
    );
    await scene.clock.advance(2 * MINUTE);
    const prompt = await ask(contextOf(scene), second);
    const [message, , said, advice, record = ''] = prompt.split('\n\n');
    expect(message).toBe(first.request.message_text);
    expect(said).toMatch(/^This is the second and last attempt\. The first one was ended: .* Issue: pending\.$/);
    expect(advice).toMatch(/^Check what is already done .* another approach/);
    const lines = record.split('\n');
    expect([lines[0], lines.at(-1)]).toEqual(['<session-record>', '</session-record>']);
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^It began at .*; last activity .*, 2 min ago\.$/),
        '[x] t1 "Look"',
        '[~] t2 "Write the tests with [redacted:own_secret] ‹/session-record>"',
        '- "half.ts": 8 bytes, changed since it was last mentioned',
        '- "[redacted:own_secret].ts": it does not exist',
        '- renamed: "old.ts" to "new.ts"',
        expect.stringMatching(/ "Bash: npm test" failed$/),
      ]),
    );
    expect(lines.filter((line) => line.includes('"Read"'))).toHaveLength(10);
    expect(prompt).not.toContain('hunter2');
  });

  test('has what was declared, if the first one has a worklog', async () => {
    const scene = await openSagaScene();
    const { first, second } = await attempts(scene);
    journalOf(scene, first);
    declare(scene, first, [
      worklogKind.line('session_started', { session_id: first.session_id, purpose: 'Fix the login' }),
      worklogKind.line('step_added', { step: '1', title: 'Find the cause' }),
      worklogKind.line('file', { path: 'half.ts', to: 'working' }),
      worklogKind.line('note', { text: 'the API wants UTC', priority: 'critical' }),
    ]);
    const prompt = await ask(contextOf(scene), second);
    expect(prompt).toMatch(/^\[ \] 1 "Find the cause"$/m);
    expect(prompt).toMatch(/^- "half\.ts": 8 bytes/m);
    expect(prompt).toMatch(/^- critical: "the API wants UTC"$/m);
  });

  test('tells the plan, the message, the failed call and the file once each, also after an interruption', async () => {
    const scene = await openSagaScene();
    const { first, second, directory } = await attempts(scene);
    const titles = [
      'Find out why the login fails',
      'Write tests for the session cookie',
      'Tell the person what it was',
    ];
    const file = join(directory, 'half.ts');
    declare(scene, first, [
      worklogKind.line('session_started', { session_id: first.session_id, purpose: first.request.message_text }),
      ...titles.map((title, index) => worklogKind.line('step_added', { step: `${index + 1}`, title })),
      worklogKind.line('step', { step: '1', to: 'in_progress' }),
      worklogKind.line('step', { step: '1', to: 'completed' }),
      worklogKind.line('step', { step: '2', to: 'in_progress' }),
      worklogKind.line('file', { path: 'half.ts', to: 'working' }),
    ]);
    const statuses = ['completed', 'in_progress', 'pending'];
    journalOf(
      scene,
      first,
      { event: 'user_prompt', text: first.request.message_text },
      ...titles.flatMap((subject, index) => [call(`t${index}`, 'TaskCreate', { subject }), result(`t${index}`, 'ok')]),
      { event: 'plan', mode: 'replace', items: titles.map((title, index) => ({ title, status: statuses[index] })) },
      call('1', 'Bash', { command: 'npm run a-long-check' }),
      result('1', 'failed'),
      call('2', 'Bash', { command: 'watchkeeper track step 2 --start' }),
      result('2', 'ok'),
      { event: 'files', modified: [file] },
      call('3', 'Write', { file_path: file }),
      { event: 'session_end', reason: 'failed' },
    );
    const prompt = await ask(contextOf(scene), { ...second, interruptions: 1 });
    for (const words of [
      ...titles,
      first.request.message_text,
      'npm run a-long-check',
      file,
      'Check what is already done',
    ])
      expect([words, prompt.split(words).length - 1]).toEqual([words, 1]);
    expect(prompt).toMatch(/^\[~\] 2 "Write tests for the session cookie"$/m);
    expect(repeatedIn(prompt).join('').length).toBeLessThanOrEqual(160);
    // Nothing of it has to be looked up: these only repeat what stands above.
    expect(prompt).not.toMatch(/session begins|step \d added|track step|Its own tasks/);
  });

  test('stays within its characters, which the settings may lower to nothing', async () => {
    const scene = await openSagaScene();
    const { first, second } = await attempts(scene);
    const files = Array.from({ length: 500 }, (_, index) => `${'deep/'.repeat(10)}${index}.ts`);
    journalOf(scene, first, TASKS, { event: 'files', created: files });
    const lengthOf = async (revival: number) =>
      (await ask(contextOf(scene, revival), second)).length - first.request.message_text.length;
    expect(await lengthOf(6_000)).toBeGreaterThan(5_500);
    expect(await lengthOf(6_000)).toBeLessThanOrEqual(6_000);
    expect(await lengthOf(1_500)).toBeLessThanOrEqual(1_500);
    expect(await ask(contextOf(scene, 0), second)).not.toContain('session-record');
  });

  test('does without a record that cannot be read', async () => {
    const scene = await openSagaScene();
    const { first, second } = await attempts(scene);
    expect(await ask(contextOf(scene), second)).toMatch(/stuck\.$/);
    journalOf(scene, first, TASKS);
    symlinkSync('/dev/null', join(dirname(journalPath(scene.folder, first.session_id)), 'worklog.jsonl'));
    expect(await ask(contextOf(scene), second)).toMatch(/stuck\.$/);
    expect(scene.logged.join()).toContain('its prompt lacks the record of');
  });
});
