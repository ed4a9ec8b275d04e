/**
 * A finding as a colleague would say it in a chat: what happened, and for how long, without clocks and limits. The log, the
 * critical event and the issue have the whole sentence (`describe.ts`).
 */
import type { IncidentRule } from '../../../src/config/rules.js';
import type { ConsideredWait, Finding } from '../../../src/jobs/findings.js';
import { spokenDuration } from '../../../src/time.js';
import { reasonWord } from '../../verdict/detectors/reasons.js';

/** @returns one complete sentence */
export function inPlainWords(finding: Finding<IncidentRule>): string {
  const { rule, reason, clock, evidence } = finding;
  const who = clock === undefined || clock.agent === null ? 'The agent' : 'A sub-agent';
  switch (rule) {
    case 'silence':
      return silenceSentence(finding, who);
    case 'runaway':
      return clock === undefined
        ? `${who} worked for too long without finishing.`
        : `${who} worked for ${spokenDuration(clock.value)} without finishing.`;
    case 'error_cascade':
      return clock === undefined
        ? `Too many of the agent's steps failed in a row.`
        : `${who} failed ${clock.value} times in a row.`;
    case 'loop':
      return `${who} repeated the same steps without getting anywhere.`;
    case 'orphan':
      return 'The service that ran the agent stopped.';
    case 'crash':
      // A person in a chat knows neither bridge nor Redis.
      if (reason === reasonWord({ kind: 'plain', reason: 'run_lease_expired' }))
        return 'The service that ran the agent could not reach its store for too long, and ended the agent.';
      return capitalised(evidence[0] ?? 'something went wrong');
    case 'backlog':
    case 'provider_outage':
      return capitalised(evidence[0] ?? 'something went wrong');
    default:
      return rule satisfies never;
  }
}

function silenceSentence({ clock, waits_considered: waits }: Finding<IncidentRule>, who: string): string {
  const lasted = clock === undefined ? '' : ` for ${spokenDuration(clock.value)}`;
  const hung = waits.find(({ kind, excuses }) => kind === 'tool' && !excuses);
  if (hung !== undefined) return `${who} was stuck in ${toolOf(hung)}${lasted}.`;
  if (waits.some(({ kind }) => kind === 'rate_limit')) return `${who} got no answer from the model${lasted}.`;
  return `${who} said nothing${lasted}.`;
}

/** Which sub-agent it was means nothing to a person in a chat. */
function toolOf({ owner }: ConsideredWait): string {
  const of = owner.indexOf(' of ');
  return of < 0 ? owner : owner.slice(0, of);
}

function capitalised(clause: string): string {
  const sentence = `${clause.charAt(0).toUpperCase()}${clause.slice(1)}`;
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}
