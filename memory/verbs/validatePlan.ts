import { checkPlan } from '../plans/planCheck.js';
import { given } from './fields.js';
import { PHASES, phasesOf } from './planFields.js';
import { verb } from './verb.js';

export const validatePlan = verb({
  name: 'validate_plan',
  summary: 'check a plan, and store nothing',
  isAnywhere: true,
  fields: { phases: given(PHASES) },
  run(memory, { phases }) {
    const { violations, order, batches } = checkPlan(phasesOf((path) => memory.pathOf(path), phases));
    const valid = violations.length === 0;
    return {
      lines: valid ? [`the plan is valid: ${order.join(', ')}`] : violations.map(({ message }) => message),
      value: { valid, violations, order, batches },
    };
  },
});
