/** Folds lines of a journal, as an agent writes them. */
import { Observed } from '../../../memory/observed/observed.js';

export const START = Date.UTC(2026, 10, 1);

/** Lines of a journal, a second apart. */
export function observe(...lines: Record<string, unknown>[]): Observed {
  const observed = new Observed();
  for (const [index, line] of lines.entries())
    observed.take({ v: 1, timestamp: new Date(START + index * 1_000).toISOString(), session_id: 'c1', ...line });
  return observed;
}
