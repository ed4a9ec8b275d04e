/**
 * The program of the agent `claude`. It runs the SDK, and Claude Code below it, in a separate process, so that no fault in them
 * reaches the bridge. Usage: `claudeMain.js --options JSON [--conversation ID]`, the prompt on standard input, the protocol
 * (protocol.ts) on standard output, Claude Code's own output on standard error.
 *
 * Claude Code shares this program's process group and environment; its tools have their own process sessions.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { describeError } from '../../../src/errors.js';
import { isoTime, MINUTE, SECOND, systemClock, type Timer } from '../../../src/time.js';
import type { ProgramFailure, ProtocolLine } from '../program/protocol.js';
import { Denials } from './permissions.js';
import { queryOptions } from './queryOptions.js';
import { loadSdk, type Sdk } from './sdk.js';
import { claudeOptions } from './settings.js';
import { type QueryEnd, Translation } from './translation.js';

const STDIN = 0;
const SIGTERM_EXIT_CODE = 143;
/** After background tasks have been quiet for this long, the current answer counts as the last one. */
const BACKGROUND_QUIET_MS = 15 * MINUTE;
/** The time that Claude Code gets after its answer to save the conversation and exit. */
const EXIT_MS = 3 * SECOND;

const text = { type: 'string' } as const;
const { values: given } = parseArgs({ options: { options: { ...text, default: '{}' }, conversation: text } });
// Claude Code gets the signal as well: it goes to the whole group.
process.on('SIGTERM', () => process.exit(SIGTERM_EXIT_CODE));

/** On a pipe this is synchronous: what is written here has left the process. */
function tell(line: ProtocolLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** A run that died before Claude Code saved anything leaves an id without a conversation: it begins anew under its id. */
async function chooseConversation(sdk: Sdk): Promise<{ conversationId: string; isKnown: boolean }> {
  const conversationId = given.conversation;
  if (conversationId === undefined) return { conversationId: randomUUID(), isKnown: false };
  const found = await sdk.getSessionInfo(conversationId, { dir: process.cwd() });
  return { conversationId, isKnown: found !== undefined };
}

/** @returns how it ended; null if Claude Code ended without saying so */
async function runQuery(prompt: string, denials: Denials): Promise<QueryEnd | null> {
  const sdk = await loadSdk();
  const { conversationId, isKnown } = await chooseConversation(sdk);
  tell({ event: 'conversation', conversation_id: conversationId });
  const translation = new Translation(conversationId, denials, systemClock);
  const query = sdk.query({
    prompt,
    options: queryOptions(claudeOptions.parse(JSON.parse(given.options)), {
      workingDirectory: process.cwd(),
      environment: process.env,
      conversationId,
      isKnown,
      canUseTool: denials.canUseTool,
      onError: (words) => process.stderr.write(words),
    }),
  });
  let quiet: Timer | null = null;
  try {
    for await (const message of query) {
      for (const line of translation.translate(message)) tell(line);
      if (translation.end?.kind === 'failed') break;
      quiet?.cancel();
      if (translation.end === null) continue;
      const waitMs = translation.isOver ? EXIT_MS : BACKGROUND_QUIET_MS;
      quiet = systemClock.after(waitMs, () => query.close());
    }
  } catch (error) {
    // After an error result the SDK also throws; the result is then more precise.
    if (translation.end === null) throw error;
  } finally {
    quiet?.cancel();
    query.close();
  }
  return translation.end;
}

const denials = new Denials(tell);
let exitCode = 1;
try {
  const end = await runQuery(readFileSync(STDIN, 'utf8'), denials);
  if (end?.kind === 'answered') {
    tell({ event: 'answer', text: denials.addTo(end.answer) });
    exitCode = 0;
  } else {
    const silent = { cause: 'crash', detail: 'Claude Code ended without a result' } as const;
    const { cause, detail, until }: ProgramFailure = end ?? silent;
    tell({ event: 'failure', cause, detail, ...(until !== undefined && { until: isoTime(until) }) });
  }
} catch (error) {
  tell({ event: 'failure', cause: 'crash', detail: describeError(error) });
}
process.exit(exitCode);
