import { expect, test } from '@jest/globals';
import { askedOf, Deeds, doneOf } from '../../../../src/transcripts/claude/deeds.js';

const trim = (text: string) => text.replace('SECRET', '[REDACTED]');

/** @returns what one call did, or several in a row */
function did(...calls: readonly (readonly [string, object, unknown, boolean?, string?])[]): object[] {
  const deeds = new Deeds();
  return calls.flatMap(([tool, input, result, isOk = true, content = ''], index) => {
    const asked = askedOf(tool, input as Record<string, unknown>, trim);
    if (asked !== null) deeds.asked(`c${index}`, asked);
    return deeds.done(`c${index}`, isOk, doneOf(result, trim, content));
  });
}
const plan = (mode: string, ...items: object[]) => ({ event: 'plan', mode, items });
const files = (call: number, changes: object) => ({ event: 'files', tool_use_id: `c${call}`, ...changes });
const hunk = (oldLines: number, newLines: number, ...lines: string[]) => ({ oldLines, newLines, lines });
const todo = (content: string, status: string) => ({ content, status, activeForm: 'x' });

test('a task keeps its title and its blockers when only its status changes', () => {
  const made = { task: { id: '1', subject: 'Read it' } };
  const moved = { success: true, taskId: '1', statusChange: { from: 'pending', to: 'in_progress' } };
  expect(
    did(
      ['TaskCreate', { subject: 'Read it', description: 'd' }, made],
      ['TaskUpdate', { taskId: '1', addBlockedBy: ['7'], subject: 'Read all' }, { success: true, taskId: '1' }],
      ['TaskUpdate', { taskId: '1', status: 'in_progress' }, moved],
      ['TaskUpdate', { taskId: '1', status: 'deleted' }, undefined],
    ),
  ).toEqual([
    plan('merge', { external_id: '1', title: 'Read it', status: 'pending' }),
    plan('merge', { external_id: '1', title: 'Read all', status: 'pending', blocked_by: ['7'] }),
    plan('merge', { external_id: '1', title: 'Read all', status: 'in_progress', blocked_by: ['7'] }),
    plan('merge', { external_id: '1', title: 'Read all', status: 'cancelled', blocked_by: ['7'] }),
  ]);
});

test('a task whose result has no type has the number that the result says, so that a new title is that of the same task', () => {
  expect(
    did(
      ['TaskCreate', { subject: 'Read it' }, undefined, true, 'Task #4 created successfully: Read it'],
      ['TaskUpdate', { taskId: '4', subject: 'Read all' }, undefined, true, 'Updated task #4 subject'],
    ),
  ).toEqual([
    plan('merge', { external_id: '4', title: 'Read it', status: 'pending' }),
    plan('merge', { external_id: '4', title: 'Read all', status: 'pending' }),
  ]);
});

test('a task that was made before the record begins has its number for a title, until a list names it', () => {
  const listed = { tasks: [{ id: '4', subject: 'Test it', status: 'completed', blockedBy: [] }, { id: '5' }] };
  expect(
    did(
      ['TaskUpdate', { taskId: '4', status: 'completed' }, { success: true, taskId: '4' }],
      ['TaskList', {}, listed],
      ['TaskUpdate', { taskId: '4', status: 'in_progress' }, { success: true, taskId: '4' }],
    ),
  ).toEqual([
    plan('merge', { external_id: '4', title: '#4', status: 'completed' }),
    plan('replace', { external_id: '4', title: 'Test it', status: 'completed' }),
    plan('merge', { external_id: '4', title: 'Test it', status: 'in_progress' }),
  ]);
});

test('a call that failed or changed nothing does nothing', () => {
  expect(
    did(
      ['TaskUpdate', { taskId: '1', status: 'completed' }, { success: false, taskId: '1', error: 'Task not found' }],
      ['TaskCreate', { subject: 'a' }, 'Error: no such tool', false],
      ['Write', { file_path: '/w/a' }, 'Error: it has not been read', false],
      ['NotebookEdit', { notebook_path: '/w/n.ipynb' }, { error: 'no such cell' }],
      ['Grep', { path: '/w' }, { filenames: ['/w/a'] }],
    ),
  ).toEqual([]);
});

test('a whole list comes from its typed result, or else from the call', () => {
  const newTodos = [todo('a', 'completed'), todo('b', 'in_progress'), todo('c', 'from the future'), null];
  expect(
    did(
      ['TodoWrite', { todos: [todo('a', 'pending')] }, { oldTodos: [], newTodos }],
      ['TodoWrite', { todos: [todo('a SECRET', 'pending')] }, undefined],
    ),
  ).toEqual([
    plan('replace', { title: 'a', status: 'completed' }, { title: 'b', status: 'in_progress' }),
    plan('replace', { title: 'a [REDACTED]', status: 'pending' }),
  ]);
});

test('a file is new if the typed result says so', () => {
  expect(
    did(
      ['Read', { file_path: './a' }, { type: 'text', file: { filePath: '/w/a' } }],
      ['Write', { file_path: './a' }, { type: 'create', filePath: '/w/a' }],
      ['Write', { file_path: './a' }, { type: 'update', filePath: '/w/a' }],
      ['Edit', { file_path: '/w/e' }, { filePath: '/w/e', oldString: 'x', originalFile: null }],
      ['Edit', { file_path: '/w/e' }, { filePath: '/w/e', oldString: '', originalFile: null }],
      ['MultiEdit', { file_path: '/w/m' }, undefined],
      ['NotebookEdit', { notebook_path: '/w/n' }, { notebook_path: '/w/n', error: '' }],
    ),
  ).toEqual([
    files(0, { read: ['/w/a'] }),
    files(1, { created: ['/w/a'] }),
    files(2, { modified: ['/w/a'] }),
    files(3, { modified: ['/w/e'] }),
    files(4, { created: ['/w/e'] }),
    files(5, { modified: ['/w/m'] }),
    files(6, { modified: ['/w/n'] }),
  ]);
});

test("a sub-agent's new file is known by the harness's own sentence, and by no file's words", () => {
  const sentence = 'File created successfully at: /w/a (file state is current in your context)';
  expect(
    did(
      ['Write', { file_path: '/w/a' }, undefined, true, sentence],
      ['Write', { file_path: '/w/a' }, undefined, true, 'The file /w/a has been updated successfully.'],
      ['Write', { file_path: '/w/a' }, { type: 'update', filePath: '/w/a' }, true, sentence],
      ['Read', { file_path: '/w/a' }, undefined, true, sentence],
      ['Bash', { command: 'cat a' }, undefined, true, sentence],
    ),
  ).toEqual([
    files(0, { created: ['/w/a'] }),
    files(1, { modified: ['/w/a'] }),
    files(2, { modified: ['/w/a'] }),
    files(3, { read: ['/w/a'] }),
  ]);
});

test('a shell command moved a file if one went and one came with the same whole text; a failed one changed files, too', () => {
  const diff = (...changed: object[]) => ({ bashEditDiff: { files: changed, moreFiles: 0 } });
  const gone = (filePath: string, ...lines: string[]) => ({
    filePath,
    deleted: true,
    hunks: [hunk(lines.length, 0, ...lines.map((line) => `-${line}`))],
  });
  const come = (filePath: string, ...lines: string[]) => ({
    filePath,
    created: true,
    hunks: [hunk(0, lines.length, ...lines.map((line) => `+${line}`), '\\ No newline at end of file')],
  });
  const cut = { filePath: '/w/part', created: true, hunks: [hunk(0, 9, '+one')] };
  expect(
    did(
      ['Bash', { command: 'mv' }, diff(gone('/w/a', 'x', 'y'), come('/w/b', 'x', 'y'), come('/w/c', 'x', 'y')), false],
      ['Bash', { command: 'touch' }, diff(gone('/w/a'), come('/w/b'), gone('/w/d', 'one'), cut)],
      ['Bash', { command: 'x' }, { bashEditDiff: { files: [], moreFiles: 2, changedFiles: ['/w/SECRET', '/w/z'] } }],
      ['Bash', { command: 'x' }, { bashEditDiff: { files: [], moreFiles: 0 } }],
      [
        'Bash',
        { command: 'x' },
        { bashEditDiff: { files: [come('/w/e')], moreFiles: 9, changedFiles: ['/w/e', '/w/f'] } },
      ],
      ['Bash', { command: 'x' }, { bashEditDiff: { files: [], moreFiles: 3 } }],
      ['Bash', { command: 'x' }, { stdout: 'created /w/no' }],
    ),
  ).toEqual([
    files(0, { created: ['/w/c'], renamed: [{ from: '/w/a', to: '/w/b' }] }),
    files(1, { created: ['/w/b', '/w/part'], deleted: ['/w/a', '/w/d'] }),
    files(2, { changed: ['/w/[REDACTED]', '/w/z'] }),
    files(4, { created: ['/w/e'], changed: ['/w/f'], more: 8 }),
    files(5, { more: 3 }),
  ]);
});
