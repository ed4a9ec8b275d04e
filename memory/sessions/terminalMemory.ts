/** The folders that a caller's variables name: that of its memory, and that of the sessions of a user's terminals. */
import { absolute, homeFolder, Places } from '../home/places.js';
import { isBridges } from './ownMemory.js';
import type { Surroundings } from './surroundings.js';

/**
 * @returns the folder of the caller's memory: that of its bridge in the shell of a bridge's agent
 * @throws UsageError if the variables name none
 */
export function chosenFolder({ variables }: Surroundings): string {
  const { WATCHKEEPER_MEMORY } = variables;
  return WATCHKEEPER_MEMORY ? absolute('WATCHKEEPER_MEMORY', WATCHKEEPER_MEMORY) : homeFolder(variables);
}

/**
 * @returns the folder with the sessions of the user's terminals, also in the shell of a bridge's agent
 * @throws UsageError if the variables name none
 */
export function terminalFolder({ variables }: Surroundings): string {
  const { WATCHKEEPER_MEMORY: chosen, WATCHKEEPER_SESSION: ofBridge } = variables;
  return chosen && !ofBridge && !isBridges(new Places(chosen)) ? chosen : homeFolder(variables);
}
