/** The work of sub-agents that continues after the agent has answered: it is lost with its program as an open turn is. */
import { expect, test } from '@jest/globals';
import { newWorklog } from '../../../memory/fold/newWorklog.js';
import { filesInHand, isAtWork } from '../../../memory/observed/inHand.js';
import { looseEndsOf } from '../../../memory/observed/looseEnds.js';
import { observe } from './observe.js';

const by = (agent_id: string) => (line: Record<string, unknown>) => ({
  ...line,
  agent_id,
  parent_tool_use_id: `of-${agent_id}`,
});
const calls = (tool_use_id: string, tool_name: string, tool_input = {}) => ({
  ...{ event: 'pre_tool_use', tool_use_id, tool_name, tool_input },
});
const returns = (tool_use_id: string) => ({ event: 'post_tool_use', tool_use_id, outcome: 'ok' });
const asked = { event: 'user_prompt', text: 'tidy up' };
const answered = { event: 'turn_end', reason: 'end_turn' };
/** Launched in the background: the call has its result before the sub-agent has begun. */
const launched = [asked, calls('of-a', 'Agent'), returns('of-a')];
const wrote = [calls('w', 'Write', { file_path: 'room.ts' }), { event: 'files', created: ['room.ts'] }, returns('w')];

test.each([
  ['is at work', wrote, [answered], true, ['room.ts']],
  [
    'writes another file',
    [...wrote, calls('x', 'Write', { file_path: 'door.ts' })],
    [answered],
    true,
    ['room.ts', 'door.ts'],
  ],
  ['has reported back', [...wrote, answered], [answered], false, []],
])('a sub-agent in the background %s', (_, deeds, main, isOpen, files) => {
  const fold = observe(...launched, ...deeds.map(by('a')), ...main);
  expect([isAtWork(fold), filesInHand(fold)]).toEqual([isOpen, files]);
  expect(looseEndsOf(newWorklog(), fold)).toMatchObject({ turn: isOpen, answered: !isOpen, files: files.length });
});

test('files of a sub-agent that has ended are not those of one that is at work', () => {
  const other = [calls('y', 'Write', { file_path: 'roof.ts' }), { event: 'files', created: ['roof.ts'] }, returns('y')];
  const fold = observe(...launched, ...[...wrote, answered].map(by('a')), ...other.map(by('b')), answered);
  expect(filesInHand(fold)).toEqual(['roof.ts']);
});

test('a sub-agent that is waited for ends with its call', () => {
  const fold = observe(asked, calls('of-a', 'Agent'), ...wrote.map(by('a')), returns('of-a'), answered);
  expect([isAtWork(fold), filesInHand(fold)]).toEqual([false, []]);
});

test.each([
  ['where its transcript begins', {}, 'half.txt'],
  ['in another directory', { directory: 'sub' }, 'sub/half.txt'],
  ['outside', { directory: '/tmp/x' }, '/tmp/x/half.txt'],
])('a command of an agent that is %s writes its file there', (_, place, file) => {
  const fold = observe(asked, { ...calls('s', 'Bash', { command: 'make > half.txt' }), ...place });
  expect(filesInHand(fold)).toEqual([file]);
});
