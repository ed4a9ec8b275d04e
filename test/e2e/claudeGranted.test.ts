/** A person permits a call of Claude Code that then runs for long: the session is at work, and waits for no person. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { call, say } from '../peers/modelBlocks.js';
import { ClaudeTerminal, describeWithClaude, nextOf, terminalPlace } from './claudeTerminal.js';
import { eventually } from './eventually.js';
import { shown, worklogsIn } from './recorded.js';

const LIMIT_MS = 120_000;
const COMMAND = 'touch begun && tail -f --pid=$PPID /dev/null';
const DEEDS = {
  'serve for long': [[call('Bash', { command: COMMAND, description: 'x', timeout: 600_000 })], [say('Served.')]],
};

describeWithClaude('a permission that a person has given', (claude) => {
  test(
    'leaves the session at work in a call, before the call returns',
    async () => {
      const place = await terminalPlace((request) => nextOf(DEEDS, request) ?? [say('A title.')], {
        defaultMode: 'default',
        ask: ['Bash'],
      });
      const terminal = new ClaudeTerminal(place, claude, place.work);
      const status = () =>
        shown<{ readonly attention: string }>(
          place,
          `track status --session ${[...worklogsIn(place).keys()][0]} --json`,
        );
      await terminal.type('serve for long');
      await terminal.shows('Do you want to proceed?');
      const events = () => [...worklogsIn(place).values()].flat().map(({ event }) => event);
      await eventually(() => events().includes('wait_start'), { what: 'the report of its hook' });
      expect(status()).toMatchObject({ attention: 'waiting' });
      // A dialog may be drawn before it takes keys. At a prompt, an empty line asks nothing.
      const isBegun = () => {
        const begun = existsSync(join(place.work, 'begun'));
        if (!begun) terminal.press('\r');
        return begun;
      };
      await eventually(isBegun, { what: 'the call' });
      const after = await eventually(() => [status()].find(({ attention }) => attention !== 'waiting'), {
        what: 'its state after the answer',
      });
      expect(after).toMatchObject({ attention: 'in_tool', waits: [] });
    },
    LIMIT_MS,
  );
});
