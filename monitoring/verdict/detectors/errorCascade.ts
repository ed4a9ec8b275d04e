import { clockTime, isoTime } from '../../../src/time.js';
import { agentInRecord, agentWords, quotedName } from '../clocks/plainName.js';
import type { AgentState } from '../timeline/state.js';
import type { CountedSubject, Detector, Judgement } from './detector.js';
import { countedReason } from './reasons.js';

/** More than `error_batches` consecutive batches of one agent failed. (Judgement rules, 12.) */
export const errorCascade: Detector<CountedSubject> = { rule: 'error_cascade', judge };

function judge(subject: CountedSubject): Judgement {
  const limit = subject.thresholds.error_batches;
  const agent = worstOf(subject.owing);
  if (agent.errors.count <= limit) return null;
  const { count, failedAt, lastFailedAt, lastFailedTool } = agent.errors;
  return {
    rule: 'error_cascade',
    reason: countedReason('error_cascade', count),
    since: isoTime(failedAt[limit] ?? lastFailedAt),
    evidence: [
      `the last ${count} steps of ${agentWords(agent.id)} failed in a row (limit ${limit})`,
      `the last failure was ${quotedName(lastFailedTool, 'a call')} at ${clockTime(lastFailedAt)}`,
    ],
    waits_considered: [],
    clock: {
      agent: agentInRecord(agent.id),
      unit: 'failing_batches',
      value: count,
      limit,
      counted_from: isoTime(failedAt[0] ?? lastFailedAt),
    },
  };
}

function worstOf(agents: readonly AgentState[]): AgentState {
  return agents.reduce((worst, agent) => (agent.errors.count > worst.errors.count ? agent : worst));
}
