// covers: memory/verbs/createSession.ts memory/verbs/beginning.ts memory/verbs/planFields.ts
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createSession } from '../../../memory/verbs/createSession.js';
import { validatePlan } from '../../../memory/verbs/validatePlan.js';
import { type Scratch, scratch } from './asked.js';

const PHASES = [
  { id: 2, name: 'Build', agent: 'coder', blocked_by: [1], files: ['./src/../src/a.ts'] },
  { id: 1, name: 'Design', agents: ['architect'] },
];

const sessionsOf = ({ memory }: Scratch) => memory().sessions.ids();

describe('a plan', () => {
  test('is stored with each phase after its blockers, ids as text, `agent` as agents, and files as the workspace names them', async () => {
    const scene = scratch();
    const { asked, memory } = scene;
    const made = await asked(createSession, { task: 'Ship it', phases: PHASES, workflow_mode: 'express' });
    expect(made.phases).toEqual([
      { id: '1', name: 'Design', status: 'pending', blocked_by: [] },
      { id: '2', name: 'Build', status: 'pending', blocked_by: ['1'] },
    ]);
    const { state } = memory().which(made.session_id).log;
    expect([...state.steps.values()].map(({ agents, planned_files }) => ({ agents, planned_files }))).toEqual([
      { agents: ['architect'], planned_files: [] },
      { agents: ['coder'], planned_files: ['src/a.ts'] },
    ]);
    expect(state.facts).toMatchObject({ purpose: 'Ship it', set: { workflow_mode: 'express' } });
  });

  test('with faults is refused whole, with all of them, and nothing is stored', async () => {
    const scene = scratch();
    const phases = [
      { id: 1, name: 'A', blocked_by: [3] },
      { id: '1', name: 'B' },
    ];
    const refused = await scene.asked(createSession, { task: 'Ship it', phases });
    expect(refused).toMatchObject({ code: 'invalid_plan' });
    expect(refused.violations.map(({ rule }) => rule)).toEqual(['duplicate_id', 'unknown_blocker']);
    expect(sessionsOf(scene)).toEqual([]);
    expect(await scene.asked(validatePlan, { phases })).toMatchObject({ valid: false, violations: refused.violations });
  });

  test.each([
    [{ phases: [{ id: 1, name: 'A', blockedBy: [] }] }, 'blockedBy'],
    [{ phases: [{ id: 1.5, name: 'A' }] }, 'phases'],
    [{ phases: PHASES, on_active: 'overwrite' }, 'on_active'],
    [{ phases: PHASES, session_id: 'x' }, 'session_id'],
    [{ phases: PHASES, session: 'a/b' }, 'without "/"'],
    [{ phases: PHASES, session: 'a\nb' }, 'one line'],
    [{ phases: PHASES, task: ' ' }, 'task'],
  ])('%j is refused by name', async (given, named) => {
    const scene = scratch();
    expect((await scene.asked(createSession, { task: 'T', ...given })).message).toContain(named);
    expect(sessionsOf(scene)).toEqual([]);
  });
});

describe('the id', () => {
  test('is the one that was asked for, if it is free and has the form of one; else that is the name', async () => {
    const { asked, memory } = scratch();
    const next = { phases: PHASES, task: 'T', on_active: 'concurrent' };
    expect(await asked(createSession, { ...next, session: '2026-01-02-mine' })).toMatchObject({
      session_id: '2026-01-02-mine',
    });
    for (const wanted of ['2026-01-02-mine', 'orchestration-20260102-1', 'ses_x']) {
      const { session_id } = await asked(createSession, { ...next, session: wanted });
      expect(session_id).toMatch(/^\d{4}-\d\d-\d\d-t/);
      expect(memory().which(session_id).log.state.facts?.name).toBe(wanted);
    }
  });
});

describe('over an active session', () => {
  test('it is refused with the ways, and each way does what it says', async () => {
    const { asked, memory } = scratch();
    const first = await asked(createSession, { task: 'First', phases: PHASES });
    const again = { task: 'Second', phases: PHASES };
    expect(await asked(createSession, again)).toMatchObject({
      code: 'ACTIVE_SESSION_EXISTS',
      active: [first.session_id],
      ways: { resume: expect.any(String), archive: expect.any(String), concurrent: expect.any(String) },
    });
    expect(await asked(createSession, { ...again, on_active: 'resume' })).toMatchObject({
      session_id: first.session_id,
      resumed: true,
    });
    const beside = await asked(createSession, { ...again, on_active: 'concurrent' });
    expect(memory().which(beside.session_id).log.state.facts?.concurrent).toBe(true);
    const second = await asked(createSession, { ...again, on_active: 'archive' });
    expect(memory().which(first.session_id).log.state).toMatchObject({
      end: { reason: 'cancelled' },
      archived: { at: expect.any(Number) },
    });
    expect(memory().holder()?.id).toBe(second.session_id);
  });

  test('a child session begins next to its parent', async () => {
    const { asked, memory } = scratch();
    const parent = await asked(createSession, { task: 'Parent', phases: PHASES });
    const child = await asked(createSession, { task: 'C', phases: PHASES, parent_session_id: parent.session_id });
    expect(memory().which(child.session_id).log.state.facts).toMatchObject({ parent: parent.session_id });
    expect([...memory().which(parent.session_id).log.state.children.keys()]).toEqual([child.session_id]);
  });
});

test('documents are recorded; a missing one and a pipe are mentioned, and the session begins', async () => {
  const { asked, directory, memory } = scratch();
  writeFileSync(join(directory, 'design.md'), '# design');
  execFileSync('mkfifo', [join(directory, 'pipe')]);
  const given = { task: 'T', phases: PHASES, on_active: 'concurrent', implementation_plan: null };
  const good = await asked(createSession, { ...given, design_document: 'design.md' });
  expect(good.warnings).toBeUndefined();
  expect(memory().which(good.session_id).log.state.facts?.set.documents?.design?.path).toBe('design.md');
  for (const path of ['absent.md', 'pipe', '.']) {
    const made = await asked(createSession, { ...given, design_document: path });
    expect(made.warnings).toEqual([expect.stringContaining(path)]);
    expect(memory().which(made.session_id).log.state.facts?.set.documents).toBeUndefined();
  }
  expect(readdirSync(directory).sort()).toEqual(['design.md', 'pipe']);
});
