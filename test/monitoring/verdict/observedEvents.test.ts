/** Tasks, files, tokens and words are for people: no verdict changes by them. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { type AssessedSession, assessPaths } from '../../../monitoring/offline/assessPaths.js';
import { DEFAULT_THRESHOLDS, type Thresholds } from '../../../src/config/rules.js';
import { isoTime, SECOND } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';

const FIXTURES = join(import.meta.dirname, '../../fixtures');

type Line = Readonly<Record<string, unknown>>;

/** Of an instant, of an agent: each as a program may write it. */
function observed({ timestamp, session_id, agent_id, tool_use_id }: Line, laterMs: number): Line[] {
  const at = { timestamp: isoTime(Date.parse(String(timestamp)) + laterMs), session_id };
  const of = {
    v: 1,
    ...at,
    ...(agent_id !== undefined && { agent_id }),
    ...(tool_use_id !== undefined && { tool_use_id }),
  };
  return [
    { ...of, event: 'plan', mode: 'replace', items: [{ title: 'Write the tests', status: 'in_progress' }] },
    { ...of, event: 'files', created: ['/w/a'], modified: ['/w/b'], renamed: [{ from: '/w/c', to: '/w/d' }] },
    { ...of, event: 'usage', message_id: 'm', input: 5, output: 6, cached: 7 },
  ];
}

/** @returns the journal with such lines after each of its own, at once and a second later, and with words in its messages */
function withMemory(text: string): string {
  return text
    .split('\n')
    .flatMap((raw) => {
      const line = parsed(raw);
      if (line === null || Number.isNaN(Date.parse(String(line.timestamp)))) return [raw];
      const words =
        line.event === 'user_prompt' || line.event === 'assistant_message' ? { text: 'I hang, error!' } : {};
      const beside = [...observed(line, 0), ...observed(line, SECOND)];
      return [{ ...line, ...words }, ...beside].map((each) => JSON.stringify(each));
    })
    .join('\n');
}

function parsed(raw: string): Line | null {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === 'object' && value !== null && 'event' in value ? (value as Line) : null;
  } catch {
    return null;
  }
}

const verdictOf = ({ file, attention, findings, agents }: AssessedSession) => ({ file, attention, findings, agents });

async function judge(folder: string, now: number | null, thresholds: Thresholds): Promise<object[]> {
  const { sessions } = await assessPaths([folder], { thresholds, now, replay: now === null });
  return sessions.map(verdictOf);
}

function lay(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

// rule: memory-changes-no-verdict
test('a recorded session is judged alike, at every instant, with and without them', async () => {
  const folder = testFolder();
  const names = readdirSync(join(FIXTURES, 'sessions'), { recursive: true, encoding: 'utf8' });
  const recorded = names.filter((name) => name.endsWith('.jsonl')).sort();
  expect(recorded).toHaveLength(92);
  // Every other one of each project.
  const journals = recorded.filter((_, index) => index % 2 === 0);
  for (const name of journals) {
    const text = readFileSync(join(FIXTURES, 'sessions', name), 'utf8');
    lay(folder, `plain/${name}`, text);
    lay(folder, `rich/${name}`, withMemory(text));
  }
  const rich = await judge(join(folder, 'rich'), null, DEFAULT_THRESHOLDS);
  expect(rich).toEqual(await judge(join(folder, 'plain'), null, DEFAULT_THRESHOLDS));
});

interface Case {
  readonly thresholds: Thresholds;
  readonly now: string;
  readonly journal: readonly ({ readonly raw: string } | Line)[];
}

test('a held vector is judged alike with and without them', async () => {
  const folder = testFolder();
  const cases = JSON.parse(readFileSync(join(FIXTURES, 'vectors/cases.json'), 'utf8')) as Case[];
  expect(cases.length).toBeGreaterThan(200);
  for (const [index, { journal, now, thresholds }] of cases.entries()) {
    const lines = journal.map((each) => ('raw' in each ? String(each.raw) : JSON.stringify(each)));
    lay(folder, `${index}/plain/s1/tool_use.jsonl`, lines.join('\n'));
    lay(folder, `${index}/rich/s1/tool_use.jsonl`, withMemory(lines.join('\n')));
    const of = (kind: string) => judge(join(folder, String(index), kind), Date.parse(now), thresholds);
    expect([index, await of('rich')]).toEqual([index, await of('plain')]);
  }
});
