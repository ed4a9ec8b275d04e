import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { RefusedError } from '../../../memory/logs/log.js';
import { addSteps, freeStepId } from '../../../memory/plans/addedSteps.js';
import { writeOrRefuse } from '../../../memory/sessions/write.js';
import type { StepStatus } from '../../../memory/words.js';
import { UsageError } from '../../../src/errors.js';
import { word } from '../../command/word.js';

export const step = word({
  usage:
    'step ID --start|--done|--retry|--fail WHY|--skip WHY [--file PATH]…\n       [--files A,B] [--override WHY]\n  step --add TITLE',
  summary:
    'move a step; its files become working, then done. After two retries only\n      a person may retry, with --override',
  options: {
    start: { type: 'boolean' },
    done: { type: 'boolean' },
    retry: { type: 'boolean' },
    fail: { type: 'string' },
    skip: { type: 'string' },
    override: { type: 'string' },
    add: { type: 'string' },
    file: { type: 'string', multiple: true },
    files: { type: 'string' },
  },
  words: 1,
  run({ memory, values, words: [id], print }) {
    const session = memory.which(values.session ?? null);
    if (values.add !== undefined) {
      const title = values.add.trim();
      if (title === '') throw new UsageError('a step without a title: give --add some words');
      let next = '';
      const [refusal] = addSteps(session.log, memory.stamp, (state) => {
        next = freeStepId(state);
        return [worklogKind.line('step_added', { step: next, title })];
      });
      if (refusal !== undefined) throw new RefusedError(refusal);
      print(`step ${next} added`, { step: next });
      return 0;
    }
    if (id === undefined) throw new UsageError('which step? For example: watchkeeper track step 1 --start');
    const moves = [
      ...(values.start || values.retry ? ['in_progress'] : []),
      ...(values.done ? ['completed'] : []),
      ...(values.fail !== undefined ? ['failed'] : []),
      ...(values.skip !== undefined ? ['skipped'] : []),
    ] as StepStatus[];
    const [to, ...others] = moves;
    if (to === undefined || others.length > 0)
      throw new UsageError('say one of --start, --done, --fail WHY, --retry, --skip WHY');
    for (const option of ['fail', 'skip', 'override'] as const)
      if (values[option]?.trim() === '')
        throw new UsageError(`--${option} without a reason: say why, for example --${option} "the API is down"`);
    const paths = [...(values.file ?? []), ...(values.files?.split(',') ?? [])].map((path) =>
      memory.pathOf(path.trim()),
    );
    const { fail, skip, override } = values;
    writeOrRefuse(session, memory.stamp, () => [
      worklogKind.line('step', { step: id, to, reason: fail ?? skip, override, paths }),
    ]);
    const now = session.log.state.steps.get(id);
    print(`step ${id} ${now?.status === 'failed' ? 'has' : 'is'} ${now?.status.replace('_', ' ')}: ${now?.title}`, {
      step: id,
      status: now?.status,
    });
    return 0;
  },
});
