/** Begins a session with a plan, as the command line says it. */
import { UsageError } from '../../src/errors.js';
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import { beginSession } from './beginning.js';
import { choice, list, option, word } from './fields.js';
import { reportOn } from './inTheWay.js';
import { type Outcome, verb } from './verb.js';

/** The verb of `track init`. */
export const init = verb({
  name: 'init',
  summary: 'begin a session with a plan',
  fields: {
    task: word('TASK'),
    step: list('[--step TITLE]… [--steps A,B]', 'steps'),
    name: option('[--name NAME]'),
    /** How to treat the session that is there already. */
    existing: choice(
      '\n       [--resume [--session ID]|--archive-existing|--concurrent]',
      ['resume', 'archive', 'concurrent'],
      {
        flags: {
          resume: { means: 'resume' },
          'archive-existing': { means: 'archive' },
          concurrent: { means: 'concurrent' },
        },
        unclear: null,
      },
    ),
  },
  async run(memory, input): Promise<Outcome> {
    const { task = '', existing, session, name } = input;
    if (task.trim() === '' && existing !== 'resume')
      throw new UsageError('what is the task? For example: watchkeeper track init "Fix the login"');
    const titles = input.step.map((title) => title.trim());
    if (titles.includes('')) throw new UsageError('a step without a title: give each --step some words');
    if (session !== undefined && existing !== 'resume' && !memory.isBridges)
      throw new UsageError('--session names a session to go on with: add --resume, or leave it out to begin one');
    const begun = await beginSession(memory, { task, plan: planOf(titles), existing, session, name });
    if ('others' in begun) return { verdict: 'refused', lines: await reportOn(begun.others, memory), value: null };
    return begun.outcome;
  },
});

function planOf(titles: readonly string[]): WorklogLine[] {
  return titles.map((title, index) => worklogKind.line('step_added', { step: String(index + 1), title }));
}
