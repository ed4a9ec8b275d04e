/** What a program shows of a record holds no secret of Watchkeeper's own, whichever program it is. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { OWN_SECRET, SECRET_VARIABLES } from '../../../src/log/redact.js';
import { watchkeeper } from '../cli/program.js';
import { hook, payload, scene } from './hookScene.js';

/** Without a shape or a name by which it would be recognised. */
const SECRET = 'quiet river under stones';
const GIVEN: Readonly<Record<string, string>> = {
  REDIS_URL: `redis://me:${encodeURIComponent(SECRET)}@localhost:6379`,
};

test.each(SECRET_VARIABLES)(
  'the secret in %s is in no answer of a hook, as it is in none of a command',
  async (name) => {
    const place = scene();
    const start = (conversation: string) =>
      payload(place, 'SessionStart', { source: 'startup', session_id: conversation });
    await hook(place, start('c-1'));
    const [id = ''] = readdirSync(join(place.home, 'sessions'));
    const stamp = { v: 1, id: 'n', timestamp: new Date().toISOString(), origin: 'agent' };
    const note = { ...stamp, event: 'note', text: `mind the ${SECRET} there`, priority: 'high' };
    writeFileSync(join(place.home, 'sessions', id, 'worklog.jsonl'), `${JSON.stringify(note)}\n`, { flag: 'a' });
    const variables = { [name]: GIVEN[name] ?? SECRET };
    const { out } = await hook(place, start('c-2'), variables);
    const resumed = watchkeeper(place.work, ['track', 'resume', id], { WATCHKEEPER_HOME: place.home, ...variables });
    for (const said of [out, resumed.out]) {
      expect(said).toContain(`mind the ${OWN_SECRET} there`);
      expect(said).not.toContain(SECRET);
    }
  },
);
