/**
 * Takes in what programs publish of their processes, for what no hook reports: a session that began without the plugin, a process that
 * resumed a conversation without it, and a killed process, whose publication is left behind. Each reader of sessions calls it first.
 */
import { existsSync } from 'node:fs';
import { programNamed } from '../../src/agents/programs.js';
import { WatchkeeperError } from '../../src/errors.js';
import { isSameProcess, type ProcessIdentity } from '../../src/host/identity.js';
import { valueIn } from '../../src/host/marks.js';
import { readArguments, readEnvironment } from '../../src/host/procfs.js';
import { HOUR, isoTime, SECOND } from '../../src/time.js';
import { worklogKind } from '../fold/rules/kind.js';
import { isOpen, openRunOf } from '../fold/runs.js';
import type { Worklog } from '../fold/worklog.js';
import { closeAfter } from '../logs/scoped.js';
import { transcriptOf } from '../observed/programFolders.js';
import { conversationOf } from '../sessions/agentProcess.js';
import type { BoundConversation } from '../sessions/bindings.js';
import { isInBridgeRun } from '../sessions/bridgeRun.js';
import { Memory } from '../sessions/memory.js';
import { type PublishedAgent, publishedAgents } from '../sessions/published.js';
import type { Publication } from '../words.js';
import { startConversation } from './conversationStart.js';

/** A start's hook comes this late at the most, and knows more of it. */
const HOOK_WITHIN_MS = 30 * SECOND;
/** A dialog's hook comes this late at the most, and a person may have answered by then. */
const DIALOG_WITHIN_MS = 5 * SECOND;
const PERMISSION = 'permission';
/** After this time, a killed process that no session knows is of no use. */
const LEFT_WITHIN_MS = 48 * HOUR;

/**
 * Never throws: what cannot be recorded now is tried again by the next reader.
 * @param own the process whose hook calls, and records it itself
 */
export function takePublished(memory: Memory, own: ProcessIdentity | null = null): void {
  const { programs, places, surroundings } = memory;
  if (programs === null || !existsSync(places.installation)) return;
  for (const agent of publishedAgents(programs, surroundings.process)) {
    if (own !== null && isSameProcess(agent.process, own)) continue;
    try {
      takeIn(memory, agent);
    } catch (error) {
      if (!(error instanceof WatchkeeperError)) throw error;
    }
  }
}

function takeIn(memory: Memory, agent: PublishedAgent): void {
  const { bindings } = memory;
  const { provider, conversation, process, isAlive, state } = agent;
  const known = bindings.sessionOf({ provider, conversation });
  const bound = bindings.sessionOf({ process });
  if (known !== null && isAlive) noteAnswer(memory, known, agent);
  const isNews = known === null ? isOfPerson(memory, agent) : isUnrecorded(memory, agent, { known, bound });
  if (!isNews || isSwitchedOff(memory, agent)) return;
  const source = known !== null ? 'bind' : bound === null ? 'startup' : 'clear';
  const published: Publication = isAlive || !wasAtWork(agent) ? 'live' : 'left';
  const launchedIn = isAlive ? launcherOf(agent) : null;
  const launch = { provider, conversation, source, transcript: null, agent: process, launchedIn, published } as const;
  const there = memoryIn(memory, state.directory);
  closeAfter(there, () => startConversation(there, launch));
}

/**
 * No hook reports the answer to a request for permission. A program that is at work, or at rest, waits for none. The instant is that of
 * its word: from then on the call's own time counts.
 */
function noteAnswer(memory: Memory, id: string, { process, state: { status, status_at } }: PublishedAgent): void {
  if (status === null || status === 'waiting') return;
  const isOver = ({ waits, runs }: Pick<Worklog, 'waits' | 'runs'>) => {
    const since = waits.get(PERMISSION)?.since;
    const isOwn = openRunOf(runs, process) !== undefined;
    return since !== undefined && status_at > since - DIALOG_WITHIN_MS && isOwn;
  };
  const log = memory.look(id)?.log.state;
  if (log === undefined || !isOver(log)) return;
  const since = log.waits.get(PERMISSION)?.since ?? status_at;
  const answered = {
    ...worklogKind.line('wait_end', { kind: PERMISSION }),
    timestamp: isoTime(Math.max(since, status_at)),
  };
  memory.sessions.addFacts(id, (state) => (isOver(state) ? [answered] : []), { by: 'watchkeeper', isDurable: false });
}

/** Hooks that a person has switched off report nothing, and neither does this. */
function isSwitchedOff({ programs }: Pick<Memory, 'programs'>, { provider, process, isAlive, state }: PublishedAgent) {
  const words = isAlive ? readArguments(process.pid) : [];
  return programs !== null && programNamed(provider)?.isSwitchedOff(programs, state.directory, words) === true;
}

/** Whether a session begins with a conversation that none has. */
function isOfPerson(
  { programs, clock, surroundings }: Memory,
  { provider, conversation, process, isAlive, state }: PublishedAgent,
): boolean {
  const ageMs = clock.now() - (isAlive ? state.started_at : state.status_at);
  if (!state.is_persons || (isAlive ? ageMs < HOOK_WITHIN_MS : ageMs > LEFT_WITHIN_MS)) return false;
  if (isAlive && isOfBridge(process, surroundings.process)) return false;
  // Something was asked, and the transcript is written a moment later.
  if (!isAlive && state.status === 'busy') return true;
  return programs !== null && transcriptOf({ provider, id: conversation, transcript: null }, programs) !== null;
}

interface Known {
  /** The session of the conversation, and that of the process. */
  readonly known: string;
  readonly bound: string | null;
}

/** Whether the session of the conversation does not know yet that the process works on it, or was killed. */
function isUnrecorded(memory: Memory, { process, isAlive, state }: PublishedAgent, { known, bound }: Known): boolean {
  if (isAlive) return bound !== known;
  const log = memory.look(known)?.log.state;
  if (log === undefined || log.lifecycle === 'ended' || log.archived !== null) return false;
  const run = log.runs.findLast((each) => isSameProcess(each.process, process));
  if (run !== undefined) return run.published !== 'left' && isOpen(run) && wasAtWork({ state });
  return !hasRunSince(log, state.status_at);
}

/** After a turn it makes no difference how a process ended, and a program may publish once more while it ends in order. */
function wasAtWork({ state: { status } }: Pick<PublishedAgent, 'state'>): boolean {
  return status === 'busy' || status === 'waiting';
}

/** Another process has resumed the conversation after the killed one had said its last. */
function hasRunSince({ runs }: Worklog, instant: number): boolean {
  return runs.some(({ started_at, ended_at }) => Math.max(started_at, ended_at ?? 0) >= instant);
}

/** A bridge sees its own runs itself. */
function isOfBridge({ pid }: ProcessIdentity, here: ProcessIdentity): boolean {
  const read = readEnvironment(pid);
  if (typeof read === 'string') return false;
  // A copy, because the next read of a process reuses its memory.
  const environment = Buffer.from(read);
  return isInBridgeRun((name) => valueIn(environment, name), pid, here);
}

function launcherOf({ process, conversation }: PublishedAgent): BoundConversation | null {
  const launcher = conversationOf(process.pid);
  return launcher?.conversation === conversation ? null : launcher;
}

/** The same memory, as a process of its own in that directory sees it. */
function memoryIn({ places, surroundings, clock, stamp }: Memory, directory: string): Memory {
  const { process, variables } = surroundings;
  const { redact } = stamp;
  const there = { directory, process, variables };
  return new Memory({ surroundings: there, folder: places.root, clock, redact, origin: 'watchkeeper' });
}
