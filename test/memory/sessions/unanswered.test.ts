/** If the kernel gives no answer about an agent for a moment, the agent was neither killed, nor does it work elsewhere. */
import { expect, test } from '@jest/globals';
import { standInForFiles, whileFailing } from '../../harness/failingFiles.js';
import { testFolder } from '../../harness/folder.js';

// covers: memory/sessions/bridgeRun.ts memory/sessions/published.ts

standInForFiles();
const { isAbove } = await import('../../../memory/sessions/bridgeRun.js');
const { publishedAgents } = await import('../../../memory/sessions/published.js');
const { readProcessIdentity } = await import('../../../src/host/identity.js');
const { publish } = await import('../published/publication.js');

const HERE = readProcessIdentity('here');
const STAT = `/proc/${process.pid}/stat`;

test('what it publishes is left to the next reader', () => {
  const folder = testFolder();
  const agent = { folder, process: HERE, conversation: 'c-1', directory: folder, startedAt: Date.now() };
  publish('a window at work', agent);
  const found = () => publishedAgents({ CLAUDE_CONFIG_DIR: folder }, HERE).map(({ isAlive }) => isAlive);
  expect(found()).toEqual([true]);
  expect(whileFailing(STAT, 'EMFILE', found)).toEqual([]);
});

test('whether it is above a process is unknown while one in between cannot be seen', () => {
  const parent = readProcessIdentity('here', process.ppid);
  const look = () => isAbove(parent, process.pid, HERE);
  expect(look()).toBe(true);
  expect(whileFailing(STAT, 'EMFILE', look)).toBeNull();
  expect(whileFailing(`/proc/${process.ppid}/stat`, 'EMFILE', look)).toBeNull();
});
