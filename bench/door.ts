import type { Door } from '../memory/verbs/verb.js';

/** Of a caller without a terminal, which starts nothing. */
export const SILENT_DOOR: Door = {
  read: () => Promise.reject(new Error('no files')),
  startDetached: () => undefined,
  untilStopped: () => AbortSignal.abort(),
  isProgram: true,
  judge: async () => null,
  say: () => undefined,
};
