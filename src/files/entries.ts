/** The entries of a folder, for readers to whom one that is gone, or that may not be read, is as good as empty. */
import { type Dirent, readdirSync } from 'node:fs';

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
