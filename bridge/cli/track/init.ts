import { crashLines, crashReport } from '../../../memory/brief/crashReport.js';
import { isCrashed } from '../../../memory/fold/crash.js';
import { archiveSession } from '../../../memory/keeping/archive.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import { heldReport } from '../../../memory/show/status.js';
import { UsageError } from '../../../src/errors.js';
import { word } from '../../command/word.js';

export const init = word({
  usage: 'init TASK [--step TITLE]… [--steps A,B] [--name NAME]\n       [--resume|--archive-existing|--concurrent]',
  summary: 'begin a session with a plan',
  options: {
    step: { type: 'string', multiple: true },
    steps: { type: 'string' },
    name: { type: 'string' },
    concurrent: { type: 'boolean' },
    resume: { type: 'boolean' },
    'archive-existing': { type: 'boolean' },
  },
  words: 1,
  run({ memory, values, words: [task = ''], print, context }) {
    if (task.trim() === '' && !values.resume)
      throw new UsageError('what is the task? For example: track init "Fix the login"');
    const titles = [...(values.step ?? []), ...(values.steps?.split(',') ?? [])].map((title) => title.trim());
    if (titles.includes('')) throw new UsageError('a step without a title: give each --step some words');
    const holder = values.concurrent ? null : memory.holder();
    if (holder !== null && values.resume) {
      memory.adopt(holder);
      print(`going on with session ${holder.id}`, { session_id: holder.id, folder: holder.folder, resumed: true });
      return 0;
    }
    if (holder !== null && values['archive-existing']) archiveSession(memory, holder, 'cancelled');
    else if (holder !== null) {
      context.io.stderr(`${reportOn(holder, memory)}\n`);
      return 1;
    }
    if (values.resume && task.trim() === '')
      throw new UsageError('no session holds this directory, so there is nothing to go on with');
    const session = memory.lifecycle.begin(memory.workspace, {
      purpose: task,
      fields: { name: values.name },
      plan: titles.map((title, index) => ({ event: 'step_added', step: String(index + 1), title })),
      concurrent: values.concurrent === true,
    });
    memory.adopt(session);
    print(`session ${session.id} begins, with ${titles.length} steps`, {
      session_id: session.id,
      folder: session.folder,
      steps: titles.length,
    });
    return 0;
  },
});

/** What holds the directory: a crashed session with its proof, or one that is unfinished. */
function reportOn({ id, log }: OpenSession, memory: Memory): string {
  const now = memory.clock.now();
  const { process } = memory.surroundings;
  const crash = isCrashed(log.state, process)
    ? crashLines(crashReport(log.state, memory.workspace.root, process), now)
    : [];
  return [...crash, heldReport(id, log.state, now)].join('\n');
}
