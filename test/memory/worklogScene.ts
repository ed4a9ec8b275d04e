/** A worklog that is written line by line, a second apart, without a file. */
import { worklogKind } from '../../memory/fold/rules/kind.js';
import type { Worklog } from '../../memory/fold/worklog.js';
import type { Refusal } from '../../memory/logs/kind.js';
import type { Line } from '../../memory/logs/line.js';
import type { Origin, StepStatus } from '../../memory/words.js';
import { SECOND } from '../../src/time.js';

export class WorklogScene {
  readonly log: Worklog = worklogKind.begin();
  /** UTC epoch milliseconds, of the last line. */
  now = Date.UTC(2026, 10, 1);
  #lines = 0;

  write(event: string, fields: Record<string, unknown> = {}, origin: Origin = 'agent'): Refusal | null {
    this.#lines += 1;
    this.now += SECOND;
    const timestamp = new Date(this.now).toISOString();
    const line: Line = { v: 1, id: `l${this.#lines}`, timestamp, event, origin, ...fields };
    return worklogKind.apply(this.log, line);
  }

  step(step: string, to: StepStatus, fields: Record<string, unknown> = {}, origin: Origin = 'agent'): Refusal | null {
    return this.write('step', { step, to, ...fields }, origin);
  }

  status(step: string): StepStatus | undefined {
    return this.log.steps.get(step)?.status;
  }
}
