/**
 * What the chat hears of an incident. People there asked for something; they need not know of batches, lanes or stores.
 * Log, event and issue have the readings (`describe.ts`), the chat has what they mean.
 */
import type { Finding, Incident } from '../../src/model.js';
import { describeDuration, MINUTE } from '../../src/time.js';
import { describeCrash } from '../detectors/crash.js';
import { leadingFinding } from './incidentEvents.js';

/** The contract's first paragraph of every failure message, to the letter. */
export const FAILURE_PARAGRAPH =
  "Sorry, I ran into an issue and couldn't recover. The error has been logged for investigation.";

export const CANCELLED_TEXT = 'Cancelled at your request.';

/** The chat is no log: the issue and the record have the rest. */
const LONGEST_EXCERPT = 400;

/** @returns the failure message: the first paragraph, what failed, what comes next, and the link where there is one */
export function failureText(incident: Incident): string {
  const paragraphs = [FAILURE_PARAGRAPH, `What failed: ${whatFailed(incident)}`];
  const excerpt = (incident.untrusted_excerpt ?? '').trim();
  if (excerpt !== '') paragraphs.push(`How it ended: ${shorten(excerpt)}`);
  if (incident.not_revived_because !== null && incident.attempt === 1) {
    paragraphs.push(`I did not try again: ${incident.not_revived_because}.`);
  } else if (incident.attempt === 2) {
    paragraphs.push('This was the second attempt, so I stop here. Send the message again if I should start over.');
  }
  if (incident.report.url !== null) paragraphs.push(`Issue: ${incident.report.url}`);
  return paragraphs.join('\n\n');
}

/** @returns what the progress message shows after a first failure */
export function progressText(incident: Incident): string {
  return `The first attempt failed: ${whatFailed(incident)} I am trying once more.`;
}

function whatFailed(incident: Incident): string {
  const finding = leadingFinding(incident);
  return finding === null ? 'something went wrong.' : `${inPlainWords(finding)}.`;
}

function inPlainWords(finding: Finding): string {
  const { rule, reason } = finding;
  switch (rule) {
    case 'crash':
      return describeCrash(reason);
    case 'orphan':
      return 'the service went down while the agent was at work';
    case 'error_cascade':
      return `the last ${countIn(reason) ?? 'few'} things that the agent tried failed, one after the other`;
    case 'silence':
      return `${silentFor(reason)}${unfinishedTool(finding)}`;
    case 'runaway':
      return `the agent worked for ${minutesIn(reason)} without coming to an end`;
    case 'loop':
      return 'the agent kept repeating the same thing';
    case 'backlog':
      return `the message waited for ${minutesIn(reason)}, and nothing took it up`;
    default:
      return rule satisfies never;
  }
}

/** Less than a minute is no measure: somebody has set it so for trying out. */
function silentFor(reason: string): string {
  return countIn(reason) === 0 ? 'the agent fell silent' : `nothing was heard of the agent for ${minutesIn(reason)}`;
}

function unfinishedTool({ waits_considered: waits }: Finding): string {
  const tool = waits.find(({ kind }) => kind === 'tool')?.owner.replace(/ \([^()]*\)$/, '');
  return tool === undefined ? '' : `; it was waiting for ${tool}, which did not come back`;
}

function countIn(reason: string): number | null {
  const [, count] = /_(\d+)(?:_minutes)?$/.exec(reason) ?? [];
  return count === undefined ? null : Number(count);
}

function minutesIn(reason: string): string {
  const minutes = countIn(reason);
  return minutes === null || minutes === 0 ? 'too long' : describeDuration(minutes * MINUTE);
}

function shorten(text: string): string {
  if (text.length <= LONGEST_EXCERPT) return text;
  return `${text.slice(0, LONGEST_EXCERPT - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
