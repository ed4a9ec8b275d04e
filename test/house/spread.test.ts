import { expect, test } from '@jest/globals';
import { SPREAD } from './spread.js';

test.each<[string, Record<string, string>, string[]]>([
  [
    'whole `Memory`',
    {
      'memory/a.ts': 'function a(memory: Memory) {}',
      'memory/b.ts': "function b({ clock }: Pick<Memory, 'clock'>) {} // memory: Memory",
    },
    ['memory/a.ts'],
  ],
  [
    '"a run is going"',
    {
      'memory/show/a.ts': 'const a = run.ended_at === null;\nconst b = livenessOf(log, here) === 1;',
      'memory/fold/runs.ts': 'run.ended_at === null;\nrun.ended_at !== null;',
      'memory/fold/rules/runs.ts': 'run.ended_at === null;',
      'src/jobs/a.ts': 'run.ended_at === null;',
    },
    ['memory/show/a.ts:1', 'memory/show/a.ts:2', 'memory/fold/runs.ts:1'],
  ],
  [
    'type or function for a session',
    {
      'memory/show/a.ts': 'interface A {\n  readonly crashed: boolean;\n  readonly liveness: Liveness;\n}',
      'memory/plans/b.ts': 'interface B {\n  readonly stuck: readonly string[];\n}',
      'memory/condition/c.ts': 'interface C {\n  readonly stuck: Stuck | null;\n}',
      'memory/condition/d.ts': 'interface D {\n  readonly attention: Attention;\n}',
    },
    ['memory/show/a.ts', 'memory/condition/c.ts'],
  ],
  [
    'judge it',
    {
      'bridge/cli/a.ts': 'isCrashed(log, here);\nif (log.notices.length > 0) b();',
      'memory/fold/crash.ts': 'isCrashed(log, here);',
      'memory/show/b.ts': "say('isCrashed(log)'); export function livenessOf(log) {}",
    },
    ['bridge/cli/a.ts'],
  ],
  [
    'closed by hand',
    { 'memory/a.ts': 'session?.log.close();\nlog?.close();\nfile.close();' },
    ['memory/a.ts:1', 'memory/a.ts:2'],
  ],
  [
    'agent program',
    {
      'bridge/a.ts': 'const a = { codex: 1 };',
      'bridge/plugin/codex.ts': "name('codex');",
      'src/b.ts': "name('codex');",
    },
    ['bridge/a.ts', 'src/b.ts'],
  ],
])('%s is counted', (name, files, places) => {
  const question = SPREAD.find((each) => each.name.includes(name));
  if (question === undefined) throw new Error(`there is no question ${name}`);
  expect(question.places(new Map(Object.entries(files)))).toEqual(places);
});
