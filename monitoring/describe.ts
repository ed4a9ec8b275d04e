/**
 * A finding in words, for operators. The same sentence stands in the log and the issue, its clauses in the critical event; the
 * chat has plainer words (`incident/chatTexts.ts`).
 */
import type { ConsideredWait, Finding } from '../src/model.js';

/** @returns one sentence: what is wrong, by which readings, and why no wait excuses it */
export function describeFinding(finding: Finding): string {
  const headline = finding.rule.replaceAll('_', ' ');
  const clauses = [...finding.evidence, ...finding.waits_considered.map(describeWait)];
  return `${clauses.length === 0 ? headline : `${headline}: ${clauses.join('; ')}`}.`;
}

/** @returns the wait and its reason as a clause */
export function describeWait(wait: ConsideredWait): string {
  return `${wait.owner} ${subjectOf(wait.kind)} since ${wait.since.slice(11, 19)}, ${wait.excuses ? 'and' : 'but'} ${wait.why}`;
}

function subjectOf(kind: ConsideredWait['kind']): string {
  switch (kind) {
    case 'tool':
      return 'has been in flight';
    case 'permission':
      return 'has waited for a permission';
    case 'user':
      return 'has waited for a person';
    case 'rate_limit':
      return "has waited for the model's API";
    case 'child':
      return 'has waited for a child agent';
    default:
      return kind satisfies never;
  }
}
