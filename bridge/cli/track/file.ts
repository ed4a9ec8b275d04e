import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { writeFact } from '../../../memory/sessions/write.js';
import { FILE_STATUSES, type FileStatus } from '../../../memory/words.js';
import { UsageError } from '../../../src/errors.js';
import { word } from '../../command/word.js';

const WORDS: Readonly<Record<FileStatus, string>> = { reading: 'being read', working: 'being worked on', done: 'done' };

export const file = word({
  usage: 'file PATH --reading|--working|--done [--step ID], or file OLD --rename NEW',
  summary: 'say what is done with a file',
  options: {
    reading: { type: 'boolean' },
    working: { type: 'boolean' },
    done: { type: 'boolean' },
    rename: { type: 'string' },
    step: { type: 'string' },
  },
  words: 2,
  run({ memory, values, words, typed, print }) {
    const session = memory.which(values.session ?? null);
    const inWorkspace = (path: string) => memory.pathOf(path);
    if (values.rename !== undefined) {
      // `file OLD --rename NEW`, and `file --rename OLD NEW`, in which the option's value is the old name.
      const [first] = words;
      if (first === undefined || words.length > 1)
        throw new UsageError('which file? For example: watchkeeper track file old.ts --rename new.ts');
      const isOldFirst = typed.indexOf('--rename') < typed.indexOf(first) && typed.includes('--rename');
      const [from, to] = isOldFirst ? [values.rename, first] : [first, values.rename];
      writeFact(session, memory.stamp, worklogKind.line('file', { from: inWorkspace(from), path: inWorkspace(to) }));
      print(`${from} is ${to} now`, { from: inWorkspace(from), path: inWorkspace(to) });
      return 0;
    }
    const [path] = words;
    const chosen = FILE_STATUSES.filter((status) => values[status] === true);
    const [to] = chosen;
    if (path === undefined || to === undefined || chosen.length > 1)
      throw new UsageError('name a file and one of --reading, --working, --done');
    writeFact(session, memory.stamp, worklogKind.line('file', { path: inWorkspace(path), to, step: values.step }));
    print(`${inWorkspace(path)} is ${WORDS[to]}`, { path: inWorkspace(path), status: to });
    return 0;
  },
});
