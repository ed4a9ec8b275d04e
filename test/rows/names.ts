/** The command lines that the older tracker documents, typed behind `session-tracker`. */
import assert from 'node:assert/strict';
import type { RowCheck } from './row.js';
import type { Answer, RowScene } from './scene.js';

const LIST = '[{"id":"1","content":"Step","status":"completed","priority":"high"}]';

/** In an order in which each has something to do, and the exit code that it must have. */
const LINES: readonly (readonly [line: string, code: number, out: RegExp])[] = [
  ['session-tracker init "Task description" --steps "Step 1,Step 2,Step 3"', 0, /begins, with 3 steps/],
  ['session-tracker step 1 --start --files "/path/to/file"', 0, /step 1 is in progress: Step 1/],
  ['session-tracker file /path/to/file --working', 0, /is being worked on/],
  ['session-tracker file /path/to/file --reading', 0, /is being read/],
  ['session-tracker file /path/to/file --done', 0, /is done/],
  ['session-tracker file --rename /old/path /new/path', 0, /^\/old\/path is \/new\/path now/],
  ['session-tracker file old.docx --rename new.docx', 0, /^old\.docx is new\.docx now/],
  ['session-tracker ping', 0, /silence is excused/],
  ['session-tracker ping --detail "Generating large document..."', 0, /silence is excused/],
  ['session-tracker log "Progress note" --step 2', 0, /logged/],
  // Step 1 is in progress, so the list may complete it.
  [`echo '${LIST}' | session-tracker sync`, 0, /^\[x\] 1 Step\n/],
  ['session-tracker sync', 0, /^\[x\] 1 Step\n\[ \] 2 Step 2\n\[ \] 3 Step 3\n/],
  ['session-tracker step 1 --done', 0, /step 1 is completed/],
  ['session-tracker crash-detect', 0, /no crashed session here/],
  ['session-tracker resume', 0, /<session-record>/],
  ['session-tracker status', 0, /1 of 3 steps/],
  ['session-tracker scan', 0, /^since /],
  ['session-tracker monitor --start --interval 30', 0, /has begun \(process \d+\)/],
  ['session-tracker monitor --check', 0, /^not stuck: last activity just now/],
  ['session-tracker monitor --stop', 0, /has stopped/],
  // Not silently: it does not mark as completed what nobody has checked.
  ['session-tracker done', 1, /^$/],
  ['session-tracker done --complete', 0, /has ended: completed/],
];

export const nameRows: readonly RowCheck[] = [
  {
    row: 'names',
    check: `${LINES.length} command lines of the older tracker, with the deviation of T7`,
    prove(scene) {
      for (const { line, code, out, err } of answersOf(scene)) {
        const [, expected, pattern] = LINES.find(([typed]) => typed === line) ?? ['', null, /never/];
        assert.equal(code, expected, `${line}: ${out}${err}`);
        assert.match(out, pattern, line);
      }
    },
  },
];

/** @returns what each line answers, one after the other in one repository */
function answersOf(scene: RowScene): Answer[] {
  return LINES.map(([line]) => scene.sh(line));
}
