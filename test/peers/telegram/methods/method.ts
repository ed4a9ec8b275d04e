import type { MethodParameters } from '../parameters.js';
import type { World } from '../world.js';

/**
 * One method of the Bot API: changes the world, and returns what stands in the answer's `result`.
 *
 * @param gone aborted when the caller's connection ends
 * @throws ApiError what the server refuses
 */
export type Method = (world: World, parameters: MethodParameters, gone: AbortSignal) => unknown;
