/** The worklogs of a bridge's sessions: what they hold after an answer, after a kill, and what an agent adds to its own. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { whyNoSandbox } from '../../bridge/agents/program/sandbox.js';
import type { Line } from '../../memory/logs/line.js';
import { readStat } from '../../src/host/procfs.js';
import { compiledProgram } from '../../src/host/program.js';
import { MINUTE } from '../../src/time.js';
import { testFolder } from '../harness/folder.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation } from './conversation.js';
import { giveToOrdinaryUser, ORDINARY_USER, productStarter } from './ordinaryUser.js';
import type { Program } from './program.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS, sayIn } from './testScene.js';

// covers: bridge/runs/runWorklog.ts

const HANGING: Scenario = { steps: [{ do: 'call', tool: 'bash', input: { command: 'ls' } }, { do: 'silence' }] };
const HANGS_ONCE = '[ -e begun ] && { echo again; exit; }; touch begun; sleep 600';
/** Its plan, by its own shell, while it works for the bridge. */
const TRACKING = `
cat >/dev/null
track() { "$NODE" "$MAIN" track "$@"; }
track init 'Bake' --step 'Mix' --step 'Heat it' || exit 1
track step 1 --start --file dough.txt && track step 1 --done && track step 2 --start && track note 'hot' --priority high || exit 1
track init 'Again' --step 'Other' 2>&1
"$NODE" "$MAIN" work end 2>&1 && exit 1
"$NODE" "$MAIN" work start --purpose other 2>&1 && exit 1
track done --complete --summary 'It is baked' || exit 1
`;

const worklog = (scene: BridgeScene, session: string) => scene.evidence.worklog(session);
const events = (scene: BridgeScene, session: string) => worklog(scene, session).map(({ event }) => event);

async function ended(scene: BridgeScene, session: string): Promise<void> {
  await scene.until('the end in the worklog', () => events(scene, session).at(-1) === 'session_ended');
}

async function killAgent(scene: BridgeScene, session: string): Promise<void> {
  const pid = (await scene.store.records.session(session))?.run?.pid;
  if (typeof pid !== 'number') throw new Error(`${session} has no process`);
  process.kill(pid, 'SIGKILL');
}

describeScenes('the worklog of a session of the bridge', () => {
  let scene: BridgeScene;
  let bridge: Program;

  beforeAll(async () => {
    const baker = { kind: 'command', command: ['sh', '-c', TRACKING], output: 'text' };
    const hangs = { kind: 'command', command: ['sh', '-c', HANGS_ONCE], output: 'text' };
    scene = await openTestScene({
      projects: {
        oven: { chats: [{ id: 1 }], agent: baker },
        boat: { chats: [{ id: 2 }], scenarios: [{ steps: [{ do: 'answer', text: 'done' }] }] },
        raft: { chats: [{ id: 3 }], scenarios: [HANGING] },
        ship: { chats: [{ id: 4 }], agent: hangs },
        cut: { chats: [{ id: 5 }], scenarios: [{ steps: [{ do: 'answer', text: 'done' }] }] },
      },
      // An older run that is lost was an attempt, and its message is then run again in a session of its own.
      timings: { youngRunMs: 10 * MINUTE },
      environment: {
        NODE: process.execPath,
        MAIN: compiledProgram('bridge/cli/main'),
        AGENT_ENV: 'NODE MAIN SCENE_MARK SCRIPTED_RECORD SCRIPTED_STATE',
      },
    });
    bridge = await scene.startBridge();
  }, SCENE_TIMEOUT_MS);

  test(
    'has its start, run, conversation and end, and takes the steps that the agent tracks from its shell',
    async () => {
      const asked = new Conversation(scene, 'oven', 1, `bake, with ghp_${'a'.repeat(36)}`);
      const { text } = await asked.answered('its bridge ends it');
      expect(text).toContain('has a plan already');
      expect(text).toContain('is the logs folder of a bridge, which begins and ends its sessions');
      await ended(scene, asked.session);

      const lines = worklog(scene, asked.session);
      expect(lines[0]).toMatchObject({
        event: 'session_started',
        origin: 'watchkeeper',
        session_id: asked.session,
        purpose: 'bake, with [redacted:github_token]',
        agent: 'command',
        workspace: expect.stringMatching(/^ws_[0-9a-f]{16}$/),
      });
      expect(lines.filter(({ origin }) => origin === 'watchkeeper').map(({ event }) => event)).toEqual([
        'session_started',
        'run_started',
        'run_ended',
        'session_ended',
      ]);
      expect(lines.at(-1)).toMatchObject({ reason: 'completed', summary: 'It is baked' });

      const shown = await sayIn(scene, ['work', 'show', asked.session, '--dir', scene.logs, '--json']);
      expect(JSON.parse(shown.out)).toMatchObject({
        lifecycle: 'ended',
        end: { reason: 'completed', summary: 'It is baked' },
        observed: 'journal',
        steps: [
          { title: 'Mix', status: 'completed', assumed: false },
          { title: 'Heat it', status: 'completed', assumed: true },
        ],
        notes: [{ text: 'hot', priority: 'high' }],
        files: { 'dough.txt': { status: 'done', step: '1' } },
        log: { refused: 0, unreadable: 0 },
      });
      const { session, memory } = JSON.parse((await sayIn(scene, ['session', asked.session, '--json'])).out);
      expect(session.status).toBe('completed');
      expect(memory).toEqual({
        ...JSON.parse(shown.out),
        freshness: memory.freshness,
        check: memory.check,
      });
      const words = await sayIn(scene, ['session', asked.session]);
      expect(words.out).toMatch(/^steps +\[x\] 1 Mix\n +\[x\] 2 Heat it$/m);
      expect(words.out).toMatch(/^files +dough\.txt$/m);
      expect(words.out).toMatch(/^notes +high: hot$/m);
      expect(words.out).toMatch(/^summary +It is baked$/m);
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'names the conversation of its agent, and whether it goes on with it',
    async () => {
      const conversations: Line[] = [];
      for (const text of ['first', 'second']) {
        const asked = new Conversation(scene, 'boat', 2, text);
        await asked.answered('done');
        await ended(scene, asked.session);
        expect(events(scene, asked.session)).toEqual([
          'session_started',
          'run_started',
          'conversation',
          'run_ended',
          'session_ended',
        ]);
        conversations.push(...worklog(scene, asked.session).filter(({ event }) => event === 'conversation'));
      }
      const [first, second] = conversations;
      expect(first).toMatchObject({ provider: 'scripted', source: 'startup', cwd: join(scene.folder, 'work', 'boat') });
      expect(second).toMatchObject({ source: 'resume', conversation: first?.conversation });
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'links both attempts after its agent was killed, and says how each ended',
    async () => {
      const asked = new Conversation(scene, 'raft', 3, 'hello');
      await asked.firstCall();
      await killAgent(scene, asked.session);
      await asked.firstCall(asked.revival);
      await ended(scene, asked.session);
      expect(worklog(scene, asked.session).slice(-2)).toMatchObject([
        { event: 'run_ended', reason: 'run_failed_signal_SIGKILL' },
        { event: 'session_ended', reason: 'failed' },
      ]);
      expect(worklog(scene, asked.revival)[0]).toMatchObject({ event: 'session_started', continues: asked.session });

      await sayIn(scene, ['cancel', asked.revival]);
      await ended(scene, asked.revival);
      expect(worklog(scene, asked.revival).slice(-2)).toMatchObject([
        { event: 'run_ended', reason: 'requested' },
        { event: 'session_ended', reason: 'cancelled' },
      ]);
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'is a crash after the bridge was killed, and goes on with the next run; gets its end at the next start, if it was killed before it wrote it',
    async () => {
      const asked = new Conversation(scene, 'ship', 4, 'hello');
      const started = async (times: number) =>
        scene.until(
          'the run',
          () => events(scene, asked.session).filter((event) => event === 'run_started').length === times,
        );
      await started(1);
      await scene.until('the work of its agent', () => existsSync(join(scene.folder, 'work', 'ship', 'begun')));
      const pid = await scene.until(
        'the process of its agent in the store',
        async () => (await scene.store.records.session(asked.session))?.run?.pid,
      );
      const done = new Conversation(scene, 'cut', 5, 'hello');
      await done.answered('done');
      await ended(scene, done.session);
      await bridge.kill();
      const path = join(scene.logs, 'sessions', done.session, 'worklog.jsonl');
      const written = readFileSync(path, 'utf8');
      writeFileSync(path, written.slice(0, written.indexOf('\n', written.indexOf('"event":"conversation"')) + 1));
      expect(events(scene, done.session)).toEqual(['session_started', 'run_started', 'conversation']);
      await scene.until('the end of the agent', () => typeof readStat(pid) === 'string');
      expect(events(scene, asked.session)).toEqual(['session_started', 'run_started']);
      const crashed = await sayIn(scene, ['work', 'show', asked.session, '--dir', scene.logs, '--json']);
      expect(JSON.parse(crashed.out)).toMatchObject({ lifecycle: 'active', crashed: true, liveness: 'dead' });

      bridge = await scene.startBridge();
      await ended(scene, done.session);
      const completed = await sayIn(scene, ['work', 'show', done.session, '--dir', scene.logs, '--json']);
      expect(JSON.parse(completed.out)).toMatchObject({
        lifecycle: 'ended',
        end: { reason: 'completed' },
        crashed: false,
      });
      await asked.answered('again');
      await ended(scene, asked.session);
      const ends = ['run_ended', 'run_started', 'run_ended', 'session_ended'];
      expect(events(scene, asked.session)).toEqual(['session_started', 'run_started', ...ends]);
      const shown = await sayIn(scene, ['work', 'show', asked.session, '--dir', scene.logs, '--json']);
      expect(JSON.parse(shown.out)).toMatchObject({
        end: { reason: 'completed' },
        crashed: false,
        runs: [
          { reason: 'lost', run_id: expect.any(String) },
          { reason: 'answered', run_id: expect.any(String) },
        ],
        log: { refused: 0, unreadable: 0 },
      });
    },
    SCENE_TIMEOUT_MS,
  );

  (whyNoSandbox(ORDINARY_USER) === null ? test : test.skip)(
    'is out of reach of an agent in a sandbox, which is told so',
    async () => {
      const words = '"$NODE" "$MAIN" track note hi 2>&1; echo "exit $?"';
      const agent = { kind: 'command', command: ['sh', '-c', words], output: 'text' };
      const environment = { NODE: process.execPath, MAIN: compiledProgram('bridge/cli/main') };
      const starts = testFolder();
      const scene = await openTestScene({
        projects: { oven: { chats: [{ id: 1 }], agent, isolation: 'bubblewrap' } },
        environment: { ...environment, AGENT_ENV: 'NODE MAIN SCENE_MARK' },
        program: productStarter(starts),
      });
      for (const folder of [starts, scene.folder]) giveToOrdinaryUser(folder);
      await scene.startBridge();
      const asked = new Conversation(scene, 'oven', 1, 'try');
      const { text } = await asked.answered('exit 3');
      expect(text).toContain('agents in a sandbox, or of another user, have no access to the memory of their bridge');
      expect(scene.evidence.worklog(asked.session).map(({ event }) => event)).not.toContain('note');
    },
    SCENE_TIMEOUT_MS,
  );
});
