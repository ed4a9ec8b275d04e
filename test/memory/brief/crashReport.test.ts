/** What a person reads of a crash is what the next agent is told of it. */
import { expect, test } from '@jest/globals';
import { crashLines, crashOf } from '../../../memory/brief/crashReport.js';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { Morning } from '../../mornings/mornings.js';

const WORK = 'Push the release';

test('a call for which a permission was asked may never have run', async () => {
  const morning = new Morning();
  await morning.running(WORK, 'kill');
  const memory = morning.open();
  const id = morning.ids.get(WORK) ?? '';
  const linesNow = async () => {
    const session = memory.look(id);
    const report = session === null ? null : await crashOf(memory, session);
    return report === null ? [] : crashLines(report, memory.clock.now());
  };
  const last = /Bash: npm test, without a result$/;
  expect(await linesNow()).toContainEqual(expect.stringMatching(last));
  memory.sessions.addFacts(id, [worklogKind.line('wait_start', { kind: 'permission' })]);
  const asked = /Bash: npm test, without a result; a permission was asked for, so it may never have run$/;
  expect(await linesNow()).toContainEqual(expect.stringMatching(asked));
});
