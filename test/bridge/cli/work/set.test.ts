// covers: memory/workspaces/document.ts memory/fold/rules/lifecycle.ts memory/verbs/set.ts
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { WorkScene } from './scene.js';

let scene: WorkScene;
let id = '';
const set = (...pairs: string[]) => scene.say('work', ['set', ...pairs]);
const shown = () => scene.json('work', ['show', id]);

beforeEach(async () => {
  scene = new WorkScene();
  id = await scene.begin('T');
});

test('what was set is shown; each part of a field is set by itself', async () => {
  await set('role=reviewer', 'language.documents=de', 'governance_level=strict', 'framework=a = b');
  await set('purpose=Fix the login', 'name=login', 'language.communication=en', 'workflow_mode=express');
  expect(await shown()).toMatchObject({
    purpose: 'Fix the login',
    name: 'login',
    role: 'reviewer',
    governance_level: 'strict',
    framework: 'a = b',
    workflow_mode: 'express',
    language: { communication: 'en', documents: 'de' },
  });
});

test('a document is kept with what it held then, by its path in the directory', async () => {
  mkdirSync(join(scene.directory, 'docs'));
  writeFileSync(join(scene.directory, 'docs/plan.md'), '# Plan');
  await set('documents.plan=./docs/../docs/plan.md');
  const digest = createHash('sha256').update('# Plan').digest('hex');
  expect((await shown()).documents).toEqual({ plan: { path: 'docs/plan.md', digest } });
  await scene.say('work', ['rebuild', id]);
  const text = readFileSync(join(scene.home, 'sessions', id, 'session.md'), 'utf8');
  expect(text).toMatch(/^implementation_plan: ["']?docs\/plan\.md/m);
  expect(await set('documents.design=gone.md')).toMatchObject({ code: 2, err: expect.stringContaining('gone.md') });
  expect(await set('documents.design=docs')).toMatchObject({ code: 2, err: 'docs is not a file' });
});

test('an unknown key or value changes nothing, and the legal ones are named', async () => {
  const { code, err } = await set('role=reviewer', 'lifecycle=ended');
  expect([code, err]).toEqual([2, expect.stringMatching(/"lifecycle=ended".*purpose, name, role.*documents\.plan/)]);
  expect((await set('workflow_mode=fast')).err).toBe('workflow_mode="fast": one of standard, express');
  expect((await set('role')).code).toBe(2);
  expect((await set()).code).toBe(2);
  expect(await shown()).not.toHaveProperty('role');
});

test('a line that sets what no command can set changes no other field', async () => {
  const log = join(scene.home, 'sessions', id, 'worklog.jsonl');
  const line = { v: 1, id: 'x1', timestamp: '2026-11-22T10:00:00.000Z', event: 'session_changed', origin: 'agent' };
  writeFileSync(log, `${readFileSync(log, 'utf8')}${JSON.stringify({ ...line, lifecycle: 'ended', role: 'r' })}\n`);
  expect(await shown()).toMatchObject({ lifecycle: 'planned', role: 'r' });
});
