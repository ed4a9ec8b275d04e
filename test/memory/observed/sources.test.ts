// covers: memory/observed/combined.ts

import { copyFileSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { lookAt } from '../../../memory/look/look.js';
import { transcriptOf } from '../../../memory/observed/programFolders.js';
import { observe } from '../../../memory/observed/sources.js';
import { shownLines } from '../../../memory/show/shown.js';
import { statusLines } from '../../../memory/show/status.js';
import { packageRoot } from '../../../src/host/program.js';
import { redactShapes } from '../../../src/log/redact.js';
import { testFolder } from '../../harness/folder.js';
import { memoryScene } from '../scene.js';

const FIXTURES = join(packageRoot(), 'test/fixtures/transcripts/claude');
const ID = '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a11';

/** A home of a person who has used Claude Code. */
function homeWithTranscript(): string {
  const home = testFolder();
  const project = join(home, '.claude/projects/-home-me-popoto');
  mkdirSync(project, { recursive: true });
  copyFileSync(join(FIXTURES, 'deeds.jsonl'), join(project, `${ID}.jsonl`));
  cpSync(join(FIXTURES, 'deeds'), join(project, ID), { recursive: true });
  return home;
}

async function shownOf(HOME: string, plan: readonly string[] = []) {
  const memory = memoryScene().open({ CLAUDE_CODE_SESSION_ID: ID, HOME });
  const session = memory.lifecycle.begin(memory.workspace, {
    purpose: 'x',
    fields: {},
    plan: plan.map((title, index) => worklogKind.line('step_added', { step: String(index + 1), title })),
    concurrent: false,
  });
  const line = worklogKind.line('conversation', { provider: 'claude', conversation: ID, source: 'bind', since: null });
  session.log.write(() => [line], memory.stamp);
  return lookAt(memory, session);
}

test('a conversation without a recorded transcript is found by its id in the folder of its program', async () => {
  const { state, ...shown } = await shownOf(homeWithTranscript());
  expect(state).toMatchObject({ observed: 'transcript', first_tool: expect.any(String) });
  expect(state.agents?.map(({ depth }) => depth).sort()).toEqual([1, 2]);
  expect(state.tokens.total.output).toBeGreaterThan(0);
  expect(Object.keys(state.files).length).toBeGreaterThan(0);
  expect(statusLines({ state, ...shown }).at(-1)).toMatch(
    /^files changed: \d+; failed calls: \d+; sub-agents: 2; tokens: \d+ in, \d+ out$/,
  );
  // What the bounds of the state left out counts, too.
  Object.assign(shown.fold?.more ?? {}, { errors: 300, files: 1 });
  expect(
    shownLines({
      look: { state, ...shown },
      tree: { depth: 0, parents: [], children: [], more: 0 },
      directory: null,
      isLost: false,
      place: [],
      holders: [],
    }),
  ).toContain('  there may be others: not every file was recorded');
  expect(statusLines({ state, ...shown }).at(-1)).toMatch(/^files changed: \d+ or more; failed calls: 30\d;/);
});

test('without a plan the progress is that of the tasks; a plan goes first', async () => {
  const tasks = (await shownOf(homeWithTranscript())).state;
  expect(tasks.steps.every(({ kind }) => kind === 'todo')).toBe(true);
  expect(tasks.progress.total).toBe(tasks.steps.length);
  const planned = (await shownOf(homeWithTranscript(), ['only'])).state;
  expect(planned.progress).toMatchObject({ total: 1 });
});

test('all spellings of a path are one file of the workspace, whoever asks from wherever', async () => {
  const { open, directory } = memoryScene();
  const memory = open();
  mkdirSync(join(directory, 'src'));
  symlinkSync(join(directory, 'src'), join(directory, 'link'));
  const plan = [worklogKind.line('step_added', { step: '1', title: 'a' })];
  const session = memory.lifecycle.begin(memory.workspace, { purpose: 'x', fields: {}, plan, concurrent: false });
  const cwd = join(directory, 'src');
  const conversation = worklogKind.line('conversation', {
    provider: 'other',
    conversation: 'c',
    source: 'bind',
    cwd,
    since: null,
  });
  session.log.write(() => [conversation], memory.stamp);
  const changes = [
    { created: ['./a.ts'] },
    { modified: [join(directory, 'link/a.ts')] },
    { modified: ['../src/a.ts'], renamed: [{ from: '../link/b.ts', to: join(directory, 'src/c.ts') }] },
  ];
  const timestamp = '2026-11-01T00:00:00.000Z';
  const lines = changes.map((change) =>
    JSON.stringify({ v: 1, event: 'files', timestamp, session_id: 'c', ...change }),
  );
  writeFileSync(join(session.folder, 'tool_use.jsonl'), `${lines.join('\n')}\n`);
  for (const where of [directory, testFolder()]) {
    const { state } = await lookAt(open({}, where), session);
    expect(state.files).toMatchObject({
      'src/a.ts': { change: 'created', from: null },
      'src/c.ts': { change: 'renamed', from: 'src/b.ts' },
    });
    expect(Object.keys(state.files)).toHaveLength(2);
  }
});

test('with no transcript anywhere only what was declared is shown', async () => {
  expect((await shownOf(testFolder())).state).toMatchObject({ observed: 'none', progress: { total: 0 } });
});

test('the share of a conversation begins and ends where the session has it', async () => {
  const home = homeWithTranscript();
  const conversation = {
    provider: 'claude',
    id: ID,
    source: 'bind' as const,
    transcript: null,
    cwd: null,
    workspace: null,
    process: null,
    at: 0,
  };
  const observed = (since: number | null, moved_at: number | null) => {
    const memory = memoryScene().open();
    const log = memory.lifecycle.begin(memory.workspace, { purpose: 'x', fields: {}, plan: [], concurrent: false }).log
      .state;
    log.conversations.push({ ...conversation, since, moved_at });
    return observe({ log, folder: home, workspace: null }, { folders: { HOME: home }, redact: redactShapes });
  };
  const all = (await observed(null, null)).fold?.lines ?? 0;
  expect(all).toBeGreaterThan(10);
  expect((await observed(Date.UTC(2100, 0), null)).observed).toBe('none');
  expect((await observed(null, Date.UTC(2000, 0))).observed).toBe('none');
});

test('an id that is a path finds nothing outside', () => {
  const home = homeWithTranscript();
  const conversation = {
    provider: 'claude',
    id: `../-home-me-popoto/${ID}`,
    source: 'bind' as const,
    transcript: null,
    cwd: null,
    workspace: null,
    process: null,
    since: null,
    moved_at: null,
    at: 0,
  };
  expect(transcriptOf(conversation, { HOME: home })).toBeNull();
  expect(transcriptOf({ ...conversation, id: ID }, { HOME: home })).toContain(`${ID}.jsonl`);
  expect(transcriptOf({ ...conversation, provider: 'unknown' }, { HOME: home })).toBeNull();
});
