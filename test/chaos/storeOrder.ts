/**
 * What must hold of the order in which the store was written: an incident is taken on only by the watchdog that
 * holds the lease at that instant, and a run's lease is renewed only while that run holds its lane.
 *
 * Excused is what a bridge alone knows when the store has forgotten it: that it runs a second attempt. It stores that one
 * again together with the first attempt's incident (`src/jobs/regain.ts`), whoever acts.
 */
import type { StoreWrite } from './storeTrace.js';

interface Start {
  readonly lane: string;
  readonly run: string;
}

/** @returns what does not hold, in sentences */
export function storeViolations(writes: readonly StoreWrite[]): string[] {
  const violations: string[] = [];
  let knowledge = nothing();
  const begun = new Set(writes.flatMap((write) => (write.what === 'holder' && write.run !== null ? write.script : [])));
  for (const write of writes) {
    const { incidents, holders, starts } = knowledge;
    switch (write.what) {
      case 'gap':
        knowledge = nothing();
        break;
      case 'acting':
        // Whoever has given the lease back may finish, as long as nobody has taken it.
        if (write.owner !== '') knowledge.acting = write.by;
        break;
      case 'incident': {
        // The owner of a run opens its incident, and adds to it what it knows, without being the watchdog.
        const before = incidents.get(write.incident);
        const state = write.isDecided ? `${write.step}, decided` : write.step;
        incidents.set(write.incident, state);
        if (before === undefined || before === state) break;
        if (knowledge.acting === null || knowledge.acting === write.by) break;
        if (state === 'revived' && begun.has(write.script)) break;
        violations.push(
          `incident ${write.incident} was taken from ${before} to ${state} by the ${write.by} while the ${knowledge.acting} acted`,
        );
        break;
      }
      case 'holder':
        holders.set(write.lane, write.run);
        knowledge.started =
          write.run === null ? null : { script: write.script, start: { lane: write.lane, run: write.run } };
        break;
      case 'run_lease': {
        if (knowledge.started?.script === write.script) {
          starts.set(write.session, knowledge.started.start);
          break;
        }
        const start = starts.get(write.session);
        if (start === undefined || holders.get(start.lane) === start.run) break;
        violations.push(`run ${start.run} of ${write.session} renewed its lease, though it had lost its lane`);
        break;
      }
      default:
        write satisfies never;
    }
  }
  return violations;
}

function nothing() {
  return {
    acting: null as string | null,
    incidents: new Map<string, string>(),
    holders: new Map<string, string | null>(),
    starts: new Map<string, Start>(),
    /** What the latest script that started a run has set. */
    started: null as { readonly script: number; readonly start: Start } | null,
  };
}
