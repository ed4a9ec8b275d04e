/** What is wrong is said in words, at the edge, and nothing comes of it. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { journalPath } from '../../src/journal/path.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH, stepOf } from './conversation.js';
import type { Program } from './program.js';
import type { Scenario } from './sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS, sayIn } from './testScene.js';

const HUGE_BYTES = 50 * 1024 * 1024;
const LISTED_CHAT = 1;
const STRANGERS_CHAT = -900;
const STRANGER = 666;
const UNUSABLE_IDS = ['../../etc/passwd', 'tg_a:b', 'tg_a\nb', 'tg_🙂'];

const REFUSED_COMMANDS = [
  ...UNUSABLE_IDS.map((id) => ['session', '--json', '--', id]),
  ['cancel', '--json', '--', '../sessions'],
  ['cancel', '--json', '--', 'tg_a\nb'],
  ['enqueue', '--project', '../yard', '--text', 'x'],
  ['enqueue', '--project', 'yard', '--chat', '../../x', '--text', 'x'],
  ['enqueue', '--project', 'y🙂', '--chat', '1\n2', '--text', 'x'],
];

const only = (message: string, steps: Scenario['steps']): Scenario => ({ when: { message: `^${message}` }, steps });
const AGENTS: readonly Scenario[] = [
  only('garbage', [
    { do: 'garbage', bytes: 100_000, text: '{"event":' },
    { do: 'exit', code: 3 },
  ]),
  only('huge', [
    { do: 'call', tool: 'read', input: { path: 'a' }, output: 'b' },
    { do: 'huge_line', bytes: HUGE_BYTES },
    { do: 'exit', code: 4 },
  ]),
  only('leaves', [{ do: 'exit', code: 5 }]),
  only('is killed', [{ do: 'crash', signal: 'SIGKILL' }]),
];
const REASONS = {
  garbage: 'run_failed_exit_3',
  huge: 'run_failed_exit_4',
  leaves: 'run_failed_exit_5',
  'is killed': 'run_failed_signal_SIGKILL',
} as const;

const PROGRAM_NOT_THERE = { kind: 'command', command: ['no-such-agent-anywhere'] };
/** Nobody can answer it, and nobody sees a dialog. */
const PROGRAM_THAT_ASKS = {
  kind: 'command',
  command: ['sh', '-c', "cat >/dev/null; printf 'Overwrite everything? [y/N] '; read answer || exit 7; echo done"],
};
const FROM_THE_TERMINAL = {
  kind: 'command',
  command: ['sh', '-c', 'cat >/dev/null; read -r answer </dev/tty || exit 8; echo done'],
};

describeScenes('bad input', () => {
  let scene: BridgeScene;
  let bridge: Program;

  beforeAll(async () => {
    scene = await openTestScene({
      projects: {
        yard: {
          chats: [
            { id: LISTED_CHAT },
            { id: -2 },
            { id: -3, directory: 'a' },
            { id: -4, directory: 'b' },
            { id: -5, directory: 'c' },
            { id: -6, directory: 'd' },
          ],
          scenarios: AGENTS,
        },
        // Its scenario file is taken away: an agent that cannot be started.
        missing: { chats: [{ id: -7 }] },
        nowhere: { chats: [{ id: -8 }], agent: PROGRAM_NOT_THERE },
        asks: { chats: [{ id: -9 }], agent: PROGRAM_THAT_ASKS },
        terminal: { chats: [{ id: -10 }], agent: FROM_THE_TERMINAL },
      },
    });
    writeFileSync(join(scene.folder, 'scenarios', 'missing.json'), '{"scenarios": [{"steps": [{"do": "dance"}]}]}');
    bridge = await scene.startBridge();
  }, SCENE_TIMEOUT_MS);

  // rule: every-configuration-fault-is-named
  test(
    'all faults of a configuration are in one message, with name and suggestion and without a secret',
    async () => {
      writeFileSync(
        join(scene.folder, 'faulty.json'),
        JSON.stringify({
          projects: { Yard: { directory: 'work' }, deck: { directory: 'nowhere', actions: { silence: 'ignore' } } },
          timings: { runLeaseMs: 5 },
        }),
      );
      const command = await scene.run(['bridge'], {
        WATCHKEEPER_CONFIG: 'faulty.json',
        TELEGRAM_BOT_TOKEN: 'token-hunter2',
        REDIS_URL: 'http://user:hunter2@nowhere',
        AGENT_CONCURRENCY: 'many',
        WATCHDOG_SILENCE: '5',
        WATCHDOG_CRON: 'now and then',
        AGENT_ENV: 'GITHUB_TOKEN',
      });
      expect(command.exit).toMatchObject({ code: 2 });
      const { stderr } = command;
      for (const part of [
        'TELEGRAM_BOT_TOKEN',
        'REDIS_URL',
        'AGENT_CONCURRENCY',
        'WATCHDOG_SILENCE_MS',
        'WATCHDOG_CRON',
        'AGENT_ENV',
        'actions.silence',
        'revive, report, off',
        'runLeaseMs',
      ]) {
        expect(stderr).toContain(part);
      }
      expect(`${command.stdout}${stderr}`).not.toContain('hunter2');
      expect(stderr).not.toMatch(/^\s+at /m);
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'an unreachable Redis is reported plainly: exit code 3, and no password',
    async () => {
      const environment = {
        REDIS_URL: 'redis://user:hunter2@127.0.0.1:1/0',
        WATCHKEEPER_LOGS: join(scene.folder, 'logs-away'),
      };
      const commands = [['sessions'], ['enqueue', '--project', 'x', '--text', 'y'], ['watchdog', '--once']];
      for (const args of commands) {
        const { code, out, err } = await sayIn(scene, args, environment);
        expect(code).toBe(3);
        expect(err).toContain('127.0.0.1:1');
        expect(err).toMatch(/start it|correct its URL/);
        expect(`${out}${err}`).not.toContain('hunter2');
      }
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'an invalid logs folder is refused with an explanation, and nothing hangs',
    async () => {
      for (const logs of ['watchkeeper.config.json', '/dev/null/logs', '/proc/no-logs-here']) {
        const command = await scene.run(['bridge'], { WATCHKEEPER_LOGS: logs });
        expect([logs, command.exit?.code]).toEqual([logs, 2]);
        expect(command.stderr).toMatch(/^watchkeeper: WATCHKEEPER_LOGS: .+\n$/);
      }
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'a chat that no project lists gets an honest reply and an event; nothing runs',
    async () => {
      const message = scene.telegram.say(STRANGERS_CHAT, 'do something');
      const answer = await scene.telegram.waitFor(() => scene.telegram.botMessages(STRANGERS_CHAT)[0], 10_000);
      expect(answer).toMatchObject({ replyTo: message, text: expect.stringContaining('not connected to any project') });
      const event = await scene.until('the event', () =>
        scene.evidence.criticalEvents().find((each) => each.event === 'message_unroutable'),
      );
      expect(event).toMatchObject({ details: { chat_id: String(STRANGERS_CHAT) }, session_id: null, final: true });
      expect(scene.evidence.agents().filter(({ session }) => session.includes(String(STRANGERS_CHAT)))).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-stranger-runs-nothing
  test(
    'a sender who is not allowed is notified; nothing runs',
    async () => {
      const asked = new Conversation(scene, 'yard', -2, 'leaves', { userId: STRANGER });
      const answer = await scene.telegram.waitFor(() => scene.telegram.botMessages(-2)[0], 10_000);
      expect(answer).toMatchObject({ replyTo: asked.messageId, text: expect.stringContaining(String(STRANGER)) });
      expect(await scene.store.records.session(asked.session)).toBeNull();
      expect(asked.starts()).toEqual([]);
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-crash-has-a-reason
  test(
    'an agent that exits at once, is killed, or prints garbage or a line of 50 MB: an incident with a reason',
    async () => {
      const chats = [-3, -4, -5, -6];
      // One after the other: many at once would be an outage of the provider.
      for (const [index, [text, reason]] of Object.entries(REASONS).entries()) {
        const conversation = new Conversation(scene, 'yard', chats[index] ?? 0, text);
        await conversation.answered(FAILURE_PARAGRAPH);
        for (const session of [conversation.session, conversation.revival]) {
          const closing = await conversation.closing(session);
          expect(closing).toMatchObject({ rule: 'crash', reason });
          expect(conversation.events(session).filter((event) => stepOf(event) === 'detected')).toHaveLength(1);
          const journal = readFileSync(journalPath(scene.logs, session), 'utf8');
          expect(journal.length).toBeLessThan(100_000);
          for (const line of journal.trimEnd().split('\n')) expect(JSON.parse(line)).toMatchObject({ v: 1 });
        }
      }
      expect(bridge.exit).toBeNull();
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: a-missing-agent-is-reported
  test(
    'a missing agent is reported at once, without a second attempt; only the log has its path',
    async () => {
      const scenario = join(scene.folder, 'scenarios', 'missing.json');
      const asked = [
        { conversation: new Conversation(scene, 'missing', -7, 'anything'), said: 'missing.json', logged: scenario },
        {
          conversation: new Conversation(scene, 'nowhere', -8, 'anything'),
          said: 'the program no-such-agent-anywhere was not found',
          logged: 'its program is no-such-agent-anywhere (ENOENT)',
        },
      ];
      for (const { conversation, said, logged } of asked) {
        const { text } = await conversation.answered(FAILURE_PARAGRAPH);
        expect(text).toContain(said);
        expect(text).toContain('I will not try again: something that the agent needs to start is missing');
        expect(text).not.toContain(scene.folder);
        expect(text).not.toContain('ENOENT');
        const closing = await conversation.closing();
        expect(closing).toMatchObject({ event: 'session_unrecoverable', reason: 'run_failed_to_start' });
        expect(await scene.store.records.session(conversation.revival)).toBeNull();
        expect(scene.evidence.logLines().filter(({ msg }) => msg.includes(logged))).toHaveLength(1);
      }
    },
    SCENE_TIMEOUT_MS,
  );

  // rule: an-agent-that-asks-ends
  test(
    'an agent that asks a question gets no answer, on stdin or a terminal: it ends, and the question is shown',
    async () => {
      const asked = new Conversation(scene, 'asks', -9, 'tidy up');
      const fromTerminal = new Conversation(scene, 'terminal', -10, 'tidy up');
      expect((await asked.answered(FAILURE_PARAGRAPH)).text).toContain('Overwrite everything? [y/N]');
      expect((await fromTerminal.answered(FAILURE_PARAGRAPH)).text).toContain('/dev/tty');
      expect(await asked.closing()).toMatchObject({ rule: 'crash', reason: 'run_failed_exit_7' });
      expect(await fromTerminal.closing()).toMatchObject({ rule: 'crash' });
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'ids that could leave the logs folder are refused, and no file is created',
    async () => {
      const before = filesOf(scene);
      for (const args of REFUSED_COMMANDS) {
        const { code, out, err } = await sayIn(scene, args);
        // The words of session memory refuse in JSON, if JSON is asked for.
        const isMemory = args[0] === 'work' || args[0] === 'track';
        const said = isMemory && args.includes('--json') ? expect.stringMatching(/^\{"code":"usage","message":/) : '';
        expect([args, code, out]).toEqual([args, 2, said]);
        expect(err).toMatch(/^watchkeeper: .+\n$/);
      }
      expect(filesOf(scene)).toEqual(before);
    },
    SCENE_TIMEOUT_MS,
  );
});

/** @returns the files of the scene, without what the scene itself writes of its processes */
function filesOf({ folder }: BridgeScene): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('process-'))
    .sort();
}
