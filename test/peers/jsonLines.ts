import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * @param file created with its folder; undefined writes nowhere
 * @returns appends one record as one line, before it returns, so that a killed peer leaves a whole log
 */
export function jsonLines<T extends object>(file: string | undefined): (record: T) => void {
  if (file === undefined) return () => {};
  mkdirSync(dirname(file), { recursive: true });
  return (record) => appendFileSync(file, `${JSON.stringify(record)}\n`);
}
