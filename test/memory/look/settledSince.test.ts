// covers: memory/look/stillInDoubt.ts
/** A half-written file is in doubt until another agent has finished it; then its session weighs less, and says who has. */
import { expect, test } from '@jest/globals';
import { crashOf } from '../../../memory/brief/crashReport.js';
import { contextFor } from '../../../memory/brief/resumeContext.js';
import { viewOf } from '../../../memory/brief/view.js';
import { listSessions } from '../../../memory/look/list.js';
import { lookAt } from '../../../memory/look/look.js';
import { weighedHere } from '../../../memory/look/unfinished.js';
import { Morning } from '../../mornings/mornings.js';

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
      here: true,
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
  const text = contextFor(viewOf(memory, await lookAt(memory, session)), 'root');
  return {
    weights: [...weights],
    first: [...morning.ids].find(([, known]) => known === gone[0]?.id)?.[0],
    text,
    doubtful: report?.files.map(({ path }) => path),
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
