import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { AcceptedMessages } from '../../../bridge/accepted/acceptedMessages.js';
import { newSession } from '../../../src/jobs/newRecords.js';
import { createLogger } from '../../../src/log/logger.js';
import { createRedactor } from '../../../src/log/redact.js';
import { HOUR } from '../../../src/time.js';
import { ManualClock, TEST_START } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';

const SECRET = 'my password is hunter2';

function openScene() {
  const logsFolder = testFolder();
  const clock = new ManualClock();
  const logged: string[] = [];
  const destinations = [{ name: 'the test', write: (line: string) => void logged.push(line) }];
  const logger = createLogger({ level: 'debug', redact: createRedactor([]), clock, destinations });
  const folder = join(logsFolder, 'accepted');
  const open = () => {
    const accepted = new AcceptedMessages({ settings: { logsFolder, redisUrl: null, telegram: null }, clock, logger });
    afterThisTest(() => accepted.close());
    return accepted;
  };
  const note = (accepted: AcceptedMessages, ...numbers: number[]) => {
    for (const number of numbers) accepted.note(sessionOf(number));
    accepted.flush();
  };
  const ids = async (accepted: AcceptedMessages) => (await accepted.open()).map(({ session }) => session.session_id);
  const names = () => readdirSync(folder).sort();
  return { folder, clock, logged, open, note, ids, names };
}

function sessionOf(number: number) {
  const draft = {
    session_id: `tg_a_1_${number}`,
    project_key: 'a',
    chat_id: '1',
    message_id: String(number),
    thread_id: '9',
    sender: { id: '7', name: 'Ann "A" \u2028 Lee' },
    message_text: SECRET,
    conversation_key: 'a/1/9/0',
    lane: 'here:/srv/a',
    working_directory: '/srv/a',
    agent: 'scripted',
  };
  return newSession(draft, TEST_START);
}

test('what one process accepts, another one finds, as a record without its text', async () => {
  const { folder, open, note, names } = openScene();
  note(open(), 1);
  const [found] = await open().open();
  const { request, ...session } = found?.session ?? sessionOf(0);
  const expected = sessionOf(1);
  expect({ ...session, request: { ...request, message_text: SECRET } }).toEqual(expected);
  expect(found).toMatchObject({ store: 'own', bot: null, seenAt: TEST_START });
  const [name = ''] = names();
  expect(readFileSync(join(folder, name), 'utf8')).not.toContain('hunter2');
  expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
  expect(statSync(folder).mode & 0o077).toBe(0);
});

test('an end by either attempt closes a message, in whichever process and order they are written', async () => {
  const { open, note, ids } = openScene();
  const [bridge, standby] = [open(), open()];
  note(bridge, 1, 2, 3);
  standby.ended('tg_a_1_1_r1');
  standby.flush();
  bridge.ended('tg_a_1_2');
  expect(await ids(bridge)).toEqual(['tg_a_1_3']);
  expect(await ids(open())).toEqual(['tg_a_1_3']);
});

test('torn and foreign lines cost no other line', async () => {
  const { folder, open, note, ids, names } = openScene();
  note(open(), 1);
  const [name = ''] = names();
  const strange = [
    '{"v":1,"did":"acc',
    'null',
    '[]',
    '{"v":2,"did":"ended","session_id":"tg_a_1_1"}',
    '{"v":1,"did":"ended","session_id":"../x"}',
  ];
  for (const line of strange) appendFileSync(join(folder, name), `${line}\n`);
  appendFileSync(join(folder, name), '{"v":1,"did":"ended","session_id":"tg_a');
  note(open(), 2);
  expect(await ids(open())).toEqual(['tg_a_1_1', 'tg_a_1_2']);
});

test('lines of one turn share a write, and none is lost before the next turn', async () => {
  const { open, ids } = openScene();
  const accepted = open();
  accepted.note(sessionOf(1));
  accepted.note(sessionOf(2));
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  expect(await ids(open())).toEqual(['tg_a_1_1', 'tg_a_1_2']);
});

test('two files hold what is open, however long it is; a process with a removed file continues in the newest', async () => {
  const { clock, open, note, ids, names } = openScene();
  const [bridge, standby] = [open(), open()];
  note(standby, 1);
  for (let round = 0; round < 4; round += 1) {
    note(bridge, 10 + round);
    bridge.ended(`tg_a_1_${10 + round}`);
    await bridge.beginAgain(await bridge.open());
    await clock.advance(7 * HOUR);
  }
  expect(names()).toEqual(['accepted.4.jsonl', 'accepted.5.jsonl']);
  note(standby, 2);
  expect(await ids(open())).toEqual(['tg_a_1_1', 'tg_a_1_2']);
  expect(await ids(bridge)).toEqual(['tg_a_1_1', 'tg_a_1_2']);
});

test('a new file confirms what Redis has, and leaves the age of the rest', async () => {
  const { clock, open, note } = openScene();
  const bridge = open();
  note(bridge, 1, 2);
  await clock.advance(HOUR);
  const [first] = await bridge.open();
  await bridge.beginAgain(first === undefined ? [] : [first]);
  expect((await open().open()).map(({ seenAt }) => seenAt - TEST_START)).toEqual([HOUR, 0]);
});

test('a folder that is deleted under a bridge is made again', async () => {
  const { folder, open, note, ids } = openScene();
  const bridge = open();
  note(bridge, 1);
  await bridge.open();
  rmSync(folder, { recursive: true });
  note(bridge, 2);
  expect(await ids(open())).toEqual(['tg_a_1_2']);
});

// rule: a-flushed-redis-costs-no-end
test.each(['deleted', 'replaced'])(
  'a folder that is %s under a bridge gets what is open again, before and after',
  async (how) => {
    const { folder, open, note, ids } = openScene();
    const bridge = open();
    note(bridge, 1, 2);
    await bridge.beginAgain(await bridge.open());
    if (how === 'deleted') rmSync(folder, { recursive: true });
    else renameSync(folder, `${folder}.away`);
    note(bridge, 3);
    bridge.ended('tg_a_1_2');
    await bridge.beginAgain(await bridge.open());
    expect((await ids(open())).sort()).toEqual(['tg_a_1_1', 'tg_a_1_3']);
  },
);

test('a folder that cannot be used delays no message and is reported once', async () => {
  const { folder, logged, open, note, ids } = openScene();
  writeFileSync(folder, '');
  const accepted = open();
  note(accepted, 1);
  note(accepted, 2);
  expect(await ids(accepted)).toEqual([]);
  expect(logged.filter((line) => line.includes('register of accepted messages'))).toHaveLength(1);
  rmSync(folder);
  note(accepted, 3);
  expect(await ids(open())).toEqual(['tg_a_1_3']);
});

test('a link in place of a file is not followed', async () => {
  const { folder, open, note, names } = openScene();
  note(open(), 1);
  const victim = join(testFolder(), 'victim');
  writeFileSync(victim, '');
  rmSync(join(folder, names()[0] ?? ''));
  symlinkSync(victim, join(folder, 'accepted.1.jsonl'));
  note(open(), 2);
  expect(readFileSync(victim, 'utf8')).toBe('');
});
