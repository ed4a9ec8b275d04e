/** Another program imports `@watchkeeper/watchkeeper/logs` from a package: its types are whole, and what it reads is right. */
// covers: bridge/library/logs.ts bridge/library/criticalEvent.ts
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import type { CriticalEvent as Declared } from '../../bridge/library/criticalEvent.js';
import { worklogKind } from '../../memory/fold/rules/kind.js';
import { packageRoot } from '../../src/host/program.js';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { testFolder } from '../harness/folder.js';
import { memoryScene } from '../memory/scene.js';
import { packCheckout, unpack } from './packing.js';

const ROOT = packageRoot();
const LIMIT_MS = 120_000;

/** Whole without a package of types, and with all types of the library checked. */
const STRICT = {
  compilerOptions: {
    ...{ target: 'es2022', module: 'nodenext', lib: ['es2023', 'dom'], types: [], outDir: 'out' },
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
  },
  files: ['consumer.ts'],
};
const CONSUMER = `
import { type CriticalEvent, type JournalLine, readCriticalEvents, readJournal, readWorklog } from '@watchkeeper/watchkeeper/logs';

declare const process: { readonly argv: string[] };
declare const console: { log(text: string): void };
const [, , events = '', journal = '', worklog = ''] = process.argv;
const open = (event: CriticalEvent): string | null => (event.final ? null : event.incident_id);
const tool = (line: JournalLine): string[] => (line.event === 'pre_tool_use' ? [line.tool_name] : []);
// @ts-expect-error no such field
export const misspelt = (event: CriticalEvent) => event.incidentId;
// @ts-expect-error only of some lines
export const anywhere = (line: JournalLine) => line.tool_name;
const tools: string[] = [];
for await (const line of readJournal(journal)) tools.push(...tool(line));
const state = readWorklog(worklog);
const steps = state?.steps.map(({ title, status }) => [title, status]);
console.log(JSON.stringify({ open: (await readCriticalEvents(events)).map(open), tools, purpose: state?.purpose, steps }));
`;

let folder: string;

beforeAll(async () => {
  folder = testFolder();
  const scope = join(folder, 'node_modules/@watchkeeper');
  mkdirSync(scope, { recursive: true });
  unpack(await packCheckout(), join(scope, 'watchkeeper'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(STRICT));
  writeFileSync(join(folder, 'consumer.ts'), CONSUMER);
}, LIMIT_MS);

test(
  'it compiles in the strictest mode, and reads critical events, a journal and a worklog',
  () => {
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const compiled = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
    expect(compiled.stdout).toBe('');
    const { events, journal } = written();
    const memory = memoryScene().open();
    const plan = [worklogKind.line('step_added', { step: '1', title: 'Write it' })];
    const { log, folder: session } = memory.lifecycle.begin(memory.workspace, {
      ...{ purpose: 'Fix the login', fields: {}, plan, concurrent: false },
    });
    log.close();
    const paths = [events, journal, join(session, 'worklog.jsonl')];
    const read = spawnSync(process.execPath, ['out/consumer.js', ...paths], { cwd: folder, encoding: 'utf8' });
    expect(read.stderr).toBe('');
    expect(JSON.parse(read.stdout)).toEqual({
      open: ['i1', null],
      tools: ['Bash', 'Edit'],
      purpose: 'Fix the login',
      steps: [['Write it', 'pending']],
    });
  },
  LIMIT_MS,
);

test('the declared critical event is the one that is written', () => {
  const same: [Declared, CriticalEvent] extends [CriticalEvent, Declared] ? true : false = true;
  expect(same).toBe(true);
});

function written(): { events: string; journal: string } {
  const timestamp = '2026-11-01T10:00:00.000Z';
  const nothing = { session_id: null, project_key: null, reason: null, rule: null, action_taken: null };
  const event = { v: 1, timestamp, event: 'watchdog_gap', ...nothing, github_issue: null, details: null };
  const lines = [
    { ...event, id: 'i1.a', incident_id: 'i1', final: false },
    { ...event, id: 'i1.a', incident_id: 'i1', final: false },
    { ...event, id: 'i2.a', incident_id: 'i2', final: true },
  ];
  const call = (tool_name: string, id: string) => ({
    ...{ v: 1, timestamp, session_id: 's', event: 'pre_tool_use', tool_use_id: id, tool_name, tool_input: {} },
  });
  const calls = [call('Bash', 't1'), { ...call('Never', 't2'), event: 'of_a_later_version' }, call('Edit', 't3')];
  const write = (name: string, records: readonly object[]) => {
    const path = join(testFolder(), name);
    writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    return path;
  };
  return { events: write('critical_events.jsonl', lines), journal: write('tool_use.jsonl', calls) };
}
