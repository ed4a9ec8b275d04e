/** Writes and answers each event of a program. Each event loads only the modules that it needs: an agent waits. */
import { closeAfter } from '../../memory/logs/scoped.js';
import type { Launch } from '../../memory/programs/conversationStart.js';
import type { GivenContext } from '../../memory/programs/delegatedContext.js';
import type { Payload } from '../../memory/programs/payload.js';
import { boundSession, endRun, waitForPermission } from '../../memory/programs/runEnd.js';
import { isUnrecorded } from '../../memory/sessions/agentProcess.js';
import type { Memory } from '../../memory/sessions/memory.js';
import type { OpenSession } from '../../memory/sessions/sessions.js';
import { CONVERSATION_SOURCES, type ConversationSource } from '../../memory/words.js';
import { UnreachableError } from '../../src/errors.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import { oneLine } from '../../src/log/visibleText.js';
import { type Clock, giveWay, SECOND } from '../../src/time.js';
import { type DetachedStarter, keepLater, roundLater } from '../command/keepLater.js';

/** A person may wait two seconds for an agent's start; the rest of them is for starting this program. */
const CONTEXT_WITHIN_MS = 1.5 * SECOND;
/** The program shows the line as that of a hook, and does not name whose. */
const SPEAKER = 'watchkeeper: ';

export interface HookCall extends DetachedStarter {
  readonly memory: Memory;
  readonly payload: Payload;
  /** The time that it took to come. */
  readonly waitedMs: number;
  /** The program that started the hook; null if it is gone already. */
  readonly agent: ProcessIdentity | null;
  readonly launchedIn: Launch['launchedIn'];
  /** Says in one line on standard error that nothing was recorded. */
  report(error: unknown): void;
}

/**
 * @returns the answer to the program, as JSON; null if there is none
 * @throws Error for an unknown event; UnreachableError if the memory cannot be written, except at a start
 */
export async function answerOf(call: HookCall): Promise<object | null> {
  switch (call.payload.event) {
    case 'SessionStart':
      return atStart(call);
    case 'SubagentStart':
      return atSubagent(call);
    case 'PermissionRequest':
      withSession(call, (session) => waitForPermission(call.memory, session, call.payload));
      return null;
    case 'SessionEnd':
      atEnd(call);
      return null;
    default:
      throw new Error(`the event ${JSON.stringify(call.payload.event)} is none of those that are recorded`);
  }
}

async function atStart(call: HookCall): Promise<object | null> {
  const { memory, payload, agent, launchedIn } = call;
  const { provider, conversation, transcript } = payload;
  const launch = {
    ...{ provider, conversation, transcript, source: sourceOf(payload.source) },
    ...{ unrecorded: isUnrecorded(agent), agent, launchedIn },
  };
  const begun = memory.clock.now();
  try {
    return await recordedStart(call, launch);
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    call.report(error);
    return unrecordedStart(call, launch, {
      error,
      withinMs: CONTEXT_WITHIN_MS - call.waitedMs - (memory.clock.now() - begun),
    });
  }
}

async function recordedStart(call: HookCall, launch: Launch): Promise<object | null> {
  const { memory, payload } = call;
  const { startConversation } = await import('../../memory/programs/conversationStart.js');
  const { takeReports } = await import('../../memory/programs/takeReports.js');
  // The context is about sessions of other windows.
  takeReports(memory, (ended) => keepLater(call, memory, ended), launch.agent);
  const started = startConversation(memory, launch);
  const { session } = started;
  return closeAfter(session.log, async () => {
    const { lateContext, startContext } = await import('../../memory/programs/sessionContext.js');
    const { noteGiven } = await import('../../memory/programs/delegatedContext.js');
    // Half of the time is for weighing the sessions, the rest for the record of the heaviest.
    const withinMs = CONTEXT_WITHIN_MS - call.waitedMs;
    const until = memory.clock.now() + withinMs / 2;
    const context = startContext(memory, started, launch, until);
    const given = (await inTime(memory.clock, withinMs, context, null)) ?? lateContext(memory, started);
    noteGiven(memory, session, given);
    const shown = [...(given.notice === null ? [] : [given.notice]), ...started.reports.map(oneLine)];
    return answer(payload.event, { ...given, notice: shown.length === 0 ? null : shown.join('\n') });
  }).finally(() => roundLater(call, memory));
}

/** A memory that takes no more lines may still be read: a crash is reported, and the person learns that nothing is recorded. */
async function unrecordedStart(
  { memory, payload }: HookCall,
  launch: Launch,
  { error, withinMs }: { readonly error: UnreachableError; readonly withinMs: number },
): Promise<object | null> {
  const { unrecordedContext } = await import('../../memory/programs/sessionContext.js');
  const late = { level: 'root', text: '', notice: null } as const;
  const context = unrecordedContext(memory, launch, memory.clock.now() + withinMs / 2).catch((fault: unknown) => {
    if (fault instanceof UnreachableError) return late;
    throw fault;
  });
  const given = await inTime(memory.clock, Math.max(0, withinMs), context, late);
  // A person who has typed no command reads this, so it names the program.
  const said = oneLine(`watchkeeper: this session is not recorded: ${memory.stamp.redact(error.message)}`);
  return answer(payload.event, {
    ...given,
    notice: [...(given.notice === null ? [] : [given.notice]), said].join('\n'),
  });
}

async function atSubagent(call: HookCall): Promise<object | null> {
  const { memory, payload } = call;
  return withSession(call, async (session) => {
    const { declaredContext, delegatedContext, noteGiven } = await import('../../memory/programs/delegatedContext.js');
    const context = delegatedContext(memory, session, payload.subAgent);
    const late = declaredContext(memory, session, payload.subAgent);
    const given = await inTime(memory.clock, CONTEXT_WITHIN_MS - call.waitedMs, context, late);
    noteGiven(memory, session, given);
    return answer(payload.event, given);
  });
}

function atEnd(call: HookCall): void {
  const { memory, payload, agent } = call;
  // The same program continues with another conversation.
  if (payload.reason === 'clear' || agent === null) return;
  withSession(call, (session) => {
    endRun(memory, session, agent, payload.reason ?? 'ended');
    keepLater(call, memory, session);
  });
}

/** As `atMost`, without a signal to end the waiting: Node's takes longer to load than the answer. Late work keeps no process alive. */
function inTime<T, Late>(clock: Clock, limitMs: number, work: Promise<T>, late: Late): Promise<T | Late> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(limitMs, () => void giveWay().then(() => resolve(late)));
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}

function withSession<Result>(
  { memory, payload, agent }: HookCall,
  use: (session: OpenSession) => Result,
): Result | null {
  const session = boundSession(memory, { ...payload, agent });
  return session === null ? null : closeAfter(session.log, () => use(session));
}

function answer(event: string, { text, notice }: GivenContext): object | null {
  if (text === '' && notice === null) return null;
  return {
    ...(text !== '' && { hookSpecificOutput: { hookEventName: event, additionalContext: text } }),
    ...(notice !== null && { systemMessage: notice.startsWith(SPEAKER) ? notice : `${SPEAKER}${notice}` }),
  };
}

/** One that is not known begins a conversation. */
function sourceOf(source: string | null): ConversationSource {
  return CONVERSATION_SOURCES.find((known) => known === source) ?? 'startup';
}
