// covers: memory/verbs/archiveSession.ts memory/verbs/ending.ts
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { appliedLines } from '../../../memory/exchange/export.js';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { adoptCaller } from '../../../memory/sessions/adoption.js';
import { archiveSession } from '../../../memory/verbs/archiveSession.js';
import { createSession } from '../../../memory/verbs/createSession.js';
import { archiveWhenDone } from '../../../memory/verbs/ending.js';
import { resumeSession } from '../../../memory/verbs/resumeSession.js';
import { step } from '../../../memory/verbs/step.js';
import { sync } from '../../../memory/verbs/sync.js';
import { transitionPhase } from '../../../memory/verbs/transitionPhase.js';
import { type AnyVerb, ask, type Door } from '../../../memory/verbs/verb.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { afterThisTest } from '../../harness/scope.js';
import { type Scratch, scratch } from './asked.js';

const NO_DOOR = {} as Door;
let scene: Scratch;
let session: string;
const stateOf = (id = session) => scene.memory().which(id).log.state;
const move = (id: string, to: string) => scene.asked(step, { session, step: id, to, reason: 'r' }, 'person');
async function done(...ids: readonly string[]) {
  for (const id of ids) {
    await move(id, 'in_progress');
    await move(id, 'completed');
  }
}

beforeEach(async () => {
  scene = scratch();
  writeFileSync(join(scene.directory, 'plan.md'), 'the plan\n');
  const made = await scene.asked(createSession, {
    task: 'Ship it',
    implementation_plan: 'plan.md',
    phases: [
      { id: 1, name: 'Design', agents: ['architect'] },
      { id: 2, name: 'Build', agents: ['coder'] },
      { id: 3, name: 'Test', agents: ['tester'] },
    ],
  });
  session = made.session_id;
});

describe('archive_session', () => {
  test('is refused while phases are open or failed, with their ids and the ways, and changes nothing', async () => {
    await done('1');
    await move('2', 'in_progress');
    await move('2', 'failed');
    const { lines } = scene.memory().which(session).log.counts;
    const refused = await scene.asked(archiveSession, { session });
    expect(refused).toMatchObject({ code: 'open_phases', open: ['2', '3'] });
    expect(Object.keys(refused.ways as object)).toEqual(['settle', 'failed', 'cancelled']);
    expect(refused.message).toContain('neither completed nor skipped: 2, 3');
    expect(scene.memory().which(session).log.counts.lines).toBe(lines);
  });

  test.each(['failed', 'cancelled'])('ends a session with open phases as %s, if that is asked for', async (as) => {
    const answer = await scene.asked(archiveSession, { session, as });
    expect(answer).toMatchObject({ session_id: session, verified: true });
    expect(stateOf().end?.reason).toBe(as);
    const files = answer.archived_files as string[];
    const path = answer.archive_path as string;
    expect(files).toEqual(expect.arrayContaining([join(path, 'documents', 'plan.md'), join(path, 'worklog.jsonl')]));
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
    const checks = answer.checks as { check: string; ok: boolean }[];
    expect(checks.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['place', 'claim', 'files', 'worklog', 'copy', 'documents']),
    );
    expect(scene.memory().holder()).toBeNull();
  });

  test('ends one as completed if each phase is completed or skipped, and asked again answers the same', async () => {
    writeFileSync(join(scene.home, 'settings.json'), '{"auto_archive":{"on_completion":false}}');
    await done('1', '2');
    await move('3', 'skipped');
    const { archive_path } = await scene.asked(archiveSession, { session });
    expect(stateOf().end?.reason).toBe('completed');
    const { lines } = scene.memory().which(session).log.counts;
    expect(await scene.asked(archiveSession, { session })).toMatchObject({ archive_path, verified: true });
    expect(scene.memory().which(session).log.counts.lines).toBe(lines);
  });

  test('means the session that has just gone into the archive, not the one in which its agent continues', async () => {
    const agent = { CLAUDE_CODE_SESSION_ID: '11111111-1111-4111-8111-111111111111', CLAUDE_PID: String(process.ppid) };
    const memory = scene.memory('agent', agent);
    adoptCaller(memory, memory.which(session));
    await done('1', '2');
    await move('3', 'in_progress');
    const line = worklogKind.line('step', { step: '3', to: 'completed' });
    memory.which(session).log.write(() => [line], memory.stamp);
    const archived = archiveWhenDone(memory, memory.which(session));
    expect(archived?.next).toMatch(/^ses_/);
    const later = scene.memory('agent', agent);
    expect(later.implied()?.id).toBe(archived?.next);
    const { value } = await archiveSession.run(later, { as: undefined, session: undefined }, undefined as never);
    expect(value).toMatchObject({ session_id: session, archive_path: archived?.archived, verified: true });
    expect(stateOf(archived?.next ?? '').lifecycle).not.toBe('ended');
  });

  test('knows no other end', async () => {
    expect((await scene.asked(archiveSession, { session, as: 'completed' })).message).toContain('as: ');
  });
});

describe('a session is archived by itself', () => {
  test('by the writer of the line that settles its last phase, as completed, by Watchkeeper', async () => {
    await done('2', '3');
    expect(stateOf().lifecycle).toBe('active');
    await move('1', 'in_progress');
    const { archived } = await move('1', 'completed');
    expect(archived).toContain(join('archive', session.slice(0, 4), session));
    expect(stateOf()).toMatchObject({ lifecycle: 'ended', end: { reason: 'completed' } });
    const lines = appliedLines(scene.memory().which(session)).slice(-2);
    expect(lines.map(({ event, origin }) => [event, origin])).toEqual([
      ['session_ended', 'watchkeeper'],
      ['session_archived', 'watchkeeper'],
    ]);
  });

  test('also if a list of tasks settles it, and not by a look at the list', async () => {
    await done('1', '2');
    await move('3', 'in_progress');
    const memory = scene.memory();
    const read = async () => JSON.stringify([{ id: '9', content: 'Test', status: 'completed' }]);
    const door = { read } as unknown as Door;
    const looked = await sync.run(memory, { source: undefined, session }, door);
    expect(looked.value).not.toHaveProperty('archived');
    const { value } = await sync.run(memory, { source: '-', session }, door);
    expect(value).toMatchObject({ archived: expect.stringContaining('/archive/') });
    expect(stateOf().end?.reason).toBe('completed');
  });

  test.each<[string, string, boolean]>([
    ['{}', 'false', false],
    ['{}', '0', false],
    ['{}', 'No', false],
    ['{}', 'off', false],
    ['{"auto_archive":{"on_completion":false}}', 'yes', true],
    ['{"auto_archive":{"on_completion":false}}', 'perhaps', false],
    ['{}', '', true],
  ])('with the settings %s and MAESTRO_AUTO_ARCHIVE=%s: %p', async (settings, MAESTRO_AUTO_ARCHIVE, isArchived) => {
    await done('1', '2');
    await move('3', 'in_progress');
    const memory = scene.memory();
    const line = worklogKind.line('step', { step: '3', to: 'completed' });
    memory.which(session).log.write(() => [line], memory.stamp);
    writeFileSync(join(scene.home, 'settings.json'), settings);
    const caller = scene.memory('agent', { MAESTRO_AUTO_ARCHIVE });
    expect(archiveWhenDone(caller, caller.which(session)) !== null).toBe(isArchived);
    expect(stateOf().lifecycle).toBe(isArchived ? 'ended' : 'active');
  });

  test('but not while a phase is open, failed or cancelled, nor while another agent works on it', async () => {
    await done('1', '2');
    const tried = () => {
      const memory = scene.memory();
      return archiveWhenDone(memory, memory.which(session));
    };
    expect(tried()).toBeNull();
    await move('3', 'in_progress');
    await move('3', 'failed');
    expect(tried()).toBeNull();
    const agent = spawn('sleep', ['600'], { stdio: 'ignore' });
    afterThisTest(() => void agent.kill('SIGKILL'));
    const run = worklogKind.line('run_started', { process: readProcessIdentity('host', agent.pid) });
    scene
      .memory()
      .which(session)
      .log.write(() => [run], scene.memory().stamp);
    expect(await move('3', 'skipped')).toEqual({ step: '3', status: 'skipped' });
    expect(tried()).toBeNull();
    expect(stateOf().lifecycle).toBe('active');
  });

  test('and one that its owner has ended otherwise stays', async () => {
    writeFileSync(join(scene.home, 'settings.json'), '{"auto_archive":{"on_completion":false}}');
    await done('1', '2', '3');
    writeFileSync(join(scene.home, 'settings.json'), '{}');
    const memory = scene.memory();
    memory.lifecycle.end(memory.which(session), memory.workspace, { lines: () => [], reason: 'failed' });
    expect(archiveWhenDone(memory, memory.which(session))).toBeNull();
  });

  test.each<[string, object, boolean]>([
    ['agents', { agents: ['coder'] }, true],
    ['files', { files: ['a.ts'] }, true],
    ['parallel', { parallel: true }, true],
    ['blockers', { blocked_by: [0] }, true],
    ['neither', {}, false],
  ])('if one of its steps has what makes it a phase: %s', async (_, fields, isArchived) => {
    const other = scratch();
    const phases = [
      { id: 0, name: 'a' },
      { id: 1, name: 'b', ...fields },
    ];
    await other.asked(createSession, { task: 'T', phases });
    await other.asked(transitionPhase, { next_phase_ids: 'blocked_by' in fields ? [0] : [0, 1] });
    await other.asked(transitionPhase, { completed_phase_id: 0, ...('blocked_by' in fields && { next_phase_id: 1 }) });
    const last = await other.asked(transitionPhase, { completed_phase_id: 1 });
    expect('archived' in last).toBe(isArchived);
  });

  test('if a plain step was completed with files', async () => {
    const other = scratch();
    await other.asked(createSession, { task: 'T', phases: [{ id: 1, name: 'a' }] });
    await other.asked(transitionPhase, { next_phase_id: 1 });
    const done = { completed_phase_id: 1, files_deleted: ['a.ts'], no_context_reason: 'none' };
    expect(await other.asked(transitionPhase, done)).toMatchObject({ archived: expect.any(String) });
  });

  test.each<[string, AnyVerb, object]>([
    ['transition_phase', transitionPhase, { completed_phase_id: '3' }],
    ['transition_phase that skips', transitionPhase, { skipped_phase_id: '3', reason: 'r', decided_by: 'person' }],
    ['a resume that skips', resumeSession, { decision: 'skip', phase_id: '3', reason: 'r', decided_by: 'person' }],
  ])('by %s, and its agent continues in a session of its own', async (name, verb, fields) => {
    const agent = { CLAUDE_CODE_SESSION_ID: '11111111-1111-4111-8111-111111111111', CLAUDE_PID: String(process.ppid) };
    const memory = scene.memory('agent', agent);
    adoptCaller(memory, memory.which(session));
    await done('1', '2');
    if (name === 'transition_phase') await move('3', 'in_progress');
    const { value, followUps } = await ask(verb, scene.memory('agent', agent), { ...fields }, NO_DOOR);
    expect(value).toMatchObject({ session_id: session, archived: expect.stringContaining('/archive/') });
    if (verb === resumeSession) expect(value).toMatchObject({ path: (value as { archived: string }).archived });
    expect(followUps?.map((one) => one.do)).toEqual(['stop_monitor', 'keep']);
    const next = scene.memory('agent', agent).implied();
    expect(next?.id).toMatch(/^ses_/);
    expect(next?.log.state.facts?.continues).toBe(session);
  });

  test('and a plain list of steps stays where its owner looks for it', async () => {
    const other = join(scene.directory, 'other');
    mkdirSync(other);
    const memory = scene.memory();
    const plain = memory.lifecycle.begin(memory.claims.workspaceOf(other, {}), {
      ...{ purpose: 'plain', fields: {}, concurrent: true },
      plan: [
        worklogKind.line('step_added', { step: '1', title: 'a' }),
        worklogKind.line('step', { step: '1', to: 'in_progress' }),
        worklogKind.line('step', { step: '1', to: 'completed' }),
      ],
    });
    expect(archiveWhenDone(memory, memory.which(plain.id))).toBeNull();
  });
});
