/** A caller whose directory and variables a command does not need. */
import type { Surroundings } from '../../../memory/sessions/surroundings.js';
import { readProcessIdentity } from '../../../src/host/identity.js';

export const SOMEWHERE: Surroundings = {
  directory: '/',
  process: readProcessIdentity('here'),
  variables: { HOME: '/nowhere' },
};
