import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parseLsof, processPlaces } from '../../../src/host/directories.js';
import { testFolder } from '../../harness/folder.js';

test('a process is seen in the directory in which it works, until it ends', async () => {
  const directory = realpathSync(testFolder());
  const child = spawn('sleep', ['600'], { cwd: directory, stdio: 'ignore' });
  const seen = () => processPlaces()?.filter((place) => place.directory === directory);
  expect(seen()).toEqual([{ pid: child.pid, program: 'sleep', directory }]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(seen()).toEqual([]);
});

test('what `lsof` lists where there is no /proc', () => {
  const text = 'p71\ncnode\nfcwd\nn/Users/me/work\np82\nczsh\nfcwd\nn/Users/me/a b\n';
  expect(parseLsof(text)).toEqual([
    { pid: 71, program: 'node', directory: '/Users/me/work' },
    { pid: 82, program: 'zsh', directory: '/Users/me/a b' },
  ]);
});
