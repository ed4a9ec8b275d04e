/** Logs folders on a disk so small that a test can fill it, and work that goes on meanwhile. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from '@jest/globals';
import { afterThisTest } from '../harness/scope.js';
import type { Scenario } from './sceneFiles.js';

/** Longer than the silence that accuses, and never silent. */
export const WORK: Scenario = {
  steps: [
    { do: 'repeat', times: 40, steps: [{ do: 'call', tool: 'bash', input: { step: '{{index}}' }, takes_ms: 250 }] },
    { do: 'answer', text: 'worked through' },
  ],
};
/** A way in which the folder stops to take anything. */
export interface Fault {
  readonly begin: (logs: string) => void;
  readonly end: (logs: string) => void;
}

export const NO_SPACE: Fault = {
  begin: (logs) => {
    try {
      writeFileSync(join(logs, 'filler'), Buffer.alloc(4 * 1024 * 1024));
    } catch {
      // What fits is written.
    }
  },
  end: (logs) => rmSync(join(logs, 'filler')),
};
export const testWithMounts = mayMount() ? test : test.skip;

export function onSmallDisk(logs: string): void {
  mkdirSync(logs);
  mountSmall(logs);
  // Lazily: the bridge has files open there until the scene stops.
  afterThisTest(() => void execFileSync('umount', ['-l', logs]));
}

function mountSmall(folder: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', folder], { stdio: 'ignore' });
}

/** Only root may mount, and in most containers not even root. */
function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'wk-mount-'));
  try {
    mountSmall(folder);
    execFileSync('umount', [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
