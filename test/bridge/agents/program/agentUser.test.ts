/** What an agent that is started as another user keeps of the bridge's rights. */
import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { lineOfUser, whyNotAs } from '../../../../bridge/agents/program/agentUser.js';

const NOBODY = { uid: 65_534, gid: 65_534, name: 'nobody', home: '/' };
const asRoot = process.getuid?.() === 0 && whyNotAs(NOBODY) === null ? test : test.skip;

asRoot('an agent is in no group of the bridge', () => {
  const { command, args } = lineOfUser({ command: '/usr/bin/env', args: ['id', '-G'] }, NOBODY);
  const bridge = ['--groups', '4242', '--', command, ...args];
  expect(spawnSync('setpriv', bridge, { encoding: 'utf8' }).stdout).toBe('65534\n');
});
