import { isoTime } from '../../src/time.js';
import { plainName, subAgent } from '../plainName.js';
import type { AgentState } from '../timeline/state.js';
import { clockTime } from '../waits.js';
import { type Detector, type Judgement, QUIET, type Subject } from './detector.js';

/** More than `error_batches` consecutive batches of one agent failed. (Judgement rules, 12.) */
export const errorCascade: Detector = { rule: 'error_cascade', judge };

function judge(subject: Subject): Judgement {
  const limit = subject.thresholds.error_batches;
  const agent = worstAgent(subject);
  if (agent === null || agent.errors.count <= limit) return QUIET;
  const { count, failedAt, lastFailedAt, lastFailedTool } = agent.errors;
  const who = agent.id === '' ? '' : ` of ${subAgent(agent.id)}`;
  return {
    finding: {
      rule: 'error_cascade',
      reason: `error_cascade_of_${count}`,
      since: isoTime(failedAt[limit] ?? lastFailedAt),
      evidence: [
        `the last ${count} batches of calls${who} failed one after the other, and ${limit} may`,
        `the last failure was ${plainName(lastFailedTool, 'a call')} at ${clockTime(lastFailedAt)}`,
      ],
      waits_considered: [],
    },
    deadline: null,
  };
}

function worstAgent(subject: Subject): AgentState | null {
  let worst: AgentState | null = null;
  for (const agent of subject.run.agents.values()) {
    if (worst === null || agent.errors.count > worst.errors.count) worst = agent;
  }
  return worst;
}
