import { expect, test } from '@jest/globals';
import { unfinishedBesides } from '../../../memory/verbs/planMeant.js';
import { Morning } from '../../mornings/mornings.js';

test('a session that recorded itself is named with its first prompt', async () => {
  const morning = new Morning();
  await morning.halfWritten('Write the parser', 'kill');
  expect(await unfinishedBesides(morning.open(), null)).toMatchObject([{ purpose: 'Write the parser' }]);
});
