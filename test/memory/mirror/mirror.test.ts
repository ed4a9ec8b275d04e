// covers: memory/mirror/mirror.ts memory/mirror/texts.ts memory/mirror/retire.ts memory/mirror/below.ts memory/keeping/mirror.ts memory/keeping/generate.ts memory/verbs/initializeWorkspace.ts memory/git/exclude.ts
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { archiveSession as putInArchive, unarchiveSession } from '../../../memory/keeping/archive.js';
import { refreshGenerated } from '../../../memory/keeping/rebuild.js';
import { verifySession } from '../../../memory/keeping/verify.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import { archiveSession } from '../../../memory/verbs/archiveSession.js';
import { createSession } from '../../../memory/verbs/createSession.js';
import { initializeWorkspace } from '../../../memory/verbs/initializeWorkspace.js';
import { end } from '../../../memory/verbs/lifecycle.js';
import { note } from '../../../memory/verbs/notes.js';
import { sessionStatus } from '../../../memory/verbs/sessionStatus.js';
import type { AnyVerb } from '../../../memory/verbs/verb.js';
import { compiledProgram } from '../../../src/host/program.js';
import { watchkeeperUntil } from '../../bridge/cli/manyCalls.js';
import type { Said } from '../../bridge/cli/program.js';
import { type Answer, type Scratch, scratch } from '../verbs/asked.js';

const STATE = 'docs/maestro';
let scene: Scratch;
const at = (path: string) => join(scene.directory, STATE, path);
const active = () => at('state/active-session.md');
const textAt = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : null);
const namesIn = (path: string) => readdirSync(at(path)).sort();

/** A call of a tool, with what follows each. */
async function call(verb: AnyVerb, given: object): Promise<Answer> {
  const answer = await scene.asked(verb, given);
  await refreshGenerated(scene.memory());
  return answer;
}
const initialize = (state_dir?: string | null) =>
  call(initializeWorkspace, { workspace_path: scene.directory, ...(state_dir !== undefined && { state_dir }) });
async function begin(given: object = {}): Promise<string> {
  const phases = [{ id: 1, name: 'Build', agents: ['coder'] }];
  return (await call(createSession, { task: 'Ship it', phases, ...given })).session_id;
}
function verified(id: string, memory: Memory = scene.memory()) {
  return verifySession(memory, memory.which(id)).filter(({ ok }) => !ok);
}
/** What the archiving of a session is followed by, in the process that did it. */
async function archive(id: string): Promise<Memory> {
  const memory = scene.memory();
  putInArchive(memory, memory.which(id));
  await refreshGenerated(memory);
  return memory;
}

beforeEach(() => {
  scene = scratch();
  execFileSync('git', ['init', '-q', scene.directory]);
});

describe('initialize_workspace', () => {
  test('makes the folders, once, and git does not see them', async () => {
    const made = ['state', 'state/archive', 'plans', 'plans/archive'].map((folder) => `${STATE}/${folder}`);
    const first = await initialize(`./${STATE}/`);
    expect(first).toMatchObject({ root: scene.directory, already_existed: false });
    expect(first.workspace_id).toMatch(/^ws_[0-9a-f]{16}$/);
    expect(first.created_directories).toEqual(['docs', STATE, ...made]);
    expect(await initialize(STATE)).toMatchObject({ created_directories: [], already_existed: true });
    writeFileSync(at('plans/a.md'), 'x');
    const git = (...args: string[]) => execFileSync('git', ['-C', scene.directory, ...args], { encoding: 'utf8' });
    expect(git('status', '--porcelain', '--untracked-files=all')).toBe('');
    const exclude = textAt(join(scene.directory, git('rev-parse', '--git-path', 'info/exclude').trim()));
    expect(exclude?.split('\n').filter((line) => line === `/${STATE}/`)).toHaveLength(1);
  });

  test('in a linked worktree, the file of the repository is the one', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', scene.directory, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
    git('commit', '-q', '--allow-empty', '-m', 'x');
    const linked = join(scene.directory, '..', 'linked');
    git('worktree', 'add', '-q', linked);
    await call(initializeWorkspace, { workspace_path: linked, state_dir: 'a b#' });
    expect(execFileSync('git', ['-C', linked, 'status', '--porcelain'], { encoding: 'utf8' })).toBe('');
    expect(textAt(join(scene.directory, '.git/info/exclude'))).toContain('/a\\ b\\#/\n');
  });

  test.each<[string, string, () => unknown]>([
    ['../x', '".."', () => undefined],
    ['a/../../x', '".."', () => undefined],
    ['/x', 'relative', () => undefined],
    ['', 'name something', () => undefined],
    ['.', 'name something', () => undefined],
    ['a\nb', 'one line', () => undefined],
    ['.git/x', "git's own", () => undefined],
    ['out', 'leads out', () => symlinkSync('/var', join(scene.directory, 'out'))],
    ['out/in', 'leads out', () => symlinkSync('/var', join(scene.directory, 'out'))],
    ['nowhere', 'leads out', () => symlinkSync('/not/there', join(scene.directory, 'nowhere'))],
    ['sly', 'leads out', () => symlinkSync(`${scene.directory}-other`, join(scene.directory, 'sly'))],
  ])('state_dir %j is refused (%s), and nothing is made', async (stateDir, words, prepare) => {
    mkdirSync(`${scene.directory}-other`);
    prepare();
    const before = readdirSync(scene.directory);
    const refused = await initialize(stateDir);
    expect(refused).toMatchObject({ code: 'outside', message: expect.stringContaining(words) });
    expect(readdirSync(scene.directory)).toEqual(before);
    expect(scene.memory().claims.mirrorOf(scene.memory().workspace)).toBeNull();
  });

  test('a link in the place of the exclude file is not written through, which is said', async () => {
    const own = join(scene.directory, '..', 'profile');
    writeFileSync(own, 'mine\n');
    rmSync(join(scene.directory, '.git/info'), { recursive: true, force: true });
    mkdirSync(join(scene.directory, '.git/info'));
    symlinkSync(own, join(scene.directory, '.git/info/exclude'));
    const { asides } = await scene.outcome(initializeWorkspace, { workspace_path: '.', state_dir: STATE });
    expect(asides?.[0]).toContain(`exclude ${STATE} from git yourself`);
    expect(textAt(own)).toBe('mine\n');
  });

  test('without a state_dir the variable names it, else there is none; null takes it away', async () => {
    expect(await initialize()).toMatchObject({ created_directories: [], already_existed: false });
    const mirror = () => scene.memory().claims.mirrorOf(scene.memory().workspace);
    expect(mirror()).toBeNull();
    const memory = scene.memory('agent', { MAESTRO_STATE_DIR: 'from-variable' });
    await initializeWorkspace.run(
      memory,
      { workspace_path: scene.directory, state_dir: undefined, session: undefined },
      undefined as never,
    );
    expect(mirror()).toBe('from-variable');
    await initialize(null);
    expect(mirror()).toBeNull();
    expect(await call(initializeWorkspace, { workspace_path: 'missing' })).toMatchObject({ code: 'usage' });
  });
});

describe('the text of the active session', () => {
  test('is that of session.md, is written after each change, and by no look', async () => {
    await initialize(STATE);
    const id = await begin();
    expect(textAt(active())).toContain(`session_id: "${id}"`);
    await call(note, { text: 'the API wants UTC', session: id });
    expect(textAt(active())).toContain('the API wants UTC');
    writeFileSync(active(), 'mine');
    await refreshGenerated(scene.memory());
    expect(textAt(active())).toBe('mine');
  });

  test('of a session that has ended says so, until another one holds the directory', async () => {
    await initialize(STATE);
    const session = await begin();
    await call(end, { session, as: 'failed' });
    expect(textAt(active())).toContain('\nstatus: "failed"\n');
    const next = await begin({ task: 'Next' });
    expect(textAt(active())).toContain(`session_id: "${next}"`);
    expect(namesIn('state')).toEqual(['active-session.md', 'archive']);
  });

  test('without a state_dir nothing is written into the project; the variable goes before the log', async () => {
    await begin();
    expect(readdirSync(scene.directory)).toEqual(['.git']);
    await initialize('in-log');
    await refreshGenerated(scene.memory('agent', { MAESTRO_STATE_DIR: STATE }));
    expect(existsSync(active())).toBe(true);
  });

  test('changed by hand is kept next to it, reported, and never overwritten or read back', async () => {
    await initialize(STATE);
    const session = await begin();
    const conflicts = async () => {
      const found = (await scene.asked(sessionStatus, { session })).conflicts as { kind: string; path: string }[];
      return found.map(({ kind, path }) => (kind === 'mirror_edited' ? path.replace(`${STATE}/`, '') : kind));
    };
    expect(await conflicts()).toEqual([]);
    writeFileSync(active(), 'first hand');
    expect(await conflicts()).toEqual(['state/active-session.md']);
    await call(note, { text: 'one', session });
    expect(textAt(at('state/active-session.edited-1.md'))).toBe('first hand');
    expect(textAt(active())).toContain('one');
    writeFileSync(active(), 'second hand');
    await call(note, { text: 'two', session });
    expect(textAt(at('state/active-session.edited-1.md'))).toBe('first hand');
    expect(textAt(at('state/active-session.edited-2.md'))).toBe('second hand');
    expect(await conflicts()).toEqual(['state/active-session.edited-1.md', 'state/active-session.edited-2.md']);
    await call(note, { text: 'three', session });
    expect(namesIn('state')).toHaveLength(4);
  });

  test('of several writers at once ends up as that of the last change, and none takes the text of another for a change by hand', async () => {
    await initialize(STATE);
    const session = await begin();
    const codes = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        const program = `for n in 1 2; do "$0" "$1" track note "${name} $n" || exit 1; done`;
        const child = spawn('sh', ['-c', program, process.execPath, compiledProgram('bridge/cli/main')], {
          cwd: scene.directory,
          stdio: 'ignore',
          env: { PATH: process.env.PATH, WATCHKEEPER_HOME: scene.home },
        });
        return (await once(child, 'close'))[0];
      }),
    );
    expect(codes).toEqual([0, 0, 0]);
    const { notes } = scene.memory().which(session).log.state;
    expect(notes).toHaveLength(6);
    const text = textAt(active()) ?? '';
    expect(notes.filter(({ text: each }) => !text.includes(each))).toEqual([]);
    expect(namesIn('state')).toEqual(['active-session.md', 'archive']);
  });

  test('a mirror that leads out now is not written, which is said, and the change is recorded', async () => {
    await initialize(STATE);
    const session = await begin();
    const outside = `${scene.directory}-outside`;
    renameSync(join(scene.directory, 'docs'), outside);
    symlinkSync(outside, join(scene.directory, 'docs'));
    const before = textAt(join(outside, 'maestro/state/active-session.md'));
    expect(await call(note, { text: 'one', session })).toMatchObject({ session_id: session });
    const memory = scene.memory();
    await refreshGenerated(memory);
    expect(memory.leftOut).toEqual([expect.stringContaining('leads out')]);
    const { conflicts } = await scene.asked(sessionStatus, { session });
    expect(conflicts).toMatchObject([{ kind: 'mirror_unusable', path: STATE }]);
    expect(textAt(join(outside, 'maestro/state/active-session.md'))).toBe(before);
  });

  test.each(['docs', STATE, `${STATE}/state`])(
    'a file in the place of %s is said, and every tool works',
    async (path) => {
      await initialize(STATE);
      const session = await begin();
      const place = join(scene.directory, path);
      rmSync(place, { recursive: true });
      writeFileSync(place, 'mine');
      expect(await call(note, { text: 'one', session })).toMatchObject({ session_id: session });
      const memory = scene.memory();
      await refreshGenerated(memory);
      expect(memory.leftOut).toEqual([expect.stringContaining('is not a folder')]);
      const { conflicts } = await scene.asked(sessionStatus, { session });
      expect(conflicts).toMatchObject([{ kind: 'mirror_unusable', path: STATE }]);
      expect(await scene.asked(archiveSession, { session, as: 'cancelled' })).toMatchObject({ session_id: session });
      expect(textAt(place)).toBe('mine');
    },
  );
});

describe('an archived session', () => {
  test('leaves the mirror: its text and its plans are in the archives there, and the four checks hold', async () => {
    await initialize(STATE);
    writeFileSync(at('plans/plan.md'), 'the plan');
    writeFileSync(at('plans/other.md'), 'of another session');
    writeFileSync(join(scene.directory, 'design.md'), 'the design');
    const id = await begin({ implementation_plan: `${STATE}/plans/plan.md`, design_document: 'design.md' });
    const answer = await scene.asked(archiveSession, { session: id, as: 'cancelled' });
    expect(answer).toMatchObject({ verified: true });
    expect(answer.archived_files).toEqual(
      expect.arrayContaining([at(`state/archive/${id}.md`), at('plans/archive/plan.md')]),
    );
    expect((answer.archived_files as string[]).filter((file) => !existsSync(file))).toEqual([]);
    expect(namesIn('state')).toEqual(['archive']);
    expect(namesIn('plans')).toEqual(['archive', 'other.md']);
    const { folder } = scene.memory().which(id);
    expect(readdirSync(join(folder, 'documents')).sort()).toEqual(['design.md', 'plan.md']);
    expect(existsSync(join(scene.directory, 'design.md'))).toBe(true);
    // The next one starts with a text of its own.
    const next = await begin({ task: 'Next' });
    expect(textAt(active())).toContain(`session_id: "${next}"`);
    expect(verified(id)).toEqual([]);
  });

  test('its text is that of its end, and an edited one is kept next to it', async () => {
    await initialize(STATE);
    const id = await begin();
    writeFileSync(active(), 'first hand');
    await call(note, { text: 'one', session: id });
    writeFileSync(active(), 'second hand');
    await archive(id);
    expect(namesIn('state')).toEqual(['archive']);
    expect(namesIn('state/archive')).toEqual([`${id}.edited-1.md`, `${id}.edited-2.md`, `${id}.md`]);
    expect(textAt(at(`state/archive/${id}.md`))).toContain('one');
    expect(verified(id)).toEqual([]);
  });

  test('does so again after it came back, and overwrites nothing', async () => {
    await initialize(STATE);
    writeFileSync(at('plans/plan.md'), 'the plan');
    const id = await begin({ implementation_plan: `${STATE}/plans/plan.md` });
    await archive(id);
    unarchiveSession(scene.memory(), scene.memory().which(id));
    await refreshGenerated(scene.memory());
    expect(textAt(active())).toContain(`session_id: "${id}"`);
    writeFileSync(at(`state/archive/${id}.md`), 'by hand');
    writeFileSync(at('plans/plan.md'), 'the second plan');
    const memory = await archive(id);
    expect(memory.leftOut).toEqual([]);
    expect(namesIn('plans/archive')).toEqual([`${id}--plan.md`, 'plan.md']);
    expect(namesIn('state/archive')).toEqual([`${id}.edited-1.md`, `${id}.md`]);
    expect(verified(id)).toEqual([]);
    // Without a new plan, there is none to take, and none is missed.
    unarchiveSession(scene.memory(), scene.memory().which(id));
    expect((await archive(id)).leftOut).toEqual([]);
  });

  test('the check names what is still at its old places, and a text that was put there by others stays', async () => {
    await initialize(STATE);
    const id = await begin();
    await archive(id);
    renameSync(at(`state/archive/${id}.md`), active());
    mkdirSync(at(`state/archive/${id}.md`));
    expect(verified(id)).toEqual([
      { check: 'mirror', ok: false, found: expect.stringContaining('state/active-session.md was left') },
    ]);
  });

  test('a worktree that is gone takes nothing from the record', async () => {
    await initialize(STATE);
    const id = await begin();
    const memory = scene.memory();
    const session = memory.which(id);
    rmSync(scene.directory, { recursive: true });
    putInArchive(memory, session);
    expect(verified(id, memory)).toEqual([]);
  });
});

const KILLED = { code: null, err: expect.stringContaining('tripped: kill') };

/** A word of `work`, in a process of its own if that is killed at an instant. */
function work(args: readonly string[], failpoint = ''): Said {
  return watchkeeperUntil(failpoint, scene.directory, ['work', ...args], { WATCHKEEPER_HOME: scene.home });
}

test.each([
  'log.append.after:kill:1',
  'archive.document.after:kill:1',
  'archive.move.before:kill:1',
  'archive.move.after:kill:1',
  'archive.mirror.before:kill:1',
  'archive.mirror.after:kill:1',
  'log.append.after:kill:2',
  'archive.folder.before:kill:1',
  'archive.folder.after:kill:1',
])('killed at %s, the next look finishes it: nothing is lost or there twice', async (failpoint) => {
  await initialize(STATE);
  writeFileSync(at('plans/plan.md'), 'the plan');
  const id = await begin({ implementation_plan: `${STATE}/plans/plan.md` });
  expect(work(['archive', id], failpoint)).toMatchObject(KILLED);
  expect(work(['show', id]).code).toBe(0);
  expect(existsSync(join(scene.home, 'sessions', id))).toBe(false);
  expect(namesIn('state')).toEqual(['archive']);
  expect(namesIn('state/archive')).toEqual([`${id}.md`]);
  expect(namesIn('plans')).toEqual(['archive']);
  expect(namesIn('plans/archive')).toEqual(['plan.md']);
  const { folder } = scene.memory().which(id);
  expect(dirname(dirname(folder))).toBe(join(scene.home, 'archive'));
  expect(readdirSync(join(folder, 'documents'))).toEqual(['plan.md']);
  const seen = work(['verify', id]);
  expect([seen.code, seen.out]).toEqual([0, expect.not.stringContaining('FAULTY')]);
});

test('killed before its text was taken, a session takes none that another one has written since', async () => {
  await initialize(STATE);
  const id = await begin();
  expect(work(['archive', id], 'log.append.after:kill:1')).toMatchObject(KILLED);
  const next = await begin({ task: 'Next' });
  expect(textAt(active())).toContain(`session_id: "${next}"`);
  // Nor one that a person has changed since.
  writeFileSync(active(), 'by hand');
  expect(work(['verify', id]).code).toBe(0);
  expect(textAt(active())).toBe('by hand');
  expect(namesIn('state/archive')).toEqual([]);
});
