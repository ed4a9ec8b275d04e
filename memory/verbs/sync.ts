import { overBy, type WorklogLine } from '../fold/rules/kind.js';
import { addSteps } from '../plans/addedSteps.js';
import { callerHolder } from '../plans/holding.js';
import { mergeTodoList, readTodoList } from '../plans/todoList.js';
import { stepLine } from '../show/status.js';
import { afterMoves } from './ending.js';
import { word } from './fields.js';
import { meant } from './meant.js';
import { verb } from './verb.js';

const isAddition = ({ event }: WorklogLine): boolean => event === 'step_added';

export const sync = verb({
  name: 'sync',
  summary: 'merge a list of tasks (JSON) into the steps; alone, print the checklist',
  fields: { source: word('[FILE|-]') },
  async run(memory, input, door) {
    const session = meant(memory, input);
    let stuck: readonly string[] = [];
    if (input.source !== undefined) {
      const items = readTodoList(await door.read('sync', input.source), memory.stamp.redact);
      const holder = callerHolder(memory);
      // First the new steps: if another writer takes a number first, the moves must not be those of its step.
      const notAdded = addSteps(session.log, memory.stamp, (state) =>
        mergeTodoList(state, items).lines.filter(isAddition),
      );
      const refusals = session.log.write((state) => {
        const merge = mergeTodoList(state, items, holder);
        stuck = merge.stuck;
        return merge.lines.filter(({ step }) => state.steps.has(step));
      }, memory.stamp);
      const reasons = [...notAdded, ...refusals, overBy(session.log.state)].flatMap((refusal) =>
        refusal === null ? [] : [refusal.message],
      );
      stuck = [...stuck, ...new Set(reasons)];
    }
    const steps = [...session.log.state.steps.values()];
    const after = input.source === undefined ? null : afterMoves(memory, session);
    const lines = [...steps.map(stepLine), ...stuck, ...(after?.lines ?? [])];
    return {
      lines: lines.length === 0 ? 'no steps' : lines,
      value: { steps, stuck, ...after?.value },
      ...after?.more,
      ...(stuck.length > 0 && { verdict: 'found' }),
    };
  },
});
