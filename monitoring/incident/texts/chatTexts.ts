/** The texts for the chat about an incident: what happened, in plain words, and what it means for the person who asked. */

import type { IncidentRule } from '../../../src/config/rules.js';
import type { ConsideredWait, Finding } from '../../../src/jobs/findings.js';
import type { Incident } from '../../../src/jobs/incidents.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { redactShapes } from '../../../src/log/redact.js';
import { shorten } from '../../../src/log/shorten.js';
import { clockTime, spokenDuration } from '../../../src/time.js';
import { reasonWord } from '../../verdict/detectors/reasons.js';
import { endWords, leadingFinding } from './incidentEvents.js';

/** The first paragraph of every failure message, exactly as the contract has it. */
export const FAILURE_PARAGRAPH =
  "Sorry, I ran into an issue and couldn't recover. The error has been logged for investigation.";

export const CANCELLED_TEXT = 'Cancelled at your request.';

/** For a message whose end is unknown. */
export const LOST_TEXT = `${FAILURE_PARAGRAPH}

My database lost its record of this message, so I did not try again. To start over, send the message again.`;

/** The chat is no log: the issue and the record have the rest. */
const LONGEST_EXCERPT = 400;

/** @returns the failure message: the first paragraph, what failed, what comes next, and the issue's link if there is one */
export function failureText(incident: Incident): string {
  const paragraphs = [FAILURE_PARAGRAPH, whatFailed(incident)];
  const excerpt = endWords(incident.untrusted_excerpt, leadingFinding(incident)?.evidence ?? []);
  if (excerpt !== '') paragraphs.push(`How it ended: ${inCode(shorten(redactShapes(excerpt), LONGEST_EXCERPT))}`);
  if (incident.not_revived_because !== null && incident.attempt === 1) {
    // It may have been run several times, after interruptions or waits for the end of a limit: these are no second attempt.
    paragraphs.push(`I will not try again: ${incident.not_revived_because}.`);
  } else if (incident.attempt === 2) {
    paragraphs.push(`This was the second attempt, so I will not try again. ${howToStartOver(incident)}`);
  }
  if (incident.report.url !== null) paragraphs.push(`Issue: ${whereToRead(incident.report.url)}`);
  return paragraphs.join('\n\n');
}

function howToStartOver({ conversation }: Incident): string {
  const again = 'To start over, send the message again.';
  if (conversation === undefined) return again;
  if (conversation.is_left)
    return 'Our conversation cannot be continued: your next message begins a new one, like /new.';
  return `${again} If that fails as well, begin a new conversation with /new first.`;
}

/** An agent's words: in code, so that no chat turns them into links, mentions or markup. */
function inCode(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => `\`${line.replaceAll('`', "'")}\``).join('\n');
}

/** @returns what the progress message shows after a first failure */
export function progressText(incident: Incident): string {
  const where = incident.conversation?.is_left === true ? ' in a new conversation, with a record of the old one' : '';
  return `${reasonText(incident)} I am trying again${where}.`;
}

/** @returns why there is a second attempt; the progress message keeps it while that one works */
export function reasonText(incident: Incident): string {
  return `The first attempt failed. ${whatFailed(incident)}`;
}

/** @returns what the progress message shows while the message waits for its model's provider */
export function waitingText({ attempt }: Incident): string {
  const next =
    attempt === 1
      ? 'I kept your message and will start it again when the provider is back.'
      : 'This was the second attempt. I will let you know how it ends when the provider is back.';
  return `The model provider seems to be down. ${next}`;
}

const LIMIT_REACHED = "The provider's usage limit is reached.";

/** @returns the chat message for a wait until the end of the provider's limit, epoch ms */
function limitText(until: number): string {
  return `${LIMIT_REACHED} I kept your message and will continue at ${clockTime(until)}.`;
}

const WAITS_FOR = {
  provider: "The model's provider is busy or cannot be reached.",
  host: 'The machine that I run on is too busy to start an agent.',
} as const;

/** @returns the chat message for a session that waits until then, epoch ms, without spending an attempt */
export function waitText({ wait }: Pick<AgentSession, 'wait'>, until: number): string {
  if (wait === null) return limitText(until);
  return `${WAITS_FOR[wait.for]} I kept your message and will try again at ${clockTime(until)}; this does not count as an attempt.`;
}

/** @returns the chat message for a session behind one that waits until then, epoch ms, in the same folder */
export function behindText({ wait }: Pick<AgentSession, 'wait'>, until: number): string {
  const why = wait === null ? LIMIT_REACHED : WAITS_FOR[wait.for];
  return `${why} I kept your message. One before it, in the same folder, waits until ${clockTime(until)}; yours follows.`;
}

/** A file on the host cannot be opened from a chat, and its path must not be shown there. */
function whereToRead(url: string): string {
  if (!url.startsWith('file:')) return url;
  return `${url.slice(url.lastIndexOf('/') + 1)}, which the operator of this bot can read`;
}

function whatFailed(incident: Incident): string {
  const finding = leadingFinding(incident);
  return finding === null ? 'Something went wrong.' : inPlainWords(finding);
}

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
