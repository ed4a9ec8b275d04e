/** Publishes states of processes as Claude Code (2.1.329) does. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from '../../../src/host/identity.js';
import { machineId } from '../../../src/host/machine.js';

const FIXTURE = join(import.meta.dirname, '../../fixtures/published/claude-2.1.329.json');

export type Fields = Readonly<Record<string, unknown>>;

/** As they were recorded, by what the program did. The ids of its host and process, and its directory, are changed. */
export const RECORDED: Readonly<Record<string, Fields>> = JSON.parse(readFileSync(FIXTURE, 'utf8'));

export interface Publication {
  /** `CLAUDE_CONFIG_DIR`. */
  readonly folder: string;
  readonly process: Pick<ProcessIdentity, 'pid' | 'pid_start' | 'pid_namespace'>;
  readonly conversation: string;
  readonly directory: string;
  /** Instants of its start and its present status, UTC epoch milliseconds. */
  readonly startedAt: number;
  readonly statusAt?: number;
}

/**
 * @param recorded a key of {@link RECORDED}
 * @param more fields that differ
 * @returns the path of the file
 */
export function publish(recorded: string, publication: Publication, more: Fields = {}): string {
  const { folder, process, conversation, directory, startedAt, statusAt = startedAt } = publication;
  const { pid, pid_start, pid_namespace } = process;
  const recordedFields = RECORDED[recorded];
  if (recordedFields === undefined) throw new Error(`nothing like ${JSON.stringify(recorded)} was recorded`);
  const fields = {
    ...recordedFields,
    ...{ pid, procStart: pid_start, sessionId: conversation, cwd: directory, startedAt },
    pidDomain: `linux:${machineId()}:pid:[${pid_namespace}]`,
    ...('status' in recordedFields && { updatedAt: statusAt, statusUpdatedAt: statusAt }),
    ...more,
  };
  mkdirSync(join(folder, 'sessions'), { recursive: true, mode: 0o700 });
  const path = join(folder, 'sessions', `${pid}.json`);
  writeFileSync(path, JSON.stringify(fields));
  return path;
}

/** As at an orderly end. */
export function unpublish({ folder, process }: Pick<Publication, 'folder' | 'process'>): void {
  rmSync(join(folder, 'sessions', `${process.pid}.json`));
}
