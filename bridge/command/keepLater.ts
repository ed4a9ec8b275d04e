/** What a command leaves to a process of its own, so that nobody waits for it. */
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Memory } from '../../memory/sessions/memory.js';
import type { OpenSession } from '../../memory/sessions/sessions.js';
import { PRIVATE_FILE } from '../../src/files/privateFiles.js';
import { HOUR } from '../../src/time.js';
import type { CommandContext } from './command.js';

/** Its time is that of the last round. */
const ROUND_FILE = 'kept';
const BETWEEN_ROUNDS_MS = HOUR;

/** The session's work is over, or its agent died: what its transcripts show is kept. */
export function keepLater(context: CommandContext, memory: Memory, { id, log }: OpenSession): void {
  if (log.state.conversations.length > 0) begin(context, memory, [id]);
}

/** The first start in an hour begins a round over all sessions. */
export function roundLater(context: CommandContext, memory: Memory): void {
  const { places, clock, sessions } = memory;
  const path = join(places.root, ROUND_FILE);
  const last = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (clock.now() - last < BETWEEN_ROUNDS_MS || sessions.ids().length < 2) return;
  try {
    const now = clock.now() / 1000;
    writeFileSync(path, '', { mode: PRIVATE_FILE });
    utimesSync(path, now, now);
  } catch {
    // The start has succeeded; a later one begins the round.
    return;
  }
  begin(context, memory, []);
}

function begin(context: CommandContext, { places, isBridges }: Memory, ids: readonly string[]): void {
  if (!isBridges) context.startDetached(['work', 'keep', ...ids, '--dir', resolve(places.root)]);
}

/** Prints what became of sessions of this directory since the last one began here. */
export function sayWhatBecame({ io }: CommandContext, { claims, workspace }: Memory): void {
  for (const sentence of claims.read(workspace)?.told ?? []) io.stderr(`${sentence}\n`);
}
