/** What the chat hears of an incident. */
import type { Incident } from '../../src/model.js';
import { describeFinding } from '../describe.js';
import { leadingFinding } from './incidentEvents.js';

/** The contract's first paragraph of every failure message, to the letter. */
export const FAILURE_PARAGRAPH =
  "Sorry, I ran into an issue and couldn't recover. The error has been logged for investigation.";

export const CANCELLED_TEXT = 'Cancelled at your request.';

/** @returns the failure message: the first paragraph, what failed, and the link where there is one */
export function failureText(incident: Incident): string {
  const paragraphs = [FAILURE_PARAGRAPH, `What failed: ${sentence(incident)}`];
  if (incident.not_revived_because !== null && incident.attempt === 1) {
    paragraphs.push(`I did not try again: ${incident.not_revived_because}.`);
  } else if (incident.attempt === 2) {
    paragraphs.push('This was the second attempt.');
  }
  if (incident.report.url !== null) paragraphs.push(`Issue: ${incident.report.url}`);
  return paragraphs.join('\n\n');
}

/** @returns what the progress message shows after a first failure */
export function progressText(incident: Incident): string {
  return `The first attempt failed; trying once more. ${sentence(incident)}`;
}

function sentence(incident: Incident): string {
  const finding = leadingFinding(incident);
  return finding === null ? `the rule ${incident.rule} was true.` : describeFinding(finding);
}
