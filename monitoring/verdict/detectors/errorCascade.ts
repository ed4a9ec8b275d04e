import { clockTime, isoTime } from '../../../src/time.js';
import { plainName, quotedName, subAgent } from '../clocks/plainName.js';
import { MAIN_AGENT } from '../timeline/entry.js';
import type { AgentState } from '../timeline/state.js';
import { type CountedSubject, type Detector, type Judgement, QUIET } from './detector.js';
import { countedReason } from './reasons.js';

/** More than `error_batches` consecutive batches of one agent failed. (Judgement rules, 12.) */
export const errorCascade: Detector<CountedSubject> = { rule: 'error_cascade', judge };

function judge(subject: CountedSubject): Judgement {
  const limit = subject.thresholds.error_batches;
  const agent = worstAgent(subject);
  if (agent === null || agent.errors.count <= limit) return QUIET;
  const { count, failedAt, lastFailedAt, lastFailedTool } = agent.errors;
  const isMain = agent.id === MAIN_AGENT;
  const who = isMain ? 'the agent' : subAgent(agent.id);
  return {
    finding: {
      rule: 'error_cascade',
      reason: countedReason('error_cascade', count),
      since: isoTime(failedAt[limit] ?? lastFailedAt),
      evidence: [
        `the last ${count} things that ${who} tried failed one after the other, and ${limit} may`,
        `the last failure was ${quotedName(lastFailedTool, 'a call')} at ${clockTime(lastFailedAt)}`,
      ],
      waits_considered: [],
      clock: {
        agent: isMain ? null : plainName(agent.id, 'without a plain name'),
        unit: 'failing_batches',
        value: count,
        limit,
        counted_from: isoTime(failedAt[0] ?? lastFailedAt),
      },
    },
    deadline: null,
  };
}

function worstAgent(subject: CountedSubject): AgentState | null {
  let worst: AgentState | null = null;
  for (const agent of subject.run.agents) {
    if (worst === null || agent.errors.count > worst.errors.count) worst = agent;
  }
  return worst;
}
