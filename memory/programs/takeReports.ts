/** Takes in what programs have reported, and no process has recorded yet. Each reader of sessions calls it first. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Memory } from '../sessions/memory.js';
import { takeSpool } from './spool.js';
import { takePublished } from './takePublished.js';

/** @param own the process whose hook calls, and records it itself */
export function takeReports(memory: Memory, own: ProcessIdentity | null = null): void {
  // An end that was reported explains why nothing is published any more.
  takeSpool(memory);
  takePublished(memory, own);
}
