/** Work that a command leaves to a process of its own, so that its caller need not wait. */
import { constants, futimesSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Memory } from '../../memory/sessions/memory.js';
import type { OpenSession } from '../../memory/sessions/sessions.js';
import { withFileSync } from '../../src/files/plainFile.js';
import { PRIVATE_FILE } from '../../src/files/privateFiles.js';
import { ulid } from '../../src/ids.js';
import { HOUR } from '../../src/time.js';
import type { CommandContext } from './command.js';

export type DetachedStarter = Pick<CommandContext, 'startDetached'>;

type Begun = Pick<Memory, 'places' | 'isBridges'>;

/** Its time is that of the last round. */
const ROUND_FILE = 'kept';
const BETWEEN_ROUNDS_MS = HOUR;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** The work is over, or the agent died. The session that it continues is kept too: its last turn continued after its end. */
export function keepLater(context: DetachedStarter, memory: Begun, { id, log }: OpenSession): void {
  const { conversations, facts } = log.state;
  if (conversations.length === 0) return;
  begin(context, memory, id);
  if (facts?.continues) begin(context, memory, facts.continues);
}

/** The first start in an hour begins a round over all sessions. */
export function roundLater(context: DetachedStarter, memory: Begun & Pick<Memory, 'clock' | 'sessions'>): void {
  const { places, clock, sessions } = memory;
  const now = clock.now();
  // Without a mark of the last hour, and before the sessions are counted: that takes longer.
  if (isMarked(places.root, now) || sessions.ids().length <= 1) return;
  if (takeRound(places.root, now)) begin(context, memory);
}

/**
 * Marks the beginning of a round. If two commands try at once, one takes the old mark away and makes the new one. A third one may
 * find no mark in that instant, and begin as well: a second round finds nothing left to do.
 * @public for a test of several processes at once
 * @param now UTC epoch milliseconds
 * @returns whether the caller begins it; false also if it cannot be marked: the start has succeeded, and a later one begins it
 */
export function takeRound(root: string, now: number): boolean {
  const path = join(root, ROUND_FILE);
  const taken = join(root, `.${ROUND_FILE}.${ulid({ now: () => now })}`);
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
      if (isRecent(path, now)) return false;
      renameSync(path, taken);
      if (isRecent(taken, now)) {
        // Another command was first, and this is the new one.
        renameSync(taken, path);
        return false;
      }
      rmSync(taken);
    }
    withFileSync(path, CREATE, (descriptor) => futimesSync(descriptor, now / 1000, now / 1000), PRIVATE_FILE);
    return true;
  } catch {
    return false;
  }
}

function isMarked(root: string, now: number): boolean {
  const path = join(root, ROUND_FILE);
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined && isRecent(path, now);
}

/** A clock that was wrong may have left a time to come. */
function isRecent(path: string, now: number): boolean {
  const stat = lstatSync(path);
  return stat.isFile() && Math.abs(now - stat.mtimeMs) < BETWEEN_ROUNDS_MS;
}

function begin(context: DetachedStarter, { places, isBridges }: Begun, id?: string): void {
  const named = id === undefined ? [] : [id];
  if (!isBridges) context.startDetached(['work', 'keep', ...named, '--dir', resolve(places.root)]);
}
