import type { WorklogLine } from '../../../memory/fold/rules/kind.js';
import { addSteps } from '../../../memory/plans/addedSteps.js';
import { mergeTodoList, readTodoList } from '../../../memory/plans/todoList.js';
import { stepLine } from '../../../memory/show/status.js';
import type { CommandContext } from '../../command/command.js';
import { readOptionFile } from '../../command/options.js';
import { readText } from '../../command/standardInput.js';
import { word } from '../../command/word.js';

const isAddition = ({ event }: WorklogLine): boolean => event === 'step_added';
const LONGEST_LIST = 1024 * 1024;

export const sync = word({
  usage: 'sync [FILE|-]',
  summary: 'merge a list of tasks (JSON) into the steps; alone, print the checklist',
  options: {},
  words: 1,
  async run({ memory, values, words: [source], print, context }) {
    const session = memory.which(values.session ?? null);
    let stuck: readonly string[] = [];
    if (source !== undefined) {
      const items = readTodoList(await listFrom(source, context), memory.stamp.redact);
      // First the new steps: if another writer takes a number first, the moves must not be those of its step.
      const notAdded = addSteps(session.log, memory.stamp, (state) =>
        mergeTodoList(state, items).lines.filter(isAddition),
      );
      const refusals = session.log.write((state) => {
        const merge = mergeTodoList(state, items);
        stuck = merge.stuck;
        return merge.lines.filter(({ step }) => state.steps.has(step));
      }, memory.stamp);
      const reasons = [...notAdded, ...refusals].flatMap((refusal) => (refusal === null ? [] : [refusal.message]));
      stuck = [...stuck, ...new Set(reasons)];
    }
    const steps = [...session.log.state.steps.values()];
    const lines = [...steps.map(stepLine), ...stuck];
    print(lines.length === 0 ? 'no steps' : lines, { steps, stuck });
    return stuck.length === 0 ? 0 : 1;
  },
});

function listFrom(source: string, { input }: CommandContext): Promise<string> {
  return source === '-' ? readText(input, LONGEST_LIST) : readOptionFile('sync', source, LONGEST_LIST);
}
