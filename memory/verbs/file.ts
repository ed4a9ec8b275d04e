import { UsageError } from '../../src/errors.js';
import { onlyStepInProgress } from '../fold/rules/files.js';
import { overBy, worklogKind } from '../fold/rules/kind.js';
import type { Worklog } from '../fold/worklog.js';
import { writeFact, writeOrRefuse } from '../sessions/write.js';
import { FILE_STATUSES, type FileStatus } from '../words.js';
import { choice, option, pairedOption, word } from './fields.js';
import { meant } from './meant.js';
import { verb } from './verb.js';

const WORDS: Readonly<Record<FileStatus, string>> = { reading: 'being read', working: 'being worked on', done: 'done' };
const UNCLEAR = 'name a file and one of --reading, --working, --done';

export const file = verb({
  name: 'file',
  summary: 'say what is done with a file',
  fields: {
    path: word('PATH'),
    status: choice('--reading|--working|--done', FILE_STATUSES, {
      flags: { reading: { means: 'reading' }, working: { means: 'working' }, done: { means: 'done' } },
      unclear: UNCLEAR,
    }),
    step: option('[--step ID],'),
    rename: pairedOption('or file OLD --rename NEW', 'path'),
  },
  run(memory, input) {
    const { path: typed, status, step, rename } = input;
    const session = meant(memory, input);
    if (typed === undefined && rename !== undefined)
      throw new UsageError('which file? For example: watchkeeper track file old.ts --rename new.ts');
    if (typed === undefined || (status === undefined && rename === undefined)) throw new UsageError(UNCLEAR);
    const path = memory.pathOf(typed, session.log.state);
    if (rename !== undefined) {
      const to = memory.pathOf(rename, session.log.state);
      writeFact(session, memory.stamp, worklogKind.line('file', { from: path, path: to }));
      return { lines: `${typed} is ${rename} now`, value: { from: path, path: to } };
    }
    writeOrRefuse(
      session,
      memory.stamp,
      (state) => (isKnown(state, path, { status, step }) ? [] : [worklogKind.line('file', { path, to: status, step })]),
      { isFact: true },
    );
    return { lines: `${path} is ${status && WORDS[status]}`, value: { path, status } };
  },
});

/** Whether the log says so already: the line would only make it longer. After the session's end, the rules refuse it like any other. */
function isKnown(
  log: Worklog,
  path: string,
  { status, step }: { readonly status: FileStatus | undefined; readonly step: string | undefined },
): boolean {
  const before = log.files.get(path);
  if (overBy(log) !== null || before === undefined || before.status !== status) return false;
  return before.step === (step ?? before.step ?? onlyStepInProgress(log));
}
