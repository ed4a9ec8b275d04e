// covers: memory/sessions/lostLines.ts memory/workspaces/claims.ts memory/sessions/bindings.ts
/** A worklog that a crash of the machine has emptied, beside one that has never had a line. */

import { existsSync, mkdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { worklogKind } from '../../../../memory/fold/rules/kind.js';
import { rebuildSession } from '../../../../memory/keeping/rebuild.js';
import { listSessions, rowValue } from '../../../../memory/look/list.js';
import { startConversation } from '../../../../memory/programs/conversationStart.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../../src/host/identity.js';
import { testFolder } from '../../../harness/folder.js';
import { type MemoryScene, memoryScene } from '../../../memory/scene.js';
import { WorkScene } from './scene.js';

let scene: WorkScene;

beforeEach(() => {
  scene = new WorkScene();
});

function worklog(id: string): string {
  return join(scene.home, 'sessions', id, 'worklog.jsonl');
}

/** @returns the session that a hook begins by itself, with an empty log */
function emptied({ open }: MemoryScene, agent: ProcessIdentity | null) {
  const launch = {
    provider: 'claude',
    conversation: 'c',
    source: 'startup',
    transcript: null,
    launchedIn: null,
  } as const;
  const { id, folder, log } = startConversation(open(), { ...launch, agent }).session;
  log.close();
  truncateSync(log.path);
  return { id, folder };
}

const listed = async ({ open }: Pick<MemoryScene, 'open'>) => {
  const options = {
    where: 'here',
    which: 'unfinished',
    judge: async () => null,
    onUnreadable: () => undefined,
  } as const;
  return (await listSessions(open(), options)).rows.map(rowValue);
};

describe('a worklog that was emptied', () => {
  test('is listed as damaged, here, too, and everything names its session and its directory', async () => {
    const id = await scene.begin('T');
    truncateSync(worklog(id));
    for (const words of [['list'], ['list', '--all'], ['list', '--here']])
      expect([words, (await scene.say('work', words)).out]).toEqual([
        words,
        expect.stringMatching(new RegExp(`${id} +planned, damaged .*\\(the beginning`, 's')),
      ]);
    expect(await scene.json('work', ['list', '--here'])).toMatchObject([{ session_id: id, emptied: true }]);
    expect(await scene.json('work', ['list'], { where: testFolder() })).toMatchObject([{ session_id: id }]);
    const { code, out } = await scene.say('work', ['verify', id]);
    expect([code, out]).toEqual([1, expect.stringContaining('FAULTY  worklog: it is empty')]);
    expect(out).toContain(`ok      claim: it holds ${scene.directory}`);
    const status = await scene.say('track', ['status']);
    expect(status.out).toContain(`${id}: (the beginning`);
    expect(status.out).toContain(`its log is empty: ${worklog(id)}`);
    expect((await scene.say('track', ['init', 'another', '--archive-existing'])).code).toBe(0);
    expect(await scene.json('work', ['list', '--archived'])).toMatchObject([{ session_id: id }]);
    expect(await scene.say('work', ['verify', id])).toMatchObject({
      out: expect.stringContaining('holds no directory'),
    });
  });

  test('is still damaged once lines follow: its beginning is lost', async () => {
    const id = await scene.begin('T');
    truncateSync(worklog(id));
    await scene.say('track', ['note', 'x', '--session', id]);
    expect((await scene.say('work', ['list'])).out).toMatch(`${id}  planned, damaged `);
    const { code, out } = await scene.say('work', ['verify', id]);
    const found = 'FAULTY  worklog: 1 line, all readable, but its beginning is lost\n';
    expect([code, out]).toEqual([1, expect.stringContaining(found)]);
  });

  test('stays in the list of its directory once its state was written again', async () => {
    const { open, home } = memoryScene();
    const memory = open();
    const { id, log } = memory.lifecycle.begin(memory.workspace, {
      purpose: 'T',
      fields: {},
      plan: [],
      concurrent: false,
    });
    log.close();
    truncateSync(log.path);
    const session = open().sessions.open(id);
    if (session === null) throw new Error('it is gone');
    session.log.write(() => [worklogKind.line('note', { text: 'x' })], open().stamp);
    expect(await listed({ open })).toMatchObject([{ session_id: id }]);
    await rebuildSession(open(), session);
    session.log.close();
    expect(existsSync(join(home, 'sessions', id, 'state.json'))).toBe(true);
    expect(await listed({ open })).toMatchObject([
      { session_id: id, created_at: null, directory: memory.workspace.root },
    ]);
  });

  test('of a session that recorded itself is listed, too', async () => {
    const memory = memoryScene();
    const { id } = emptied(memory, readProcessIdentity('host'));
    expect(await listed(memory)).toMatchObject([{ session_id: id, emptied: true }]);
  });

  test('is none if its start was killed before the first line', async () => {
    const memory = memoryScene();
    // Its agent is bound after the first line.
    const { id, folder } = emptied(memory, null);
    expect(await listed(memory)).toEqual([]);
    writeFileSync(join(folder, 'state.json'), '{}');
    expect(await listed(memory)).toMatchObject([{ session_id: id }]);
    await scene.begin('T');
    mkdirSync(join(scene.home, 'sessions', '2026-11-26-killed'));
    writeFileSync(join(scene.home, 'sessions', '2026-11-26-killed', 'worklog.jsonl'), '');
    expect(await scene.json('work', ['list'])).toHaveLength(1);
  });
});

test('a session whose first line is cut off is found in its directory', async () => {
  const id = await scene.begin('T');
  writeFileSync(worklog(id), readFileSync(worklog(id)).subarray(0, 40));
  utimesSync(worklog(id), 0, 0);
  expect(await scene.json('work', ['list', '--here'])).toMatchObject([{ session_id: id, unreadable: 1 }]);
});
