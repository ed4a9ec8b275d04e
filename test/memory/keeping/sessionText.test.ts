import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { sessionText } from '../../../memory/keeping/sessionText.js';
import { yamlOf } from '../../../memory/keeping/yaml.js';
import type { ShownFile } from '../../../memory/observed/combined.js';
import type { FileChange } from '../../../memory/observed/files.js';
import type { StepStatus } from '../../../memory/words.js';
import { WorklogScene } from '../worklogScene.js';

function frontMatter(text: string): { [key: string]: unknown } {
  const [, front = ''] = text.split(/^---\n/m);
  return parse(front);
}

function textOf({ log }: WorklogScene, files: Readonly<Record<string, ShownFile>> = {}): string {
  const tokens = { total: { input: 5, output: 2, cached: 1 }, by_agent: { no: { input: 5, output: 2, cached: 1 } } };
  const purpose = log.facts?.purpose ?? '';
  return sessionText(log, { purpose, tokens, last_activity: log.last_activity, files, more: { files: 2 } });
}

function scene(): WorklogScene {
  const log = new WorklogScene();
  log.write('session_started', { session_id: 's', purpose: 'Fix: "the" login\n# no', explicit: true });
  log.write('step_added', { step: '1', title: 'Find', agents: ['coder'] });
  log.write('step_added', { step: '2', title: 'Test --- it', blocked_by: ['1'] });
  log.write('step_added', { step: '3', title: 'Tell' });
  log.step('1', 'in_progress');
  log.write('error', { agent: 'coder', type: 'runtime', message: 'it: broke\n# loudly', step: '1' });
  log.step('1', 'completed', {
    files: { created: ['a.ts'], modified: [], deleted: [] },
    context: { warnings: ['mind the clock'] },
    output: 'found it\n# its own heading\n<!-- @ann',
    validation: { passed: true, details: '12 tests' },
  });
  log.step('2', 'in_progress');
  log.step('3', 'skipped', {}, 'person');
  return log;
}

test('the front matter has the facts of the state, under the names and in the order of the older format', () => {
  const facts = frontMatter(textOf(scene()));
  expect(Object.keys(facts).join(' ')).toBe(
    'session_id task created updated status workflow_mode design_document implementation_plan current_phase total_phases execution_mode execution_backend task_complexity token_usage phases',
  );
  expect(facts).toMatchObject({
    session_id: 's',
    task: 'Fix: "the" login\n# no',
    status: 'in_progress',
    current_phase: '2',
    total_phases: 3,
    token_usage: { total_input: 5, total_output: 2, total_cached: 1, by_agent: { no: { input: 5 } } },
    phases: [
      {
        id: '1',
        status: 'completed',
        agents: ['coder'],
        files_created: ['a.ts'],
        downstream_context: {
          ...{ key_interfaces_introduced: [], patterns_established: [], integration_points: [], assumptions: [] },
          warnings: ['mind the clock'],
        },
        errors: [{ type: 'runtime', message: 'it: broke\n# loudly', resolution: 'step completed', resolved: true }],
        retry_count: 0,
      },
      { name: 'Test --- it', blocked_by: ['1'], completed: null, downstream_context: { warnings: [] } },
      { status: 'skipped' },
    ],
  });
});

test('below it are the phases with their marks, and no word of an agent becomes a heading', () => {
  const [, , ...body] = textOf(scene()).split(/^---\n/m);
  const lines = body.join('---\n').split('\n');
  expect(lines[0]).toMatch(/^<!-- Generated .*`watchkeeper track`.*`transition_phase`.* -->$/);
  expect(lines.filter((line) => line.startsWith('#'))).toEqual([
    '# Fix: "the" login\\n# no Orchestration Log',
    '## Phase 1: Find ✓',
    '### Files changed',
    '### Downstream context',
    '### Errors',
    '## Phase 2: Test --- it ○',
    '## Phase 3: Tell –',
    '## Left out',
  ]);
  expect(lines).toEqual(
    expect.arrayContaining([
      '> ### its own heading',
      '> \\<!-- `@ann`',
      '- a.ts (created)',
      'Validation: passed, 12 tests',
    ]),
  );
  expect(lines).toContainEqual(
    expect.stringMatching(/^- 2026-\S+Z runtime of coder: it: broke\\n# loudly \(resolved: step completed\)$/),
  );
});

test.each<[string | null, readonly StepStatus[]]>([
  [null, []],
  ['p1', ['pending', 'pending']],
  ['p2', ['pending', 'in_progress']],
  ['p2', ['completed', 'failed', 'pending']],
  ['p3', ['completed', 'skipped', 'pending']],
  ['p2', ['completed', 'cancelled']],
])('the current phase is %s of %j, and headings name its id', (current, statuses) => {
  const log = new WorklogScene();
  log.write('session_started', { session_id: 's', purpose: 'p' });
  for (const [index, to] of statuses.entries()) {
    const id = `p${index + 1}`;
    log.write('step_added', { step: id, title: 'x' });
    if (to === 'completed' || to === 'failed') log.step(id, 'in_progress');
    if (to !== 'pending') log.step(id, to, { reason: 'r' }, 'person');
  }
  const text = textOf(log);
  expect(frontMatter(text).current_phase).toBe(current);
  expect(text.match(/^## Phase \S+/gm) ?? []).toEqual(statuses.map((_, index) => `## Phase p${index + 1}:`));
});

test('a phase says why it has no context', () => {
  const log = scene();
  log.step('2', 'completed', { no_context_reason: 'only\ntests' });
  expect(textOf(log)).toContain('\nNo downstream context: only\\ntests\n');
});

test('a phase has its declared files, and those that were observed while it alone was in progress', () => {
  const of = (step: string | null, change?: FileChange, from: string | null = null) => {
    const status = step === null || change === undefined ? ('done' as const) : null;
    return { at: 1, status, step, digest: null, ...(change !== undefined && { change, from }) };
  };
  const text = textOf(scene(), {
    'a.ts': of('1', 'modified'),
    'b.ts': of('1', 'created'),
    'new.ts': of('1', 'renamed', 'old.ts'),
    'seen.ts': of('1', 'read'),
    'x.ts': of('1', 'changed'),
    'said.ts': of('2'),
    'other.ts': of(null, 'deleted'),
  });
  expect(frontMatter(text).phases).toMatchObject([
    { files_created: ['a.ts', 'b.ts', 'new.ts'], files_modified: [], files_deleted: ['old.ts'] },
    { files_created: [], files_modified: [], files_deleted: [] },
    {},
  ]);
  const [, files = ''] = text.split('## Files\n\n');
  expect(files.trimEnd().split(/\n+/)).toEqual([
    '- a.ts: modified, step 1',
    '- b.ts: created, step 1',
    '- new.ts: renamed from old.ts, step 1',
    '- x.ts: changed by a shell command, step 1',
    '- said.ts: done, step 2',
    '- other.ts: deleted, done',
    '## Left out',
    '- files: 2',
  ]);
});

test('a session that has ended shows how', () => {
  const log = scene();
  log.write('session_ended', { reason: 'failed' });
  expect(frontMatter(textOf(log)).status).toBe('failed');
});

test('no key and no text means anything to a reader of YAML', () => {
  expect(yamlOf({ no: 'yes', 'a: b': '- x', plain_key: '\u2028\u0085', empty: {}, list: [] })).toEqual([
    '"no": "yes"',
    '"a: b": "- x"',
    'plain_key: "\\u2028\\u0085"',
    'empty: {}',
    'list: []',
  ]);
});

test('a reader of YAML finds every text as it was', () => {
  const texts = [
    'no',
    '- x',
    'a: b # c',
    '\u2028\u0085',
    "'",
    '"\\',
    '{',
    '&a *b',
    '\ufffe',
    '😀',
    '',
    ' ',
    '---',
    '...',
  ];
  const members = { texts, nested: Object.fromEntries(texts.map((text) => [text, [{ text, on: null }]])) };
  expect(parse(yamlOf(members).join('\n'))).toEqual(members);
});
