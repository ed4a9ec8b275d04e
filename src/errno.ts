/**
 * @param thrown anything that was caught; errors of Node's own are not `instanceof Error` in every realm
 * @returns the system's error code (`ENOENT`), or an empty text
 */
export function errorCode(thrown: unknown): string {
  const hasCode = typeof thrown === 'object' && thrown !== null && 'code' in thrown;
  return hasCode && typeof thrown.code === 'string' ? thrown.code : '';
}

/** For `catch`: @returns null for the error of a missing file @throws every other error */
export function nullIfAbsent(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}
