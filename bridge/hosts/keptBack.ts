/** Whether a message is run again on another host than the one that was lost with its run. */
import type { Settings } from '../../src/config/settings.js';
import type { AgentSession } from '../../src/jobs/model.js';

/**
 * @param session whose run is released
 * @returns why the message is not run again here; null if it may be
 */
export function keptBack(
  { host, projects }: Pick<Settings, 'host' | 'projects'>,
  { project_key, run, released }: AgentSession,
): string | null {
  const isOfLostHost = released?.by === 'lease_over' && run !== null && run.owner.host !== host;
  if (!isOfLostHost || (projects.get(project_key)?.reviveAfterHostLoss ?? true)) return null;
  return 'the host that worked on it was lost, and this project is set to run nothing again after that';
}
