/** Takes in what programs have reported, and no process has recorded yet. Each reader of sessions calls it first. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Memory } from '../sessions/memory.js';
import type { OpenSession } from '../sessions/sessions.js';
import { takeSpool } from './spool.js';
import { takePublished } from './takePublished.js';

/**
 * @param onEnd begins the keeping of a session whose program has ended: no other reader learns of that end any more
 * @param own the process whose hook calls, and records it itself
 */
export function takeReports(
  memory: Memory,
  onEnd: (session: OpenSession) => void,
  own: ProcessIdentity | null = null,
): void {
  // An end that was reported explains why nothing is published any more.
  takeSpool(memory, onEnd);
  takePublished(memory, own);
}
