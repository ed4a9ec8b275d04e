/** The logs folder of a bridge as a memory: what its agent and people may say there, and what only the bridge decides. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { worklogKind } from '../../../../memory/fold/rules/kind.js';
import { BridgeSession } from '../../../../memory/sessions/bridgeSession.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { createRedactor } from '../../../../src/log/redact.js';
import { systemClock } from '../../../../src/time.js';
import { type Caller, WorkScene } from './scene.js';

const ID = 'tg_boat_1_2';
let scene: WorkScene;
/** Its agent's shell. */
let agent: Caller;
let bridge: BridgeSession;

const worklog = () => readFileSync(join(scene.home, 'sessions', ID, 'worklog.jsonl'), 'utf8');

beforeEach(() => {
  scene = new WorkScene();
  mkdirSync(scene.home);
  writeFileSync(join(scene.home, 'watchdog.id'), '01K0\n');
  agent = { variables: { WATCHKEEPER_MEMORY: scene.home, WATCHKEEPER_SESSION: ID, WATCHKEEPER_RUN: 'r' } };
  bridge = new BridgeSession(scene.home, ID, { clock: systemClock, redact: createRedactor([]) });
  bridge.write(() => [
    worklogKind.line('session_started', { session_id: ID, purpose: 'sail' }),
    worklogKind.line('run_started', { process: readProcessIdentity('host') }),
  ]);
});

describe('only the bridge', () => {
  test.each([
    ['begins sessions', 'work', ['start', '--purpose', 'other']],
    ['begins sessions beside others', 'track', ['init', 'other', '--concurrent']],
    ['ends them', 'work', ['end']],
    ['reopens them', 'work', ['reopen', ID]],
    ['moves agents between them', 'work', ['continue', ID]],
    ['archives them', 'work', ['archive', ID]],
    ['archives them for a new one', 'track', ['init', 'other', '--archive-existing']],
    ['takes them out of the archive', 'work', ['unarchive', ID]],
    ['removes them', 'work', ['purge', ID, '--yes']],
  ] as const)('%s', async (_, command, args) => {
    const before = worklog();
    const { code, err } = await scene.say(command, args, {
      variables: { ...agent.variables, CLAUDE_CODE_SESSION_ID: 'c' },
    });
    expect(err).toContain('is the logs folder of a bridge, which begins and ends its sessions');
    expect(code).toBe(1);
    expect(worklog()).toBe(before);
    expect(readdirSync(scene.home).sort()).toEqual(['sessions', 'watchdog.id']);
  });
});

test('what was observed is the journal of the session, not the whole conversation of its chat', async () => {
  const folder = join(scene.directory, '.claude', 'projects', 'x');
  mkdirSync(folder, { recursive: true });
  const before = { type: 'user', uuid: 'u', sessionId: 'c', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/' };
  writeFileSync(
    join(folder, 'c.jsonl'),
    `${JSON.stringify({ ...before, message: { role: 'user', content: 'hi' } })}\n`,
  );
  const asked = { timestamp: '2026-11-11T00:00:00.000Z', event: 'user_prompt', session_id: ID };
  writeFileSync(join(scene.home, 'sessions', ID, 'tool_use.jsonl'), `${JSON.stringify(asked)}\n`);
  bridge.write(() => [worklogKind.line('conversation', { provider: 'claude', conversation: 'c', source: 'resume' })]);
  const caller = { variables: { ...agent.variables, HOME: scene.directory } };
  expect((await scene.json('work', ['show'], caller)).observed).toBe('journal');
});

describe('its agent', () => {
  test('plans its session once, adds steps, and finds the plan again', async () => {
    expect(await scene.say('track', ['init', 'Sail', '--step', 'Hoist', '--step', 'Steer'], agent)).toMatchObject({
      code: 0,
      out: `session ${ID} has a plan of 2 steps\n`,
    });
    const again = await scene.say('track', ['init', 'Sail', '--step', 'Other'], agent);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('has a plan already:\n  [ ] 1 Hoist') });
    expect((await scene.json('track', ['init', '--resume'], agent)).session_id).toBe(ID);
    await scene.say('track', ['step', '--add', 'Moor'], agent);
    const { steps, entries, purpose } = await scene.json('work', ['show'], agent);
    expect(steps.map(({ title }: { title: string }) => title)).toEqual(['Hoist', 'Steer', 'Moor']);
    expect(entries).toMatchObject([{ message: 'Sail' }]);
    expect(purpose).toBe('sail');
  });

  test('settles its steps with done, and the bridge ends the session with its summary', async () => {
    await scene.say('track', ['init', 'Sail', '--step', 'Hoist', '--step', 'Steer'], agent);
    await scene.say('track', ['step', '1', '--start'], agent);
    expect((await scene.say('track', ['done'], agent)).code).toBe(1);
    const { out } = await scene.say('track', ['done', '--complete', '--summary', 'arrived'], agent);
    expect(out).toBe(`steps of session ${ID} are settled; its bridge ends it\n`);
    const shown = await scene.json('work', ['show'], agent);
    expect(shown).toMatchObject({
      lifecycle: 'active',
      end: null,
      steps: [{ status: 'completed' }, { status: 'skipped' }],
    });
    bridge.end('completed');
    expect((await scene.json('work', ['show'], agent)).end).toMatchObject({ reason: 'completed', summary: 'arrived' });
    // Nobody can reopen it.
    const record = (await scene.say('track', ['resume', ID], agent)).out;
    expect(record).toMatch(new RegExp(`bridge runs: watchkeeper session ${ID}\\n</session-record>`));
    expect(record).not.toContain('To go on');
    expect((await scene.say('track', ['step', '--add', 'late'], agent)).err).toContain('has ended');
  });

  test('learns from done which steps are not settled', async () => {
    await scene.say('track', ['init', 'Sail', '--step', 'Hoist'], agent);
    expect((await scene.say('track', ['done', '--as', 'failed'], agent)).out).toBe(
      `session ${ID} goes on until its bridge ends it\nnot done: 1 step is open\n  [ ] 1 Hoist\n`,
    );
  });
});
