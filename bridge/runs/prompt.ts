/** The agent's prompt: the message itself or, in a revival, the message with what is known of the first attempt. */

import { leadingFinding } from '../../monitoring/incident/texts/incidentEvents.js';
import { describeFinding } from '../../monitoring/verdict/describe.js';
import type { AgentSession } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';
import { journalPath } from '../../src/journal/path.js';
import { type RecentToolCall, readRecentToolCalls } from '../../src/journal/readRecentToolCalls.js';
import { shorten } from '../../src/log/shorten.js';

const CALLS_SHOWN = 10;
const FILES_SHOWN = 20;
const PREVIEW_LENGTH = 160;

/** @param redact applied to what the journal holds of the first attempt */
export async function promptOf(
  store: Store,
  logsFolder: string,
  redact: (text: string) => string,
  session: AgentSession,
): Promise<string> {
  if (session.interruptions > 0 && session.attempt === 1) {
    return `${session.request.message_text}\n\n[You were interrupted while you worked on this: the service was restarted, or a limit of your provider was reached. Check what is already done, and continue.]`;
  }
  if (session.attempt === 1 || session.revival_of === null) return session.request.message_text;
  const claim = await store.records.claimOf(session);
  const incident = claim === null ? null : await store.records.incident(claim);
  const finding = incident === null ? null : leadingFinding(incident);
  const calls = await readRecentToolCalls(journalPath(logsFolder, session.revival_of), CALLS_SHOWN);
  const why = finding === null ? 'it ended without an answer.' : describeFinding(finding);
  const issue = incident?.report.url ?? 'pending';
  return [
    session.request.message_text,
    '---',
    `This is the second and last attempt. The first one was ended: ${why} Issue: ${issue}.`,
    'Check what is already done before you repeat anything, and take another approach at the point where the first attempt got stuck.',
    ...(incident?.untrusted_excerpt ? [`Its end, as it was seen:\n${redact(incident.untrusted_excerpt)}`] : []),
    ...describeCalls(calls, redact),
  ].join('\n\n');
}

function describeCalls(calls: readonly RecentToolCall[], redact: (text: string) => string): string[] {
  if (calls.length === 0) return ['The first attempt made no tool call.'];
  const lines = calls.map(
    (call) => `- ${call.tool_name} (${call.outcome ?? 'no result'}): ${preview(call.tool_input, redact)}`,
  );
  const files = [...new Set(calls.map(changedFile).filter((file) => file !== null))].slice(0, FILES_SHOWN);
  const sections = [`Its last tool calls, the latest one last:\n${redact(lines.join('\n'))}`];
  if (files.length > 0) sections.push(`Files it changed:\n${redact(files.map((file) => `- ${file}`).join('\n'))}`);
  return sections;
}

function changedFile(call: RecentToolCall): string | null {
  if (!/write|edit|patch|create/i.test(call.tool_name) || call.outcome !== 'ok') return null;
  const input = call.tool_input as { file_path?: unknown; path?: unknown } | null;
  const file = input?.file_path ?? input?.path;
  return typeof file === 'string' ? file : null;
}

function preview(input: unknown, redact: (text: string) => string): string {
  const text = typeof input === 'string' ? input : (JSON.stringify(input) ?? '');
  return shorten(redact(text), PREVIEW_LENGTH);
}
