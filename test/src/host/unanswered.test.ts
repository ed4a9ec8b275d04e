/** A kernel that does not answer has not said that a process is gone. */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { standInForFiles, whileFailing } from '../../harness/failingFiles.js';

// covers: src/host/directories.ts
// covers: src/host/identity.ts
// covers: src/host/procfs.ts

standInForFiles();
const { processPlaces } = await import('../../../src/host/directories.js');
const { isProcessAlive, readProcessIdentity } = await import('../../../src/host/identity.js');
const { systemProcessTable } = await import('../../../src/host/processes.js');
const { readStat } = await import('../../../src/host/procfs.js');

const HERE = readProcessIdentity('here');
const STAT = `/proc/${process.pid}/stat`;

describe('a living process', () => {
  // ENOENT is what `hidepid=2` gives for the processes of other users, and EPERM is that of `hidepid=1`.
  test.each(['EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'EPERM', 'EACCES', 'ENOENT'])(
    'is neither alive nor dead while the kernel answers %s',
    (code) => {
      expect(whileFailing(STAT, code, () => readStat(process.pid))).toBe('unknown');
      expect(whileFailing(STAT, code, () => isProcessAlive(HERE, HERE))).toBeNull();
      expect(isProcessAlive(HERE, HERE)).toBe(true);
    },
  );

  test.each(['stat', 'environ', 'limits'])('whose %s gives no answer leaves a scan unsettled', (file) => {
    const look = () => systemProcessTable().snapshot('a-run-without-processes').settled;
    expect(whileFailing(`/proc/${process.pid}/${file}`, 'EMFILE', look)).toBe(false);
  });

  test('still works in its directory', () => {
    const pids = () => processPlaces()?.map(({ pid }) => pid);
    expect(whileFailing(STAT, 'EMFILE', pids)).toContain(process.pid);
  });
});

test('a process that the kernel does not know is gone', () => {
  const { pid } = spawnSync('true');
  expect(readStat(pid)).toBe('gone');
  expect(isProcessAlive({ ...HERE, pid }, HERE)).toBe(false);
  expect(readStat(0)).toBe('gone');
});
