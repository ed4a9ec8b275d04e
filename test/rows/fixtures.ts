/** Recorded transcripts of Claude Code. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/host/program.js';

export interface Recording {
  readonly transcript: string;
  /** The folder with its sub-agents; null: it has none. */
  readonly companions: string | null;
}

/** @param name below the recordings, as `claude/deeds` */
export function fixture(name: string): Recording {
  const place = join(packageRoot(), 'test/fixtures/transcripts', name);
  return { transcript: `${place}.jsonl`, companions: existsSync(place) ? place : null };
}
