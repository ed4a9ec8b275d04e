/** Where the sessions of a user's terminals are. */
import { homeFolder, Places } from '../home/places.js';
import { isBridges } from './ownMemory.js';
import type { Surroundings } from './surroundings.js';

/**
 * @returns the folder with the sessions of the user's terminals, also in the shell of a bridge's agent
 * @throws UsageError if the variables name none
 */
export function terminalFolder({ variables }: Surroundings): string {
  const { WATCHKEEPER_MEMORY: chosen, WATCHKEEPER_SESSION: ofBridge } = variables;
  return chosen && !ofBridge && !isBridges(new Places(chosen)) ? chosen : homeFolder(variables);
}
