/** Sessions of terminals, as `session` and `sessions` show them: without any Redis. */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { testFolder } from '../../harness/folder.js';
import { freePort } from '../../harness/freePort.js';
import { watchkeeperAgain } from './manyCalls.js';
import type { Said } from './program.js';

// covers: bridge/cli/sessionMemory.ts
// covers: bridge/cli/sessions.ts

let folder = '';
let environment: Record<string, string> = {};

beforeEach(async () => {
  folder = testFolder();
  mkdirSync(join(folder, 'work'));
  environment = {
    WATCHKEEPER_HOME: join(folder, 'home'),
    WATCHKEEPER_LOGS: join(folder, 'logs'),
    REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
  };
});

const say = (...args: string[]): Said => watchkeeperAgain(join(folder, 'work'), args, environment);
const begin = (): string =>
  JSON.parse(say('track', 'init', 'Fix it', '--step', 'Look', '--step', 'Mend', '--json').out).session_id;

test('session shows one with its steps, files and notes, and a bad end in the exit code', () => {
  const id = begin();
  say('track', 'step', '1', '--start', '--file', 'a.ts');
  say('track', 'note', 'careful', '--priority', 'critical');
  const { code, out, err } = say('session', id);
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(out).toMatch(/^purpose +Fix it$/m);
  expect(out).toMatch(/^status +resting; no agent is known; last activity just now/m);
  expect(out).toMatch(/^step +step 1 of 2: Look$/m);
  expect(out).toMatch(/^steps +\[~\] 1 Look\n +\[ \] 2 Mend$/m);
  expect(out).toMatch(/^files +a\.ts \(in progress\)$/m);
  expect(out).toMatch(/^notes +critical: careful$/m);
  expect(say('session', 'fix-it').out).toMatch(new RegExp(`^session +${id}, of a terminal$`, 'm'));
  const shown = JSON.parse(say('session', id, '--json').out);
  expect(shown).toMatchObject({ session: null, journal: null, memory: { session_id: id, steps: [{}, {}] } });
  say('track', 'done', '--as', 'failed');
  expect(say('session', id).code).toBe(1);
});

test('session says of one that seems stuck what was noticed, with the exit code', () => {
  const id = begin();
  const notice = { v: 1, id: 'n', timestamp: new Date().toISOString(), origin: 'watchkeeper', event: 'notice' };
  const line = JSON.stringify({ ...notice, rule: 'silence', sentence: 'The agent said nothing for 10 minutes.' });
  appendFileSync(join(folder, 'home/sessions', id, 'worklog.jsonl'), `${line}\n`);
  const { code, out } = say('session', id);
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(/^stuck +noticed just now: The agent said nothing for 10 minutes\.$/m),
  ]);
});

test('cancel stops none, and says who can', () => {
  const id = begin();
  const { code, out, err } = say('cancel', id);
  expect([code, out]).toEqual([2, '']);
  expect(err).toBe(
    `watchkeeper: ${id} is a session of a terminal, and only its person can stop it there; \`watchkeeper session ${id}\` shows it\n`,
  );
});

test('sessions lists the unfinished ones first, and still exits with 3 if Redis is unreachable', () => {
  const id = begin();
  const { code, out, err } = say('sessions');
  expect(code).toBe(3);
  expect(err).toMatch(/Redis/);
  expect(out).toMatch(/^IN A TERMINAL .* AGENT /);
  expect(out).toMatch(new RegExp(`^${id}  (?:active|planned) [^]*${folder}`, 'm'));
  const asJson = say('sessions', '--json');
  expect(asJson.code).toBe(3);
  expect(JSON.parse(asJson.out)).toMatchObject({ sessions: null, terminal_sessions: [{ session_id: id }] });
  say('track', 'done', '--complete');
  expect(say('sessions').out).toBe('');
});

test('an id that is no terminal session is asked for in Redis', () => {
  begin();
  expect(say('session', 'tg_boat_1_2').code).toBe(3);
});

test('a home that cannot be used hides no session of the bridge: it is said, and Redis is asked', () => {
  for (const home of ['/dev/null', 'here']) {
    environment.WATCHKEEPER_HOME = home;
    for (const words of [['session', 'tg_boat_1_2'], ['sessions']])
      expect([home, words, say(...words)]).toEqual([
        home,
        words,
        expect.objectContaining({
          code: 3,
          err: expect.stringMatching(
            /^(?:\/dev\/null cannot hold session memory|WATCHKEEPER_HOME is "here").*\n.*Redis/s,
          ),
        }),
      ]);
  }
});
