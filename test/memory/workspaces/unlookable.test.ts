/** A file that cannot be looked at is neither deleted, nor missing, nor changed. */
import { realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { failAt, standInForFiles } from '../../harness/failingFiles.js';
import { afterThisTest } from '../../harness/scope.js';

// covers: memory/condition/filesInDoubt.ts memory/plans/conflicts.ts memory/plans/seenChanges.ts memory/workspaces/scan.ts
// covers: src/files/seenFile.ts

standInForFiles();
const { filesInDoubt } = await import('../../../memory/condition/filesInDoubt.js');
const { newWorklog } = await import('../../../memory/fold/newWorklog.js');
const { createSession } = await import('../../../memory/verbs/createSession.js');
const { resume } = await import('../../../memory/verbs/resume.js');
const { resumeSession } = await import('../../../memory/verbs/resumeSession.js');
const { scan } = await import('../../../memory/verbs/scan.js');
const { transitionPhase } = await import('../../../memory/verbs/transitionPhase.js');
const { sightOf, sightOfEntry } = await import('../../../src/files/seenFile.js');
const { scratch } = await import('../verbs/asked.js');

let scene: ReturnType<typeof scratch>;
let root: string;
const none = { count: 0, paths: [] };

beforeEach(() => {
  scene = scratch({ variables: { MAESTRO_AUTO_ARCHIVE: 'no' } });
  root = realpathSync(scene.directory);
});

const at = (name: string) => join(root, name);
const write = (name: string) => writeFileSync(at(name), name);
/** @returns what makes it visible again */
const hide = (name: string, code = 'EACCES') => {
  const end = failAt(at(name), code);
  afterThisTest(end);
  return end;
};

test.each(['EACCES', 'EIO', 'ENOMEM'])('a look that fails with %s says nothing of the file', (code) => {
  hide('a', code);
  expect([sightOf(at('a')), sightOfEntry(at('a'))]).toEqual(['unknown', 'unknown']);
});

test.each(['a', 'a/below', 'a'.repeat(300), 'a\0b'])('nothing can have the name %j', (name) => {
  expect([sightOf(at(name)), sightOfEntry(at(name))]).toEqual(['none', 'none']);
});

test('a scan does not call it deleted, nor the next one new', async () => {
  for (const name of ['stays', 'goes']) write(name);
  await scene.asked(createSession, { task: 'Ship it', phases: [{ id: 1, name: 'Design' }] });
  await scene.asked(scan, {});
  const end = hide('stays');
  rmSync(at('goes'));
  const outcome = await scene.outcome(scan, {});
  expect(outcome.value).toMatchObject({ created: none, modified: none, deleted: { count: 1, paths: ['goes'] } });
  expect(outcome.asides).toEqual(['1 file of the last scan cannot be looked at, so changes there are not seen']);
  end();
  expect(await scene.asked(scan, {})).toMatchObject({ created: none, modified: none, deleted: none });
});

test('a phase that is completed is not told that it is missing, and its plan has no conflict', async () => {
  write('plan.md');
  const phases = [
    { id: 1, name: 'Design' },
    { id: 2, name: 'Build', blocked_by: [1] },
  ];
  await scene.asked(createSession, { task: 'Ship it', phases, implementation_plan: 'plan.md' });
  await scene.asked(transitionPhase, { next_phase_id: 1 });
  for (const name of ['hidden', 'plan.md']) hide(name);
  const files = { files_created: ['hidden', 'absent'], no_context_reason: 'none' };
  const moved = await scene.asked(transitionPhase, { completed_phase_id: 1, next_phase_id: 2, ...files });
  expect(JSON.stringify(moved)).toContain('"path":"absent","why":"missing"');
  expect(JSON.stringify(moved)).not.toContain('"path":"hidden"');
  const { conflicts } = await scene.asked(resumeSession, {});
  expect(conflicts).toEqual([{ kind: 'file_changed', phase: '1', path: 'absent', exists: false }]);
});

test('a file in doubt is not said to be gone', () => {
  hide('half');
  const log = newWorklog();
  log.files.set('half', { status: 'working', step: null, at: 1 });
  const [file] = filesInDoubt({ log, fold: null }, root);
  expect(file).toMatchObject({ path: 'half', exists: true, size: null, changed_since: null });
});

test('a transcript that cannot be looked at is not said to be missing', async () => {
  hide('talk.jsonl');
  expect((await scene.asked(resume, { id: at('talk.jsonl') })).message).toContain('cannot be looked at');
  expect((await scene.asked(resume, { id: at('none.jsonl') })).message).toContain('does not exist');
});
