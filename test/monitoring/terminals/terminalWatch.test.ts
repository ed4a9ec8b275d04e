// covers: monitoring/terminals/notices.ts monitoring/terminals/terminalSession.ts monitoring/terminals/directoryRules.ts
// covers: monitoring/terminals/notices.ts monitoring/lateness/ownGaps.ts
/** The watch of terminals: who is noticed, when, how often, and who is not. Transcripts and worklogs are real; time is the test's. */

import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { closeNotice, openNotice } from '../../../monitoring/terminals/notices.js';
import { TerminalWatch } from '../../../monitoring/terminals/terminalWatch.js';
import { silenceFinding } from '../../../monitoring/verdict/detectors/silence.js';
import { canonicalJson, contentDigest } from '../../../src/journal/digest.js';
import { DAY, HOUR, MINUTE, SECOND } from '../../../src/time.js';
import { asks, calls, claude, returns, says } from '../../src/transcripts/told.js';
import { DEAD, type TerminalAgent, TerminalScene } from './terminalScene.js';

/** In seconds: a turn that begins now and calls a tool which never answers. */
function hangingTurn(at: number, input: object = { command: 'make', timeout: 60_000 }) {
  return [asks(at, 'go on', { permissionMode: 'bypassPermissions' }), calls(at + 1, `t${at}`, 'Bash', { ...input })];
}

/** A call in a message of its own. */
function message(at: number, id: string, command: string) {
  const content = [{ type: 'tool_use', id, name: 'Bash', input: { command } }];
  return claude(at, 'assistant', { message: { id: `m-${id}`, role: 'assistant', content, stop_reason: 'tool_use' } });
}

/** The call's own time and a minute, then what is left of ten minutes since its last sign of life. */
const SILENT_AFTER_MS = 10 * MINUTE;

describe('an agent in a terminal', () => {
  test('that goes silent in its turn is noticed once, within a second, in minutes; when it goes on, that is closed; and again', async () => {
    const scene = new TerminalScene();
    const agent = scene.agent();
    const watch = scene.watch();
    await scene.pass(MINUTE, watch);
    agent.writes(...hangingTurn(scene.seconds));
    await scene.pass(SECOND + SILENT_AFTER_MS, watch);
    expect(agent.notices).toEqual([]);
    await scene.pass(SECOND, watch);
    expect(agent.notices).toEqual(['notice']);
    const [noticed] = scene.noticed;
    expect(noticed?.notice.sentence).toMatch(
      /^The agent was stuck in Bash for 10 minutes\. If it only needs more time: watchkeeper track ping --for 30m --session ses_\w+\. Else interrupt it and ask for smaller steps, or stop it and go on from its record: watchkeeper track resume ses_\w+$/,
    );
    await scene.pass(HOUR, watch);
    expect(agent.notices).toEqual(['notice']);
    const back = scene.seconds;
    agent.writes(returns(back, `t${back - 3_600 - 602}`), calls(back + 1, 'again', 'Bash', { timeout: 1_000 }));
    await scene.pass(20 * SECOND, watch);
    expect(agent.notices).toEqual(['notice', 'notice_closed']);
    await scene.pass(SILENT_AFTER_MS, watch);
    expect(agent.notices).toEqual(['notice', 'notice_closed', 'notice']);
    expect(scene.noticed).toHaveLength(2);
  });

  test('that fails call after call, or repeats itself, is noticed, too', async () => {
    const scene = new TerminalScene();
    const [failing, looping] = [scene.agent(), scene.agent()];
    const at = scene.seconds;
    failing.writes(asks(at, 'go'));
    looping.writes(asks(at, 'go'));
    for (let index = 1; index <= 6; index += 1) {
      const at = scene.seconds + index;
      failing.writes(message(at, `f${index}`, `${index}`), returns(at, `f${index}`, 'no', true));
      looping.writes(message(at, `l${index}`, 'same'), returns(at, `l${index}`, 'same'));
    }
    await scene.pass(20 * SECOND, scene.watch());
    expect(scene.noticed.map(({ notice, sight }) => [sight.id, notice.rule])).toEqual(
      expect.arrayContaining([
        [failing.id, 'error_cascade'],
        [looping.id, 'loop'],
      ]),
    );
  });

  test('is left alone: in a long call with a declared time, in a dialog, after Esc, after its turn, with a ping, when it has ended', async () => {
    const scene = new TerminalScene();
    const watch = scene.watch();
    const at = scene.seconds;
    const declared = scene.agent();
    declared.writes(asks(at, 'go'), calls(at + 1, 't', 'Bash', { command: 'make', timeout: 20 * MINUTE }));
    const dialog = scene.agent();
    dialog.writes(asks(at, 'go'), calls(at + 1, 't', 'Bash', { command: 'rm -r build' }));
    const stopped = scene.agent();
    const interruption = {
      role: 'user',
      content: [{ type: 'text', text: '[Request interrupted by user for tool use]' }],
    };
    stopped.writes(
      asks(at, 'go'),
      calls(at + 1, 't'),
      returns(at + 2, 't', 'rejected', true),
      claude(at + 2, 'user', { message: interruption }),
    );
    const done = scene.agent();
    done.writes(asks(at, 'go'), calls(at + 1, 't'), returns(at + 2, 't'), says(at + 3, 'All done.'));
    const gone = scene.agent(DEAD);
    gone.writes(asks(at, 'go'), calls(at + 1, 't'));
    const left = scene.agent();
    left.writes(asks(at, 'go'), calls(at + 1, 't'));
    left.ends();
    const excused = scene.agent();
    excused.writes(asks(at, 'go'), says(at + 1, 'I think.', 'tool_use'));
    excused.pings(HOUR);
    await scene.pass(2 * SECOND, watch);
    dialog.asksPermission('Bash');
    await scene.pass(20 * MINUTE - 3 * SECOND, watch);
    declared.writes(returns(at + 1_200, 't'), says(at + 1_201, 'Made.', 'end_turn'));
    await scene.pass(8 * HOUR, watch);
    expect(scene.noticed.map(({ sight }) => sight.id)).toEqual([excused.id]);
    expect(excused.notices).toEqual(['notice']);
  });

  test('is excused by a ping until that ends, and then accused from its last activity', async () => {
    const scene = new TerminalScene();
    const watch = scene.watch();
    const agent = scene.agent();
    agent.writes(asks(scene.seconds, 'go'), says(scene.seconds, 'I think.', 'tool_use'));
    agent.pings(30 * MINUTE);
    await scene.pass(30 * MINUTE, watch);
    expect(scene.noticed).toEqual([]);
    await scene.pass(SECOND, watch);
    expect(scene.noticed[0]?.notice.sentence).toContain('said nothing for 30 minutes');
  });

  test('is not accused for the time in which the laptop slept', async () => {
    const scene = new TerminalScene();
    const watch = scene.watch();
    const agent = scene.agent();
    agent.writes(asks(scene.seconds, 'go'), says(scene.seconds, 'I think.', 'tool_use'));
    scene.pulse();
    await watch.start();
    await scene.memory.clock.advance(5 * MINUTE);
    await scene.memory.clock.stall(2 * HOUR);
    await scene.memory.clock.advance(9 * MINUTE);
    expect(scene.noticed).toEqual([]);
    await scene.memory.clock.advance(MINUTE + SECOND);
    expect(scene.noticed).toHaveLength(1);
    await watch.stop();
  });

  test('that may be asking is left alone for hours, but not once its hooks have spoken of a dialog', async () => {
    const scene = new TerminalScene();
    const watch = scene.watch();
    const [silent, speaking] = [scene.agent(), scene.agent()];
    const at = scene.seconds;
    for (const agent of [silent, speaking]) agent.writes(asks(at, 'go'), calls(at + 1, 't1'));
    await scene.pass(2 * SECOND, watch);
    speaking.asksPermission('Bash');
    await scene.pass(MINUTE, watch);
    for (const agent of [silent, speaking])
      agent.writes(returns(at + 62, 't1'), calls(at + 62, 't2', 'Bash', { timeout: 60_000 }));
    await scene.pass(11 * MINUTE, watch);
    expect(scene.noticed.map(({ sight }) => sight.id)).toEqual([speaking.id]);
    await scene.pass(4 * HOUR, watch);
    expect(scene.noticed.map(({ sight }) => sight.id)).toEqual([speaking.id, silent.id]);
  });

  test('whose notice is closed because it died is not said to go on', async () => {
    const scene = new TerminalScene();
    const watch = scene.watch();
    const agent = scene.agent();
    agent.writes(...hangingTurn(scene.seconds));
    await scene.pass(SILENT_AFTER_MS + MINUTE, watch);
    await agent.dies();
    await scene.pass(MINUTE, watch);
    expect(agent.notices).toEqual(['notice', 'notice_closed']);
    expect(scene.logged.join('\n')).toMatch(
      /the agent of session ses_\w+ has died; to go on from its record: watchkeeper/,
    );
    expect(scene.logged.join('\n')).not.toContain('goes on');
  });

  test('that was resumed owes nothing of what its killed process has left, until it is asked for more', async () => {
    const scene = new TerminalScene();
    const watch = scene.watch();
    const killed = scene.agent(DEAD);
    killed.writes(...hangingTurn(scene.seconds));
    await scene.pass(2 * HOUR, watch);
    const agent = scene.resumed(killed);
    expect(agent.id).toBe(killed.id);
    await scene.pass(HOUR, watch);
    expect(scene.noticed).toEqual([]);
    agent.writes(...hangingTurn(scene.seconds));
    await scene.pass(2 * SECOND + SILENT_AFTER_MS, watch);
    expect(agent.notices).toEqual(['notice']);
  });

  test('is watched from its first prompt, with which its program begins the transcript, however late that is', async () => {
    const scene = new TerminalScene();
    const watch = scene.watch();
    const agent = scene.agent();
    rmSync(agent.launch.transcript);
    await scene.pass(10 * MINUTE, watch);
    agent.writes(...hangingTurn(scene.seconds));
    await scene.pass(2 * SECOND + SILENT_AFTER_MS, watch);
    expect(agent.notices).toEqual(['notice']);
  });

  test.each<[string, (other: TerminalAgent) => unknown]>([
    ['has ended', (other) => other.ends()],
    ['was killed', (other) => other.dies()],
  ])('is watched on after another one that resumed its conversation %s', async (_, leave) => {
    const scene = new TerminalScene();
    const watch = scene.watch();
    const agent = scene.agent();
    agent.writes(asks(scene.seconds, 'go'), says(scene.seconds + 1, 'Done.', 'end_turn'));
    const other = scene.resumed(agent);
    expect(other.id).toBe(agent.id);
    await scene.pass(MINUTE, watch);
    await leave(other);
    await scene.pass(MINUTE, watch);
    expect(watch.live).toHaveLength(1);
    agent.writes(...hangingTurn(scene.seconds));
    await scene.pass(2 * SECOND + SILENT_AFTER_MS, watch);
    expect(agent.notices).toEqual(['notice']);
  });

  test('is judged by the conversation that was resumed last, whichever began last', async () => {
    const scene = new TerminalScene();
    const watch = scene.watch();
    const first = scene.agent(DEAD);
    first.writes(asks(scene.seconds, 'go'), says(scene.seconds + 1, 'Done.', 'end_turn'));
    const second = scene.cleared(first);
    second.writes(...hangingTurn(scene.seconds));
    await scene.pass(MINUTE, watch);
    const agent = scene.resumed(first);
    expect([second.id, agent.id]).toEqual([first.id, first.id]);
    await scene.pass(HOUR, watch);
    expect(scene.noticed).toEqual([]);
    agent.writes(...hangingTurn(scene.seconds));
    await scene.pass(2 * SECOND + SILENT_AFTER_MS, watch);
    expect(agent.notices).toEqual(['notice']);
  });

  test('of which nobody has said which process it is cannot be told from one that is gone, and is left alone', async () => {
    const scene = new TerminalScene();
    const agent = scene.agent(null);
    agent.writes(...hangingTurn(scene.seconds));
    await scene.pass(HOUR, scene.watch());
    expect(scene.noticed).toEqual([]);
  });

  test('whose dialog is open for one of two calls is watched for the other', async () => {
    const scene = new TerminalScene();
    const watch = scene.watch();
    const agent = scene.agent();
    const at = scene.seconds;
    const [quick, asking] = [{ command: 'make', timeout: 60_000 }, { command: 'rm -r build' }];
    const mode = { permissionMode: 'bypassPermissions' };
    agent.writes(asks(at, 'go', mode), calls(at + 1, 't1', 'Bash', quick), calls(at + 1, 't2', 'Bash', asking));
    await scene.pass(2 * SECOND, watch);
    agent.asksPermission('Bash', contentDigest(canonicalJson(asking)));
    await scene.pass(SILENT_AFTER_MS + SECOND, watch);
    expect(scene.noticed.map(({ sight }) => sight.id)).toEqual([agent.id]);
  });
});

describe('several watchers', () => {
  test('that find it at the same instant write one line, and the rules of the log apply one', () => {
    const scene = new TerminalScene();
    const agent = scene.agent();
    const finding = silenceFinding({ clockMs: 1, countedFrom: 0, silentFrom: 0 }, 1);
    const notices = [openNotice(scene.open(), agent.id, finding), openNotice(scene.open(), agent.id, finding)];
    expect(notices).toEqual([expect.objectContaining({ rule: 'silence' }), null]);
    expect(agent.notices).toEqual(['notice']);
    const line = worklogKind.line('notice', { rule: 'loop', since: null, sentence: 'too late' });
    const { log } = scene.open().sessions.open(agent.id) ?? {};
    expect(log?.write(() => [line], scene.open().stamp)).toMatchObject([{ code: 'noticed' }]);
    expect(log?.state.notices).toMatchObject([{ rule: 'silence' }]);
    const [notice] = notices;
    if (notice == null) throw new Error('nobody has noticed it');
    const closed = () => closeNotice(scene.open(), agent.id, notice);
    expect([closed(), closed()]).toEqual([true, false]);
    log?.close();
  });

  test('of one home notice once, and each hears of it', async () => {
    const scene = new TerminalScene();
    const agent = scene.agent();
    agent.writes(...hangingTurn(scene.seconds));
    await scene.pass(SILENT_AFTER_MS + MINUTE, scene.watch(), scene.watch());
    expect(agent.notices).toEqual(['notice']);
    const [one, other] = scene.noticed;
    expect(scene.noticed).toHaveLength(2);
    expect(other?.notice).toEqual(one?.notice);
  });

  test('of which one has narrower limits, or does not act on the rule, notice once what lasts, and close it once', async () => {
    const scene = new TerminalScene();
    const agent = scene.agent();
    const watches = [
      watchWith(scene, { thresholds: { loop_repeats: 3 } }),
      scene.watch(),
      watchWith(scene, { actions: { loop: 'off' } }),
    ];
    agent.writes(asks(scene.seconds, 'go'));
    for (let index = 0; index < 9; index += 1) {
      agent.writes(message(scene.seconds, `l${index}`, 'same'), returns(scene.seconds, `l${index}`, 'same'));
      await scene.pass(20 * SECOND, ...watches);
    }
    expect(agent.notices).toEqual(['notice']);
    for (const command of ['another', 'a third', 'a fourth']) {
      agent.writes(message(scene.seconds, command, command), returns(scene.seconds, command, command));
      await scene.pass(20 * SECOND, ...watches);
    }
    expect(agent.notices).toEqual(['notice', 'notice_closed']);
  });

  test('of which one has narrower limits notice one silent sub-agent beside a busy one once', async () => {
    const scene = new TerminalScene();
    const agent = scene.agent();
    const narrow = watchWith(scene, { thresholds: { silence_ms: 3 * MINUTE } });
    const wide = scene.watch();
    const at = scene.seconds;
    const of = (id: string, parentToolUseID: string) => ({ isSidechain: true, agentId: id, parentToolUseID });
    agent.writes(
      asks(at, 'go', { permissionMode: 'bypassPermissions' }),
      calls(at, 'T1', 'Task'),
      calls(at, 'T2', 'Task'),
    );
    agent.writes(calls(at + 1, 'hangs', 'Bash', { command: 'x', timeout: 1_000 }, of('silent', 'T2')));
    const work = async (...watches: readonly TerminalWatch[]) => {
      for (let index = 0; index < 9; index += 1) {
        const id = `w${scene.seconds}`;
        agent.writes(calls(scene.seconds, id, 'Bash', { command: id }, of('busy', 'T1')));
        agent.writes(returns(scene.seconds, id, id, false, of('busy', 'T1')));
        await scene.pass(30 * SECOND, ...watches);
      }
    };
    await work(narrow, wide);
    expect(agent.notices).toEqual(['notice']);
    // Whoever has noticed it is gone.
    agent.writes(returns(scene.seconds, 'hangs', 'done', false, of('silent', 'T2')));
    await work(wide);
    expect(agent.notices).toEqual(['notice', 'notice_closed']);
  });

  test('of which one does not act: it looks at nothing', async () => {
    const scene = new TerminalScene();
    scene.agent().writes(...hangingTurn(scene.seconds));
    scene.isActing = false;
    await scene.pass(SILENT_AFTER_MS + MINUTE, scene.watch());
    expect(scene.noticed).toEqual([]);
  });

  test('of which one did not act at the instant: it notices as soon as it acts', async () => {
    const scene = new TerminalScene();
    const watch = scene.watch();
    scene.agent().writes(...hangingTurn(scene.seconds));
    await scene.pass(SILENT_AFTER_MS - MINUTE, watch);
    scene.isActing = false;
    await scene.pass(2 * MINUTE, watch);
    expect(scene.noticed).toEqual([]);
    scene.isActing = true;
    await scene.pass(SECOND, watch);
    expect(scene.noticed).toHaveLength(1);
  });
});

describe('a watch', () => {
  test('is told again of a notice that could not be told, and of one that another process has left', async () => {
    const scene = new TerminalScene();
    const agent = scene.agent();
    agent.writes(...hangingTurn(scene.seconds));
    await scene.pass(SILENT_AFTER_MS + MINUTE, scene.watch());
    const { context, told, failures } = failingOnce(scene);
    const watch = new TerminalWatch(context);
    await scene.pass(MINUTE, watch);
    expect([failures.length, told.length]).toEqual([1, 1]);
    expect(agent.notices).toEqual(['notice']);
  });

  test('that could not look at the instant looks again at its next round', async () => {
    const scene = new TerminalScene();
    const context = scene.context();
    let isBroken = false;
    const rulesIn = (directory: string | null) => {
      if (isBroken && directory !== null) throw new Error('the settings cannot be read');
      return context.rulesIn(directory);
    };
    const watch = new TerminalWatch({ ...context, rulesIn });
    scene.agent().writes(...hangingTurn(scene.seconds));
    await scene.pass(SILENT_AFTER_MS - MINUTE, watch);
    isBroken = true;
    await scene.pass(2 * MINUTE, watch);
    isBroken = false;
    await scene.pass(MINUTE, watch);
    expect(scene.noticed).toHaveLength(1);
  });

  test('that fails as a whole at the instant tries again every second, and forgets nobody', async () => {
    const scene = new TerminalScene();
    const context = scene.context();
    let isBroken = false;
    const refresh = async () => {
      if (isBroken) throw new Error('Redis is gone');
      await context.gaps.refresh();
    };
    const { gaps } = context;
    const broken = { now: () => gaps.now(), of: gaps.of.bind(gaps), refresh } as unknown as typeof gaps;
    const watch = new TerminalWatch({ ...context, gaps: broken });
    scene.agent().writes(...hangingTurn(scene.seconds));
    await watch.start();
    await scene.memory.clock.advance(SILENT_AFTER_MS - MINUTE);
    isBroken = true;
    await scene.memory.clock.advance(2 * MINUTE);
    const faults = scene.logged.filter((line) => line.includes('Redis is gone'));
    expect(faults.length).toBeLessThanOrEqual(2 * 60);
    expect(scene.noticed).toEqual([]);
    isBroken = false;
    await scene.memory.clock.advance(2 * SECOND);
    await watch.stop();
    expect(scene.noticed).toHaveLength(1);
  });

  test('says once what cannot be read, and looks at the others', async () => {
    const scene = new TerminalScene();
    const [broken, hanging] = [scene.agent(), scene.agent()];
    hanging.writes(...hangingTurn(scene.seconds));
    const worklog = join(scene.memory.home, 'sessions', broken.id, 'worklog.jsonl');
    rmSync(worklog);
    writeFileSync(join(scene.memory.home, 'nothing'), '');
    chmodSync(join(scene.memory.home, 'nothing'), 0o600);
    const folder = join(scene.memory.home, 'sessions', broken.id);
    expect(readdirSync(folder)).toEqual([]);
    await scene.pass(SILENT_AFTER_MS + MINUTE, scene.watch());
    expect(scene.noticed.map(({ sight }) => sight.id)).toEqual([hanging.id]);
  });

  test.each([
    ['was replaced by a link to a home that others may write', 0o777],
    ['can be written by others from then on', null],
  ])('says once that its home %s, and uses nothing of it', async (_, linkedTo) => {
    const scene = new TerminalScene();
    const { home } = scene.memory;
    const watch = scene.watch();
    const agent = scene.agent();
    await scene.pass(MINUTE, watch);
    if (linkedTo === null) chmodSync(home, 0o777);
    else {
      renameSync(home, `${home}-planted`);
      symlinkSync(`${home}-planted`, home);
      chmodSync(`${home}-planted`, linkedTo);
    }
    agent.writes(...hangingTurn(scene.seconds));
    await scene.pass(HOUR, watch);
    expect(scene.noticed).toEqual([]);
    const said = scene.logged.filter((line) => line.includes('can be written by other users (mode 0777)'));
    expect(said.length).toBeGreaterThan(0);
    expect(said.length).toBeLessThanOrEqual(2);
    chmodSync(home, 0o700);
    await scene.pass(MINUTE, watch);
    expect(scene.noticed.map(({ sight }) => sight.id)).toEqual([agent.id]);
  });

  test('follows a transcript that was rewritten, truncated or removed', async () => {
    const scene = new TerminalScene();
    const watch = scene.watch();
    const agent = scene.agent();
    agent.writes(...hangingTurn(scene.seconds));
    await scene.pass(MINUTE, watch);
    const path = join(scene.memory.home, '..', 'c-1.jsonl');
    writeFileSync(path, '');
    await scene.pass(30 * SECOND, watch);
    rmSync(path);
    await scene.pass(HOUR, watch);
    expect(scene.noticed).toEqual([]);
    agent.writes(...hangingTurn(scene.seconds));
    await scene.pass(SILENT_AFTER_MS + MINUTE, watch);
    expect(scene.noticed).toHaveLength(1);
  });

  test('names the agents that live, where they work and since when they have seemed stuck', async () => {
    const scene = new TerminalScene();
    const watch = scene.watch();
    scene.agent(DEAD);
    scene.agent().ends();
    const agent = scene.agent();
    agent.writes(...hangingTurn(scene.seconds));
    await scene.pass(SECOND, watch);
    expect(watch.live).toEqual([{ directory: scene.memory.directory, stuck: null }]);
    await scene.pass(DAY, watch);
    expect(watch.live).toEqual([
      { directory: scene.memory.directory, stuck: expect.objectContaining({ rule: 'silence' }) },
    ]);
    expect(readFileSync(join(scene.memory.home, 'sessions', agent.id, 'worklog.jsonl'), 'utf8')).toContain('"notice"');
  });
});

/** A watch with rules of its own. */
function watchWith(
  scene: TerminalScene,
  own: { readonly thresholds?: object; readonly actions?: object },
): TerminalWatch {
  const context = scene.context();
  const rulesOf = (directory: string | null) => {
    const { project, rules } = context.rulesIn(directory);
    const { thresholds, actions } = rules;
    const changed = { thresholds: { ...thresholds, ...own.thresholds }, actions: { ...actions, ...own.actions } };
    return { project, rules: { ...rules, ...changed } };
  };
  return new TerminalWatch({ ...context, rulesIn: rulesOf });
}

/** A watch whose first telling fails. */
function failingOnce(scene: TerminalScene) {
  const failures: string[] = [];
  const told: string[] = [];
  const context = {
    ...scene.context(),
    onNotice: async ({ notice }: { readonly notice: { readonly id: string } }) => {
      if (failures.length === 0) {
        failures.push(notice.id);
        throw new Error('the disk is full');
      }
      told.push(notice.id);
    },
  };
  return { context, told, failures };
}
