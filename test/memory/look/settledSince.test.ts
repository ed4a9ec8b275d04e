// covers: memory/look/stillInDoubt.ts
/** A half-written file is in doubt until another agent has finished it; then its session weighs less, and says who has. */
import { mkdirSync, renameSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { crashLines, crashOf } from '../../../memory/brief/crashReport.js';
import { contextFor } from '../../../memory/brief/resumeContext.js';
import { viewOf } from '../../../memory/brief/view.js';
import { listSessions } from '../../../memory/look/list.js';
import { lookAt } from '../../../memory/look/look.js';
import { likelyFirst, weighedHere } from '../../../memory/look/unfinished.js';
import { onlyCrashed } from '../../../memory/verbs/inTheWay.js';
import { meantHere } from '../../../memory/verbs/meantHere.js';
import { asks, call, Morning, result, says } from '../../mornings/mornings.js';

const WORK = 'Write the parser';
const FILE = 'Write-the-parser.ts';
const LATER = 'Run the tests';

/** @returns the weight of the crashed work on every surface, what its next agent is told of it, and which session a new one hears of first */
async function found(morning: Morning) {
  const id = morning.ids.get(WORK) ?? '';
  const memory = morning.open();
  const session = memory.look(id);
  const report = session === null ? null : await crashOf(memory, session);
  const weights = new Set<string | undefined>();
  for (const which of ['unfinished', 'all'] as const) {
    const { rows } = await listSessions(memory, {
      where: 'here',
      which,
      most: 20,
      judge: async () => null,
      onUnreadable: () => {},
    });
    weights.add(rows.find(({ session_id }) => session_id === id)?.condition.weight);
  }
  const { gone } = await weighedHere(memory, memory.workspace);
  weights.add(gone.find((one) => one.id === id)?.weight);
  if (session === null) throw new Error('the session is gone');
  const look = await lookAt(memory, session);
  weights.add(look.condition.weight);
  const text = contextFor(viewOf(memory, look), 'root');
  return {
    weights: [...weights],
    first: [...morning.ids].find(([, known]) => known === gone[0]?.id)?.[0],
    text,
    doubtful: report?.files.map(({ path }) => path),
    crash: report === null ? '' : crashLines(report, memory.clock.now()).join('\n'),
    settled: report?.settled,
  };
}

test('one that the agent of another session has written since is told as that, after heavier work', async () => {
  const morning = new Morning();
  await morning.halfWritten(WORK, 'kill');
  expect((await found(morning)).weights).toEqual(['files_in_doubt']);
  await morning.finishes('Finish it', WORK);
  const by = morning.ids.get('Finish it');
  const alone = await found(morning);
  expect(alone).toMatchObject({ weights: ['taken_up'], doubtful: [], settled: [{ path: FILE, how: 'written', by }] });
  expect(alone.text).toContain(`- "${FILE}": written since by the agent of session ${by}\n`);
  expect(alone.text).not.toContain('to be checked first');
  await morning.withTasks(LATER);
  expect((await found(morning)).first).toBe(LATER);
  await morning.chat('rain');
  expect(await found(morning)).toMatchObject({ first: LATER, weights: ['taken_up'] });
});

test('one that a shell command of another session has written is no longer in doubt once its turn has ended', async () => {
  const morning = new Morning();
  await morning.halfWritten(WORK, 'kill');
  await morning.finishesInShell('Try it', WORK, 'kill');
  expect(await found(morning)).toMatchObject({ doubtful: [FILE], settled: [] });
  await morning.finishesInShell('Finish it', WORK);
  const by = morning.ids.get('Finish it');
  expect(await found(morning)).toMatchObject({ doubtful: [], settled: [{ path: FILE, how: 'written', by }] });
});

test('one that an older window has written for its own task is no longer in doubt, and the turn stays open', async () => {
  const morning = new Morning();
  await morning.chat('the weather', 'alive');
  await morning.halfWritten(WORK, 'kill');
  await morning.alsoFinishes('the weather', WORK);
  const by = morning.ids.get('the weather');
  expect(await found(morning)).toMatchObject({ weights: ['open_turn'], settled: [{ path: FILE, how: 'written', by }] });
});

test('one that another agent was writing when it was killed, or had written before, is still in doubt', async () => {
  const both = new Morning();
  await both.halfWritten(WORK, 'kill');
  await both.finishes('Finish it', WORK, 'kill');
  expect(await found(both)).toMatchObject({ weights: ['files_in_doubt'], doubtful: [FILE], settled: [] });
  const earlier = new Morning();
  await earlier.finishes('Begin it', WORK);
  await earlier.halfWritten(WORK, 'kill');
  await earlier.chat('rain');
  expect(await found(earlier)).toMatchObject({ weights: ['files_in_doubt'], doubtful: [FILE], first: WORK });
});

test('one that an agent has deleted since, or that was committed since, is in doubt no more', async () => {
  const deleted = new Morning();
  await deleted.halfWritten(WORK, 'kill');
  await deleted.deletes('Away with it', WORK);
  const by = deleted.ids.get('Away with it');
  expect(await found(deleted)).toMatchObject({ weights: ['taken_up'], settled: [{ path: FILE, how: 'deleted', by }] });
  const committed = new Morning();
  await committed.halfWritten(WORK, 'kill');
  expect((await found(committed)).weights).toEqual(['files_in_doubt']);
  committed.commit();
  const kept = await found(committed);
  expect(kept).toMatchObject({ weights: ['open_turn'], settled: [{ path: FILE, how: 'committed', by: null }] });
  expect(kept.text).toContain(`- "${FILE}": committed since\n`);
});

test('one that a person has deleted is in doubt only while a command that may have done it was running', async () => {
  const running = new Morning();
  await running.halfWritten(WORK, 'kill');
  running.remove(FILE);
  expect((await found(running)).weights).toEqual(['files_in_doubt']);
  const written = new Morning();
  await written.finishes(WORK, WORK, 'kill');
  written.remove(FILE);
  expect(await found(written)).toMatchObject({
    weights: ['open_turn'],
    settled: [{ path: FILE, how: 'deleted', by: null }],
  });
});

test('one that a person has put into the stash, or onto a branch, is in doubt, and both reports name the place', async () => {
  const stashed = new Morning();
  await stashed.chat('the weather');
  stashed.git('init', '-q');
  stashed.git('commit', '-q', '--allow-empty', '-m', 'first');
  await stashed.finishes(WORK, WORK, 'kill');
  stashed.git('stash', '-q', '-u');
  const inStash = await found(stashed);
  expect(inStash).toMatchObject({ weights: ['files_in_doubt'], doubtful: [FILE], settled: [] });
  expect(inStash.text).toContain(`- "${FILE}": it does not exist; "stash@{0}" has a version of it\n`);
  expect(inStash.crash).toContain(`  ${FILE}: does not exist; stash@{0} has a version of it`);
  stashed.git('stash', 'pop', '-q');
  stashed.git('checkout', '-q', '-b', 'half/done');
  stashed.git('add', '.');
  stashed.git('commit', '-qm', 'Half of it');
  stashed.git('checkout', '-q', 'main');
  const onBranch = await found(stashed);
  expect(onBranch).toMatchObject({ weights: ['files_in_doubt'], doubtful: [FILE], settled: [] });
  expect(onBranch.text).toContain(`- "${FILE}": it does not exist; branch "half/done" has a version of it\n`);
});

test('one that is gone stays in doubt if git cannot say whether it was put aside', async () => {
  const morning = new Morning();
  morning.git('init', '-q');
  morning.git('commit', '-q', '--allow-empty', '-m', 'first');
  await morning.finishes(WORK, WORK, 'kill');
  morning.remove(FILE);
  mkdirSync(morning.path('.git/logs/refs/stash'), { recursive: true });
  expect(await found(morning)).toMatchObject({ weights: ['files_in_doubt'], doubtful: [FILE], settled: [] });
});

test('one whose whole directory is gone is not deleted: its disk may come back', async () => {
  const morning = new Morning();
  await morning.finishes(WORK, WORK, 'kill');
  renameSync(morning.path('.'), morning.path('../removed disk'));
  expect(await found(morning)).toMatchObject({ weights: ['files_in_doubt'], settled: [] });
});

test('one that an earlier conversation, resumed and still open, has written since is in doubt no more', async () => {
  const morning = new Morning();
  await morning.chat('the weather');
  // Notes how the first window was left.
  await morning.chat('rain');
  await morning.halfWritten(WORK, 'kill');
  await morning.chat('snow');
  await morning.finishes('the weather', WORK, 'alive', 'resume');
  const by = morning.ids.get('the weather');
  const settled = [{ path: FILE, how: 'written', by }];
  expect(await found(morning)).toMatchObject({ weights: ['taken_up'], doubtful: [], settled });
});

test('one that was finished stays so, however many windows came after it or were closed unused before', async () => {
  const morning = new Morning();
  await morning.chat('the weather');
  for (let number = 1; number <= 21; number += 1) await morning.unasked(`window ${number}`, 'orderly');
  await morning.halfWritten(WORK, 'kill');
  await morning.chat('rain');
  await morning.finishes('the weather', WORK, 'orderly', 'resume');
  await morning.chats(21);
  expect(await found(morning)).toMatchObject({ weights: ['taken_up'], doubtful: [] });
});

test('one whose finishing a person has taken back is in doubt again, although it was noted as finished', async () => {
  const morning = new Morning();
  await morning.halfWritten(WORK, 'kill');
  let last: string | null = null;
  const below = (record: object) => {
    const parentUuid = last;
    last = `${parentUuid ?? 'r'}+`;
    return { ...record, uuid: last, parentUuid };
  };
  const before = [below(asks('hello')), below(says('Hello.'))];
  const point = last;
  const write = call('Write', { file_path: morning.path(FILE), content: 'the whole of it' });
  const turn = [asks('Finish it'), write, result(), says('It is whole.')].map(below);
  await morning.session('Finish it', [...before, ...turn]);
  await morning.chat('rain');
  expect((await found(morning)).weights).toEqual(['taken_up']);
  const other = { ...asks('What is snow?'), uuid: 'other', parentUuid: point };
  await morning.session('Finish it', [other, { ...says('Ice.'), parentUuid: 'other' }], 'orderly', 'resume');
  expect(await found(morning)).toMatchObject({ weights: ['files_in_doubt'], doubtful: [FILE], first: WORK });
});

test('one that its own agent has deleted was finished by that', async () => {
  const morning = new Morning();
  const bashEditDiff = { files: [{ filePath: morning.path(FILE), deleted: true }] };
  const remove = [
    call('Bash', { command: `rm ${FILE}` }),
    { ...result(), toolUseResult: { stdout: '', bashEditDiff } },
  ];
  await morning.session(WORK, [asks(WORK), ...remove, call('Bash', { command: 'npm test' })], 'kill');
  expect(await found(morning)).toMatchObject({ weights: ['open_turn'], doubtful: [], settled: [] });
});

test('a session whose files were finished is no longer meant, nor given to an agent that cannot wait, where other work is open', async () => {
  const morning = new Morning();
  await morning.halfWritten(WORK, 'kill');
  await morning.finishes('Finish it', WORK);
  await morning.chat('rain');
  const likely = () => likelyFirst(morning.open(), '');
  const meant = async () => (await meantHere(morning.open(), { session: undefined })).session.id;
  expect([await meant(), likely()]).toEqual([morning.ids.get(WORK), null]);
  await morning.halfWritten(LATER, 'kill');
  const later = morning.ids.get(LATER);
  expect([await meant(), likely(), (await onlyCrashed(morning.open()))?.id]).toEqual([later, later, later]);
});
