/** An agent that goes on with a session on which another one may be at work: real processes. */
import { beforeEach, expect, test } from '@jest/globals';
import { type Agent, startAgent } from '../agent.js';
import { WorkScene } from './scene.js';

let scene: WorkScene;

beforeEach(() => {
  scene = new WorkScene();
});

const shellOf = ({ pid, shell }: Agent) => ({ pid: shell, variables: { CLAUDE_PID: String(pid) } });

async function runsOf(id: string): Promise<number[]> {
  const { runs } = await scene.json('work', ['show', id]);
  return runs.map(({ process }: { process: { pid: number } }) => process.pid);
}

test.each([
  ['work', ['continue']],
  ['track', ['init', '--resume', '--session']],
] as const)(
  '%s %j is refused while another agent works on the session, which is named, until it has ended',
  async (name, args) => {
    const [first, second] = [await startAgent(), await startAgent()];
    const { session_id: id } = await scene.json('track', ['init', 'T'], shellOf(first));
    const refused = await scene.say(name, [...args, id], shellOf(second));
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        new RegExp(
          `^session ${id} has an agent: process ${first.pid} has worked on it since \\S+ \\S+ \\S+, and two would write`,
        ),
      ),
    });
    expect(refused.err).toContain('End that agent first.');
    expect(await runsOf(id)).toEqual([first.pid]);
    expect((await scene.say(name, [...args, id], shellOf(first))).code).toBe(0);
    await first.kill();
    expect((await scene.say(name, [...args, id], shellOf(second))).code).toBe(0);
    expect(await runsOf(id)).toEqual([first.pid, second.pid]);
  },
);

test('nobody is sent into a session, or a conversation of it, in which an agent is at work', async () => {
  const first = await startAgent();
  const { session_id: id } = await scene.json('track', ['init', 'T'], shellOf(first));
  const { out } = await scene.say('track', ['resume', id]);
  expect(out).toContain(`It has an agent: process ${first.pid} has worked on it since`);
  expect(out).not.toMatch(/To go on with it|Start an agent|Or go on/);
});

test('an agent joins another one if it says so, and may then repeat itself', async () => {
  const [first, second] = [await startAgent(), await startAgent()];
  const { session_id: id } = await scene.json('track', ['init', 'T'], shellOf(first));
  const joins = { ...shellOf(second), variables: { ...shellOf(second).variables, CLAUDE_CODE_SESSION_ID: 'c-2' } };
  expect((await scene.say('work', ['continue', id], joins)).code).toBe(1);
  expect((await scene.say('work', ['continue', id, '--concurrent'], joins)).code).toBe(0);
  expect(await runsOf(id)).toEqual([first.pid, second.pid]);
  expect((await scene.say('work', ['continue', id], joins)).code).toBe(0);
  await first.kill();
  await second.kill();
});

test('a person without an agent moves nobody, and is not refused; a newcomer reads who is at work', async () => {
  const [first, second] = [await startAgent(), await startAgent()];
  await scene.json('track', ['init', 'T'], shellOf(first));
  expect((await scene.say('track', ['init', '--resume'])).code).toBe(0);
  const { code, err } = await scene.say('track', ['init', 'U'], shellOf(second));
  expect(code).toBe(1);
  expect(err).toMatch(
    new RegExp(`\nprocess ${first.pid} has worked on it since \\S+ \\S+ \\S+; while it does, work beside it\n$`),
  );
  await first.kill();
  await second.kill();
});
