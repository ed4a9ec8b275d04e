/** `session.md` of a run with four phases: a program reads its front matter, and a person who was not there its body. */
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { sessionText } from '../../../memory/keeping/sessionText.js';
import { WorklogScene } from '../worklogScene.js';

/** Phase 1 is done, 2 was retried after a failure and is done, 3 has failed, 4 waits for it. */
function run(): WorklogScene {
  const log = new WorklogScene();
  log.write('session_started', { session_id: '2026-01-01-sign-in', purpose: 'Add sign-in', explicit: true });
  const add = (step: string, title: string, agents: string[], more = {}) =>
    log.write('step_added', { step, title, agents, ...more });
  add('1', 'Schema', ['architect']);
  add('2', 'Server', ['coder'], { blocked_by: ['1'], parallel: true });
  add('3', 'Form', ['coder', 'designer'], { blocked_by: ['1'], parallel: true });
  add('4', 'Review', ['reviewer'], { blocked_by: ['2', '3'] });
  const files = { created: [], modified: [], deleted: [] };
  log.step('1', 'in_progress', { agent: 'architect' });
  log.step('1', 'completed', {
    files: { ...files, created: ['src/schema.ts'] },
    context: { key_interfaces_introduced: ['User { id, email }'], warnings: ['no index yet'] },
    output: 'Users and sessions.',
  });
  log.step('2', 'in_progress', { agent: 'coder' });
  log.step('3', 'in_progress', { agent: 'designer' });
  log.write('error', { step: '2', agent: 'coder', type: 'validation', message: 'no cookie is set' });
  log.step('2', 'failed', { reason: 'no cookie is set' });
  log.step('2', 'in_progress', { agent: 'coder' });
  log.write('tokens', { agent: 'coder', input: 7, output: 3, cached: 1, step: '2' });
  log.step('2', 'completed', {
    files: { ...files, modified: ['src/server.ts'], deleted: ['src/old.ts'] },
    no_context_reason: 'nothing is behind it',
    validation: { passed: true, details: 'npm test' },
  });
  log.write('error', { step: '3', agent: 'designer', type: 'dependency', message: 'the font is not licensed' });
  log.step('3', 'failed', { reason: 'the font is not licensed' });
  log.write('error', { type: 'runtime', message: 'the disk was full for a minute', resolved: true });
  return log;
}

function partsOf({ log }: WorklogScene) {
  const by_agent = { coder: { input: 7, output: 3, cached: 1 } };
  const { last_activity, facts } = log;
  const totals = { purpose: facts?.purpose ?? '', tokens: { total: by_agent.coder, by_agent }, last_activity };
  const [, front = '', body = ''] = sessionText(log, { ...totals, files: {}, more: {} }).split(/^---\n/m);
  // Times are those of the scene.
  return {
    front: parse(front),
    body: body
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .trimEnd()
      .split('\n'),
  };
}

test('the front matter has exactly the keys of the format, in their order', () => {
  const { front } = partsOf(run());
  const keys = (value: object) => Object.keys(value).join(' ');
  expect(keys(front)).toBe(
    'session_id task created updated status workflow_mode design_document implementation_plan current_phase total_phases ' +
      'execution_mode execution_backend task_complexity token_usage phases',
  );
  expect(keys(front.token_usage)).toBe('total_input total_output total_cached by_agent');
  expect(keys(front.token_usage.by_agent.coder)).toBe('input output cached');
  expect(front.phases).toHaveLength(4);
  for (const phase of front.phases) {
    expect(keys(phase)).toBe(
      'id name status agents parallel started completed blocked_by files_created files_modified files_deleted ' +
        'downstream_context errors retry_count',
    );
    expect(keys(phase.downstream_context)).toBe(
      'key_interfaces_introduced patterns_established integration_points assumptions warnings',
    );
    for (const error of phase.errors) expect(keys(error)).toBe('agent timestamp type message resolution resolved');
  }
  expect(front).toMatchObject({ current_phase: '3', total_phases: 4 });
  expect(front.phases).toMatchObject([
    { retry_count: 0, errors: [] },
    { retry_count: 1, errors: [{ resolved: true }] },
    { retry_count: 0, errors: [{ resolved: false }] },
    { retry_count: 0, errors: [] },
  ]);
});

test('the body says what is done, what is open, and why a phase failed', () => {
  const { body } = partsOf(run());
  expect(body.slice(2)).toEqual(
    `# Add sign-in Orchestration Log

4 phases: 2 completed, 1 failed, 1 pending. Open: 3 (failed), 4 (pending).

Marks: ✓ completed, ○ in progress, ✗ failed, □ pending, – skipped or cancelled.

## Phase 1: Schema ✓

- status: completed
- started TIME, ended TIME
- planned for: architect

> Users and sessions.

### Files changed

- src/schema.ts (created)

### Downstream context

- key interfaces introduced: User { id, email }
- warnings: no index yet

## Phase 2: Server ✓

- status: completed
- started TIME, ended TIME
- tried again: once
- planned for: coder
- comes after: 1

### Files changed

- src/server.ts (modified)
- src/old.ts (deleted)

No downstream context: nothing is behind it

Validation: passed, npm test

### Errors

- TIME validation of coder: no cookie is set (resolved: step completed)

## Phase 3: Form ✗

- status: failed: the font is not licensed
- started TIME, ended TIME
- planned for: coder, designer
- started by: designer
- comes after: 1

### Errors

- TIME dependency of designer: the font is not licensed (open)

## Phase 4: Review □

- status: pending
- planned for: reviewer
- comes after: 2, 3

## Errors of no phase

- TIME runtime: the disk was full for a minute (resolved)`.split('\n'),
  );
});

test('the body says how a session ended, and what was not checked', () => {
  const log = run();
  log.step('3', 'skipped', { reason: 'no form this year' }, 'person');
  log.step('4', 'in_progress');
  log.step('4', 'completed', { assumed: true });
  log.write('session_ended', { reason: 'completed', summary: 'The server is there.\n# The form is not' });
  const { body } = partsOf(log);
  expect(body.slice(4, 7)).toEqual([
    'Ended as completed: The server is there.\\n# The form is not',
    '',
    '4 phases: 3 completed, 1 skipped. None is open.',
  ]);
  expect(body).toContain('- status: completed, which was not checked');
  expect(body).toContain('- status: skipped: no form this year');
});

test('a phase in progress says which agent has it', () => {
  const log = run();
  const process = { host: 'h', boot_id: 'b', pid_namespace: '', pid: 7, pid_start: '1' };
  log.step('3', 'in_progress', { agent: 'coder', holder: { process } });
  const { body } = partsOf(log);
  expect(body).toContain('4 phases: 2 completed, 1 in progress, 1 pending. Open: 3 (in progress), 4 (pending).');
  expect(body).toContain('- in the hands of: process 7 (agent coder)');
  expect(body).toContain('- status: in progress');
});
