/** The work of the bridge that the caller's configuration names: the removal of a worktree asks what runs or waits there. */
import type { BridgeWork, Door } from '../../../memory/verbs/verb.js';
import { CorruptRecordError, UnreachableError, UsageError } from '../../../src/errors.js';
import type { CommandContext } from '../../command/command.js';

type Answer = Awaited<ReturnType<NonNullable<Door['bridgeWork']>>>;

/** @returns no work, and why, if the bridge cannot be asked. Without a Redis that is named, or a bridge's own, there is no bridge */
export async function bridgeWork({ readSettings }: Pick<CommandContext, 'readSettings'>): Promise<Answer> {
  let isNamed = true;
  try {
    const settings = await readSettings();
    isNamed = settings.redisUrl !== null;
    // A command that asks no bridge does not wait for its client to load.
    const { withStore } = await import('../../assembly/withStore.js');
    const work = await withStore(settings, async ({ store: { records } }) => {
      const ids = [...(await records.sessionIds('active')), ...(await records.sessionIds('pending'))];
      const found = await records.sessions(ids);
      return found.flatMap((session): BridgeWork[] => {
        if (session instanceof CorruptRecordError) return [];
        const { session_id, status, working_directory: directory } = session;
        return [{ session_id, status, directory }];
      });
    });
    return { work, unasked: null };
  } catch (error) {
    if (!(error instanceof UnreachableError || error instanceof UsageError)) throw error;
    return { work: [], unasked: isNamed ? error.message : null };
  }
}
