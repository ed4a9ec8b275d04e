import { readFileSync } from 'node:fs';

/** @returns the version of this Watchkeeper, as its package says */
export function readVersion(): string {
  const path = new URL('../../../package.json', import.meta.url);
  const { version }: { version: string } = JSON.parse(readFileSync(path, 'utf8'));
  return version;
}
