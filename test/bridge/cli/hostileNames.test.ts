/**
 * Names, paths, titles and words of others in every place that takes one, and all that is printed of them: no line is forged, and
 * nothing is there that a terminal or a model would obey.
 */
// covers: bridge/command/command.ts
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { sayEach } from '../../../bridge/command/command.js';
import { visible } from '../../../src/log/visibleText.js';
import { isoTime } from '../../../src/time.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS, sayIn } from '../../e2e/testScene.js';
import { testFolder } from '../../harness/folder.js';
import { hook, payload } from '../hook/hookScene.js';
import { expectHarmless, HOSTILE, LONG, WITH_NUL } from './hostileNames.js';
import { watchkeeperAgain } from './manyCalls.js';
import type { Said } from './program.js';
import { WorkScene } from './work/scene.js';

interface Place {
  readonly home: string;
  readonly work: string;
  readonly session: string;
  readonly id: string;
  say(...args: string[]): Promise<Said>;
}

const AGENT = { host: HOSTILE, boot_id: 'another', pid: 1, pid_start: '1', pid_namespace: '' };
const NOW = Date.now();

/** Everything that a line of a worklog may name, written as another program would. */
function linesOfOthers(id: string): object[] {
  const name = WITH_NUL;
  return [
    { event: 'session_changed', name, role: name, framework: name, documents: { plan: { path: name, digest: 'x' } } },
    { event: 'run_started', process: AGENT, agent: name, run_id: name },
    { event: 'conversation', provider: 'claude', conversation: name, source: 'startup', transcript: name, cwd: name },
    { event: 'step_added', step: '7', title: name, agents: [name], planned_files: [name] },
    { event: 'step_added', step: name, title: LONG, external_id: name, priority: 'high', blocked_by: ['7'] },
    { event: 'step', step: '7', to: 'in_progress', title: name, paths: [name] },
    {
      ...{ event: 'step', step: '7', to: 'failed', reason: name, output: name },
      ...{ context: { assumptions: [name], [name]: [name] }, validation: { passed: false, details: name } },
      ...{ no_context_reason: name, files: { created: [name], modified: [`${name}2`], deleted: [] } },
    },
    { event: 'step_added', step: `8${name}`, title: name },
    {
      ...{ event: 'step', step: `8${name}`, to: 'in_progress', agent: name, call: name },
      holder: { conversation: { provider: name, conversation: name } },
    },
    { event: 'file', path: name, to: 'working', step: '7' },
    { event: 'note', text: name, priority: 'critical' },
    { event: 'log', message: name, step: '7' },
    { event: 'ping', detail: name, until: isoTime(NOW - 1) },
    { event: 'checkpoint', name, head: name, branch: name, dirty_digest: null, untracked_digest: null, dirty: 0 },
    { event: 'error', agent: name, type: 'runtime', message: name, resolution: name, resolved: false, step: '7' },
    { event: 'tokens', agent: name, input: 1, output: 1, cached: 0, step: '7' },
    { event: 'wait_start', kind: name, tool: name },
    { event: 'notice', rule: name, since: isoTime(NOW), sentence: name },
    { event: 'child', child: name, most: 10 },
    { event: 'kept', failure: name },
  ].map((line, index) => ({
    ...{ v: 1, id: `01KA${String(index).padStart(2, '0')}`, timestamp: isoTime(NOW), origin: 'program' },
    ...{ session_id: id, ...line },
  }));
}

async function hostile(): Promise<Place> {
  const folder = testFolder();
  const [home, work] = [join(folder, HOSTILE.replaceAll('/', ''), 'home'), join(folder, 'work', HOSTILE)];
  mkdirSync(work, { recursive: true });
  const git = (...args: string[]) => execFileSync('git', ['-C', work, ...args], { stdio: 'ignore' });
  git('init', '--quiet');
  writeFileSync(join(work, HOSTILE), 'x');
  git('add', '.');
  git('-c', 'user.name=x', '-c', 'user.email=x', 'commit', '--quiet', '-m', HOSTILE);
  const variables = { WATCHKEEPER_HOME: home, HOME: folder };
  const scene = new WorkScene();
  const say = async (...args: string[]) => {
    const [name, ...more] = args;
    if (name !== 'track' && name !== 'work')
      return watchkeeperAgain(work, args, { ...variables, XDG_CONFIG_HOME: folder });
    return asPrinted(await scene.say(name, more, { where: work, variables }));
  };
  const made = await say('track', 'init', HOSTILE, '--step', HOSTILE, '--step', 'b', '--name', HOSTILE, '--json');
  const { session_id: id, folder: session } = JSON.parse(made.out);
  return { home, work, session, id, say };
}

/** As the program prints it: the words of session memory need no process each, the other commands are real ones. */
function asPrinted({ code, out, err }: Said): Said {
  const said: string[] = [];
  if (err !== '') sayEach({ stderr: (text) => said.push(visible(text)) }, [`watchkeeper: ${err.trimEnd()}`]);
  return { code, out: visible(out), err: said.join('') };
}

function expectAllHarmless(words: readonly string[], { out, err, code }: Said, isJson = false): void {
  const what = words.join(' ').slice(0, 60);
  expect([what, code === null]).toEqual([what, false]);
  expectHarmless(what, out);
  expectHarmless(`${what}: standard error`, err);
  if (isJson && out !== '') for (const line of out.trimEnd().split('\n')) JSON.parse(line);
}

describe('names of others', () => {
  let place: Place;
  beforeAll(async () => {
    place = await hostile();
  });

  test('are harmless in what a command says of its own work', async () => {
    const { say, id } = place;
    for (const words of [
      ['track', 'step', '1', '--start', '--file', HOSTILE],
      ['track', 'step', '1', '--fail', HOSTILE],
      ['track', 'step', '1', '--retry', '--override', HOSTILE],
      ['track', 'step', HOSTILE, '--start'],
      ['track', 'step', '--add', HOSTILE],
      ['track', 'file', HOSTILE, '--working'],
      ['track', 'file', HOSTILE, '--rename', `${HOSTILE}2`],
      ['track', 'ping', '--detail', HOSTILE],
      ['track', 'ping', '--for', HOSTILE],
      ['track', 'log', HOSTILE, '--step', HOSTILE],
      ['track', 'note', HOSTILE, '--priority', HOSTILE],
      ['track', 'note', HOSTILE, '--workspace'],
      ['track', 'checkpoint', HOSTILE],
      ['track', 'checkpoint', '--verify', HOSTILE],
      ['track', 'checkpoint', '--verify', 'none'],
      ['track', 'checkpoint', '--drop', 'none'],
      ['track', 'checkpoint', '--drop', HOSTILE],
      ['track', 'checkpoint', HOSTILE],
      ['track', 'sync', HOSTILE],
      ['track', 'monitor', '--check', '--interval', HOSTILE],
      ['track', 'resume', HOSTILE],
      ['track', 'resume', `./${HOSTILE}`],
      ['track', 'init', HOSTILE],
      ['track', 'init', HOSTILE, '--session', HOSTILE],
      ['track', 'done', '--as', HOSTILE],
      ['track', HOSTILE],
      ['track', `--${HOSTILE}`],
      ['track', 'status', '--session', HOSTILE],
      ['track', 'status', '--dir', `/proc/${HOSTILE}`],
      ['track', 'status', HOSTILE],
      ['work', 'set', `purpose=${HOSTILE}`, `role=${HOSTILE}`],
      ['work', 'set', HOSTILE],
      ['work', 'set', `documents.plan=${HOSTILE}`],
      ['work', 'show', HOSTILE],
      ['work', 'start', '--purpose', HOSTILE, '--concurrent'],
      ['work', 'start', '--purpose', HOSTILE, '--parent', HOSTILE],
      ['work', 'end', id, '--as', HOSTILE],
      ['work', 'export', id, '--format', HOSTILE, '--out', 'out'],
      ['work', 'purge', '--older-than', HOSTILE],
      ['work', HOSTILE],
      ['session', HOSTILE],
      ['cancel', HOSTILE],
      ['assess', HOSTILE],
      ['import', HOSTILE],
      ['import', HOSTILE, '--out', `/proc/${HOSTILE}`],
      ['backtest', HOSTILE, '--labels', HOSTILE],
      ['events', HOSTILE],
      ['events', 'ack', HOSTILE],
      ['events', '--since', HOSTILE],
      ['enqueue', '--project', HOSTILE, '--text', HOSTILE],
      ['plugin', HOSTILE],
      ['plugin', 'install', '--agent', HOSTILE],
      ['plugin', 'install', '--print'],
      ['plugin', 'remove', '--print'],
      ['help', HOSTILE],
      [HOSTILE],
    ])
      expectAllHarmless(words, await say(...words));
  });

  test('are harmless in a critical event that somebody else has written', () => {
    const folder = testFolder();
    const event = {
      ...{
        v: 1,
        id: 'a.detected',
        incident_id: 'a',
        final: false,
        timestamp: isoTime(NOW),
        event: 'session_unhealthy',
      },
      ...{ session_id: HOSTILE, project_key: HOSTILE, reason: HOSTILE, rule: HOSTILE, action_taken: HOSTILE },
      ...{ github_issue: HOSTILE, details: { [HOSTILE]: HOSTILE }, untrusted_excerpt: HOSTILE },
    };
    writeFileSync(join(folder, 'critical_events.jsonl'), `${JSON.stringify(event)}\n`);
    for (const words of [['events'], ['events', '--after', 'start'], ['events', '--json']]) {
      const said = watchkeeperAgain(folder, words, { WATCHKEEPER_LOGS: folder });
      expect(said).toMatchObject({ code: 1, out: expect.stringContaining('session_unhealthy') });
      expectAllHarmless(words, said, words.includes('--json'));
    }
  });

  test('are harmless in what is shown of a session, for people, for programs, and in its files', async () => {
    const { say, id, session, home, work } = place;
    const { refused } = JSON.parse((await say('work', 'show', id, '--json')).out).log;
    appendFileSync(
      join(session, 'worklog.jsonl'),
      linesOfOthers(id)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    );
    await say('track', 'scan');
    // Every line that names something counts.
    expect(JSON.parse((await say('work', 'show', id, '--json')).out).log).toMatchObject({ unreadable: 0, refused });
    writeFileSync(join(work, `${HOSTILE}3`), 'x');
    const shown = [
      ...['status', 'resume', 'crash-detect', 'sync', 'scan', 'done'].map((word) => ['track', word, '--session', id]),
      ...[['--list'], ['--verify', WITH_NUL.slice(0, -1)]].map((more) => [
        'track',
        'checkpoint',
        ...more,
        '--session',
        id,
      ]),
      ['track', 'monitor', '--check', '--session', id],
      ['track', 'init', 'another'],
      ...['show', 'verify', 'rebuild', 'export', 'keep', 'purge', 'continue'].map((word) => ['work', word, id]),
      ['work', 'export', id, '--format', 'session-tracker', '--out', join(work, 'out')],
      ['work', 'list'],
      ['work', 'list', '--here'],
      ['work', 'keep'],
      ['sessions'],
      ['session', id],
      ['plugin', 'status'],
    ];
    for (const words of shown) {
      expectAllHarmless(words, await say(...words));
      expectAllHarmless(words, await say(...words, '--json'), true);
    }
    expect((await say('track', 'status', '--session', id)).out).toContain('\\nFORGED');
    const text = readFileSync(join(session, 'session.md'), 'utf8');
    expectHarmless('session.md', text);
    // As YAML has it: a program reads the same name.
    expect(text).toMatch(/^task: "x\\nFORGED.*\\U000e006f\\U000e0062/m);
    for (const [event, more] of [
      ['SessionStart', { source: 'startup' }],
      ['SessionStart', { source: 'startup', session_id: HOSTILE, transcript_path: `/${HOSTILE}` }],
      ['SubagentStart', { agent_id: HOSTILE, agent_type: HOSTILE }],
      ['SessionStart', { source: 'compact', session_id: HOSTILE }],
      [HOSTILE, {}],
    ] as const) {
      const { out, said, code } = await hook({ home, work }, payload({ home, work }, event, more), {
        HOME: home,
        WATCHKEEPER_HOST: 'host',
      });
      expect([event, code]).toEqual([event, 0]);
      expectHarmless(`${event}: standard error`, said);
      const { hookSpecificOutput, systemMessage } = out === '' ? ({} as Record<string, never>) : JSON.parse(out);
      expectHarmless(`${event}: context`, hookSpecificOutput?.additionalContext ?? '');
      expectHarmless(`${event}: message`, systemMessage ?? '');
      if (event === 'SessionStart' && !('session_id' in more))
        expect(hookSpecificOutput.additionalContext).toContain('\\nFORGED');
    }
    for (const words of [
      ['work', 'end', id],
      ['work', 'archive', id],
      ['work', 'unarchive', id],
      ['work', 'reopen', id],
      ['work', 'purge', id, '--yes'],
    ])
      expectAllHarmless(words, await say(...words));
  });
});

describeScenes('names of others that a bridge has met', () => {
  test(
    'are harmless in everything that is printed of its sessions, incidents and events, by the doctor, and in an issue',
    async () => {
      const scene = await openTestScene({
        projects: {
          boat: {
            chats: [{ id: 1 }],
            scenarios: [
              {
                steps: [
                  { do: 'call', tool: HOSTILE, input: { command: HOSTILE }, output: HOSTILE },
                  { do: 'note', text: HOSTILE },
                  { do: 'silence' },
                ],
              },
            ],
            actions: { silence: 'report' },
          },
        },
        environment: { WATCHDOG_SILENCE_MS: '1000' },
      });
      await scene.startBridge();
      const messageId = scene.telegram.say(1, HOSTILE, { userId: 1, name: HOSTILE });
      const session = `tg_boat_1_${messageId}`;
      await scene.until('the incident', () => scene.evidence.criticalEvents().length > 0);
      await scene.until('the issue', () => scene.github.issues().length > 0);
      const work = join(scene.folder, HOSTILE.replaceAll('/', ''));
      mkdirSync(work);
      const broken = { WATCHKEEPER_HOME: join(work, 'home') };
      writeFileSync(join(work, 'home'), '');
      for (const [words, environment] of [
        [['sessions']],
        [['session', session]],
        [['incidents']],
        [['events']],
        [['events', '--after', 'start']],
        [['watchdog', '--once', '--dry-run']],
        [['assess', scene.logs]],
        [['assess', scene.logs, '--replay']],
        [['backtest', scene.logs]],
        [['work', 'list', '--dir', scene.logs]],
        [['work', 'show', session, '--dir', scene.logs]],
        [['track', 'resume', session, '--dir', scene.logs]],
        [['doctor', '--quick'], broken],
        [['daydream']],
        [['cancel', session]],
        [['session', session]],
      ] as const)
        for (const json of [[], ['--json']]) {
          const said = await sayIn(scene, [...words, ...json], environment);
          expectAllHarmless([`${words.join(' ')} ${json}`], said, json.length > 0);
        }
      // A name is no text of several lines.
      expect((await sayIn(scene, ['session', session])).out).toMatch(/^asked .* by x\\nFORGED/m);
      for (const { title, body } of scene.github.issues()) expectHarmless('the issue', `${title}\n${body}`);
    },
    SCENE_TIMEOUT_MS,
  );
});
