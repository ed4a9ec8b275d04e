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
import type { AgentFailure } from '../failures/causes.js';
import type { ProtocolLine } from '../program/protocol.js';
import { Denials } from './permissions.js';
import { type CanUseTool, loadSdk } from './sdk.js';
import { claudeOptions } from './settings.js';
import { type QueryEnd, Translation } from './translation.js';

const STDIN = 0;
const SIGTERM_EXIT_CODE = 143;
/** After background tasks have been quiet for this long, the current answer counts as the last one. */
const BACKGROUND_QUIET_MS = 15 * MINUTE;
/** The time that Claude Code gets after its answer to save the conversation and exit. */
const EXIT_MS = 3 * SECOND;
/** Unless the operator has set them. A background task outlives its turn: a run would end with half an answer, or never. */
const DEFAULT_ENVIRONMENT = {
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  // Without it, a shell command does not say which files it changed.
  CLAUDE_CODE_BASH_EDIT_DIFF: '1',
};

/** Claude Code keeps a conversation with its folder. */
const LEFT_BEHIND =
  'The earlier messages of this conversation are kept for another folder, so I could not see them: it began anew.';

const text = { type: 'string' } as const;
const { values: given } = parseArgs({ options: { options: { ...text, default: '{}' }, conversation: text } });
// Claude Code gets the signal as well: it goes to the whole group.
process.on('SIGTERM', () => process.exit(SIGTERM_EXIT_CODE));

/** On a pipe this is synchronous: after the call, the line has left the process. */
function writeLine(line: ProtocolLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** The options of the SDK, from the project's settings and the run's environment. */
function queryOptions(canUseTool: CanUseTool) {
  const options = claudeOptions.parse(JSON.parse(given.options));
  const { model, maxTurns, permissionMode, allowedTools, disallowedTools } = options;
  return {
    cwd: process.cwd(),
    env: { ...DEFAULT_ENVIRONMENT, ...process.env },
    systemPrompt: { type: 'preset', preset: 'claude_code' },
    permissionMode,
    ...(permissionMode === 'bypassPermissions' && { allowDangerouslySkipPermissions: true }),
    canUseTool,
    allowedTools,
    disallowedTools,
    // Without partial messages, a long answer would look like a model that hangs.
    includePartialMessages: true,
    // Without it, nothing is heard of a sub-agent's sub-agents, nor of a sub-agent's answer and its tokens.
    forwardSubagentText: true,
    stderr: (words: string) => process.stderr.write(words),
    ...(model !== undefined && { model }),
    ...(maxTurns !== undefined && { maxTurns }),
  };
}

interface QueryOutcome {
  /** Null if Claude Code ended without saying it. */
  readonly end: QueryEnd | null;
  /** Whether the conversation is known, but for another folder, as after a checkout was moved. */
  readonly isLeftBehind: boolean;
}

async function runQuery(prompt: string, denials: Denials): Promise<QueryOutcome> {
  const sdk = await loadSdk();
  const former = given.conversation;
  // A run that died before Claude Code saved anything leaves an id without a conversation: one begins under that id.
  const isKnown = former !== undefined && (await sdk.getSessionInfo(former, { dir: process.cwd() })) !== undefined;
  const isLeftBehind = former !== undefined && !isKnown && (await sdk.getSessionInfo(former)) !== undefined;
  const id = former ?? randomUUID();
  writeLine({ event: 'conversation', conversation_id: id });
  const translation = new Translation(id, denials, systemClock);
  const conversation = isKnown ? { resume: id } : { sessionId: id };
  const query = sdk.query({ prompt, options: { ...queryOptions(denials.canUseTool), ...conversation } });
  let quiet: Timer | null = null;
  try {
    for await (const message of query) {
      for (const line of translation.translate(message)) writeLine(line);
      if (translation.end?.kind === 'failed') break;
      quiet?.cancel();
      // However long a call of a turn takes, the answer of an earlier turn is not the last one.
      if (translation.end === null || translation.isInTurn) continue;
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
  return { end: translation.end, isLeftBehind };
}

const denials = new Denials(writeLine);
let exitCode = 1;
try {
  const { end, isLeftBehind } = await runQuery(readFileSync(STDIN, 'utf8'), denials);
  if (end?.kind === 'answered') {
    const answer = denials.addTo(end.answer);
    writeLine({ event: 'answer', text: isLeftBehind ? `${answer}\n\n${LEFT_BEHIND}` : answer });
    exitCode = 0;
  } else {
    const silent = { cause: 'crash', detail: 'Claude Code ended without a result' } as const;
    const { cause, detail, until }: AgentFailure = end ?? silent;
    writeLine({ event: 'failure', cause, detail, ...(until !== undefined && { until: isoTime(until) }) });
  }
} catch (error) {
  writeLine({ event: 'failure', cause: 'crash', detail: describeError(error) });
}
process.exit(exitCode);
