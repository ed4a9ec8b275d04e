import type { AgentSession } from '../../src/jobs/model.js';
import type { Store } from '../../src/jobs/store.js';

/** @returns when a person asked for it, epoch milliseconds: a second attempt answers the first one's message */
export async function askedAt(
  { records }: Pick<Store, 'records'>,
  { revival_of: firstId, created_at: createdAt }: AgentSession,
): Promise<number> {
  if (firstId === null) return createdAt;
  const first = await records.session(firstId).catch(() => null);
  return first?.created_at ?? createdAt;
}
