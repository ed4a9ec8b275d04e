/**
 * Takes in the ends of programs that a launcher has noted: it cannot wait for a program that records them. An end counts once, because
 * a run ends once, so several readers may take the same one in.
 */
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { senderOf } from '../../src/agents/programs.js';
import { errorCode, WatchkeeperError } from '../../src/errors.js';
import { namesIn } from '../../src/files/entries.js';
import { withOwnFileSync } from '../../src/files/ownFile.js';
import { readAt } from '../../src/files/readAt.js';
import { DAY } from '../../src/time.js';
import { isOpen, openRuns } from '../fold/runs.js';
import type { Run, Worklog } from '../fold/worklog.js';
import { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { LARGEST_PAYLOAD_BYTES, type Payload, parsePayload } from './payload.js';
import { endRun } from './runEnd.js';

/** One reader takes in no more of them; the next one continues. */
const MOST_TAKEN = 200;
/** An entry that cannot be read may still be written. Later it is of no use. */
const KEPT_MS = DAY;

/** A process as a shell sees it, with what identifies it on this host. */
interface SpooledAgent {
  readonly pid: number;
  /** Empty where the system does not say it. */
  readonly pid_start: string;
}

interface SpooledEnd {
  readonly payload: Payload;
  readonly boot_id: string;
  /** The program that started the launcher, and those above it, the nearest first. */
  readonly agents: readonly SpooledAgent[];
  /** UTC epoch milliseconds. */
  readonly at: number;
}

/**
 * Never throws: what cannot be recorded now is tried again by the next reader.
 * @param onEnd is called for each session whose program has ended
 */
export function takeSpool(memory: Memory, onEnd: (session: OpenSession) => void): void {
  if (memory.isBridges) return;
  const { places, clock } = memory;
  for (const name of namesIn(places.spool).sort().slice(0, MOST_TAKEN)) {
    const path = join(places.spool, name);
    try {
      const { end, writtenAt } = readEnd(path);
      if (end !== null) record(memory, end, onEnd);
      if (end !== null || clock.now() - writtenAt > KEPT_MS) rmSync(path, { force: true });
    } catch (error) {
      // Another reader may have taken it in.
      if (!(error instanceof WatchkeeperError || errorCode(error) === 'ENOENT')) throw error;
    }
  }
}

/** @returns null for what is no end that can be read */
function readEnd(path: string): { readonly end: SpooledEnd | null; readonly writtenAt: number } {
  return withOwnFileSync(path, (descriptor, { size, mtimeMs }) => {
    const text = readAt(descriptor, 0, Math.min(size, LARGEST_PAYLOAD_BYTES)).toString('utf8');
    const [head = '', body = ''] = text.split('\n', 2);
    const [version, boot = '', ...agents] = head.split(' ');
    const payload = version === '1' ? parsePayload(body, null) : null;
    if (payload === null) return { end: null, writtenAt: mtimeMs };
    const boot_id = boot === '-' ? '' : boot;
    return { end: { payload, boot_id, agents: agents.flatMap(agentOf), at: mtimeMs }, writtenAt: mtimeMs };
  });
}

function agentOf(word: string): SpooledAgent[] {
  const [, pid = '', pid_start = ''] = /^(\d+):(\d*)$/.exec(word) ?? [];
  return pid === '' ? [] : [{ pid: Number(pid), pid_start }];
}

function record(memory: Memory, end: SpooledEnd, onEnd: (session: OpenSession) => void): void {
  const { payload, at } = end;
  // The same program continues with another conversation.
  if (payload.event !== 'SessionEnd' || payload.reason === 'clear') return;
  const provider = senderOf(null, payload.transcript && basename(payload.transcript)).name;
  const then = at < memory.clock.now() ? memoryAt(memory, at) : memory;
  const id = then.bindings.sessionOf({ provider, conversation: payload.conversation });
  then.sessions.withSession(id, (session) => {
    const run = runIn(session.log.state, end);
    if (run === null) return;
    if (isOpen(run)) endRun(then, session, run.process, payload.reason ?? 'ended');
    // Also if it is written already: its reader may have died before it began anything.
    onEnd(session);
  });
}

/** The pid of a container's process, too, is that of the run in which it was recorded. @returns the newest, an open one first */
function runIn({ runs }: Worklog, { agents, boot_id }: SpooledEnd): Run | null {
  const isIn = ({ process }: Run) =>
    process.boot_id === boot_id &&
    agents.some(({ pid, pid_start }) => pid === process.pid && pid_start === process.pid_start);
  return openRuns(runs).find(isIn) ?? runs.findLast(isIn) ?? null;
}

/** The same memory, which writes lines of an earlier instant. */
function memoryAt({ places, surroundings, clock, stamp }: Memory, instant: number): Memory {
  const { redact, origin } = stamp;
  const then = Object.create(clock, { now: { value: () => instant } });
  return new Memory({ surroundings, folder: places.root, clock: then, redact, origin });
}
