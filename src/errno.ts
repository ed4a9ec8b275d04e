/** @returns the system's code (`ENOENT`) or an empty text; Node's errors are not `instanceof Error` in every realm */
export function errorCode(thrown: unknown): string {
  const hasCode = typeof thrown === 'object' && thrown !== null && 'code' in thrown;
  return hasCode && typeof thrown.code === 'string' ? thrown.code : '';
}

/** For `catch`: @returns null for the error of a missing file @throws every other error */
export function nullIfAbsent(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}
