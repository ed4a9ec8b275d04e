/** The rows of what an agent and a person see unasked. The hooks get the payloads of Claude Code, and recordings of it. */
import assert from 'node:assert/strict';
import { HOUR, MINUTE } from '../../src/time.js';
import { Hooks, run } from './hooked.js';
import type { RowCheck } from './row.js';
import { at, listAt, type RowScene } from './scene.js';

const EDITING = 'claude-2.1.330/dialog-after-accepted-edits';
const START = { source: 'startup' };

/** An agent that records nothing itself is killed while it writes `notes.txt`. */
async function crash(scene: RowScene, hooks: Hooks): Promise<void> {
  const conversation = scene.converse(EDITING, MINUTE);
  const agent = await scene.agent(hooks.line('crashing', 'SessionStart', conversation, START), conversation);
  scene.write('notes.txt', 'half');
  await scene.kill(agent);
}

function given(scene: RowScene, id: string): string[] {
  const lines = scene
    .worklog(id)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return lines
    .filter(({ event, to }) => event === 'context_given' && to === undefined)
    .map(({ level }) => String(level));
}

const T5: RowCheck = {
  row: 'T5',
  check: 'the same with an agent that does not record by itself (payloads and a recording of Claude Code)',
  async prove(scene) {
    const hooks = new Hooks(scene);
    await crash(scene, hooks);
    const { code, out } = scene.sh('wk track crash-detect');
    assert.equal(code, 1);
    for (const part of [
      /crashed: process \d+ is gone/,
      /^task: +do both$/m,
      /^ +notes\.txt: 4 bytes, changed since/m,
      /git push origin main, without a result/,
    ])
      assert.match(out, part);
  },
};

const T9: RowCheck = {
  row: 'T9',
  check: 'the crash notice unasked: context for the model, one line for the person (payloads of Claude Code)',
  async prove(scene) {
    const hooks = new Hooks(scene);
    await crash(scene, hooks);
    await run(scene, hooks.line('next', 'SessionStart', 'next', START));
    const { context, notice } = hooks.answer('next');
    assert.match(context, /Its agent crashed: process \d+ is gone/);
    assert.match(context, /- "notes\.txt": 4 bytes/);
    assert.match(notice, /^watchkeeper: an agent here crashed[^\n]*$/);
  },
};

const D4: RowCheck = {
  row: 'D4',
  check: 'a resumed conversation: idle hours, when it began, the phase, how many notes, the top three (payloads)',
  async prove(scene) {
    const hooks = new Hooks(scene);
    const notes = ['low', 'second', 'top', 'third'].map((words, index) => {
      const priority = ['normal', 'high', 'critical', 'high'][index];
      return `wk track note ${words} --priority ${priority}`;
    });
    const conversation = { CLAUDE_CODE_SESSION_ID: 'c', CLAUDECODE: '1' };
    const begin = hooks.line('begin', 'SessionStart', 'c', START);
    const agent = await scene.agent(
      [begin, 'wk track init T --step "Write it"', 'wk track step 1 --start', ...notes].join('\n'),
      conversation,
    );
    await scene.kill(agent);
    const [id = ''] = listAt(scene.json('wk work list --here')).map((one) => String(at(one, 'session_id')));
    scene.age(id, 3 * HOUR);
    await run(scene, hooks.line('resume', 'SessionStart', 'c', { source: 'resume' }));
    const { context } = hooks.answer('resume');
    for (const part of [
      /last activity \S+, 3 h ago/,
      /It began at \d{4}-/,
      /"Write it"/,
      /- critical: "top"/,
      /- high: "second"/,
      /- high: "third"/,
    ])
      assert.match(context, part);
    assert.match(context, /4 in all/);
    assert.ok(!context.includes('"low"'), context);
  },
};

const D5: RowCheck = {
  row: 'D5',
  check:
    'five requests: startup, sub-agent, resume, clear, sub-agent again: the parts of each and no others (payloads)',
  async prove(scene) {
    const hooks = new Hooks(scene);
    await scene.kill(await scene.agent('wk track init "Foreign history" --step a && wk track step 1 --start'));
    const start = (name: string, source: string, id = 'c') => hooks.line(name, 'SessionStart', id, { source });
    const child = (name: string) => hooks.line(name, 'SubagentStart', 'c', { agent_id: 'a1' });
    const agent = await scene.agent(
      [
        start('startup', 'startup'),
        'wk track init "Own task" --concurrent --step "Write it" && wk track step 1 --start',
        'wk track note "mind the cache" --priority critical && wk track note "a detail" --priority high',
        child('child'),
        start('resume', 'resume'),
        child('child again'),
        start('clear', 'clear', 'c-2'),
      ].join('\n'),
      { CLAUDE_CODE_SESSION_ID: 'c', CLAUDECODE: '1' },
    );
    await scene.kill(agent);
    const parts = {
      foreign: /Foreign history/,
      own: /Own task/,
      critical: /- critical: "mind the cache"/,
      detail: /a detail/,
      began: /It began at/,
      crash: /Its agent crashed/,
      child: /The result of this sub-agent goes to/,
      again: /Sub-agent a1 goes on with its own task/,
    };
    const expected = {
      startup: ['foreign', 'crash'],
      child: ['own', 'critical', 'child'],
      resume: ['own', 'critical', 'detail', 'began'],
      'child again': ['own', 'again'],
      clear: ['own', 'critical', 'detail'],
    };
    for (const [name, wanted] of Object.entries(expected)) {
      const { context } = hooks.answer(name);
      const found = Object.entries(parts).flatMap(([part, pattern]) => (pattern.test(context) ? [part] : []));
      assert.deepEqual(found, wanted, `${name}: ${context}`);
    }
  },
};

const X13: RowCheck = {
  row: 'X13',
  check:
    'startup, resume, compact, clear in one process: one `context_given` each, one record in each answer (payloads)',
  async prove(scene) {
    const hooks = new Hooks(scene);
    await crash(scene, hooks);
    const lines = [
      ['startup', 'c'],
      ['resume', 'c'],
      ['compact', 'c'],
      ['clear', 'c-2'],
    ] as const;
    const calls = lines.map(([source, id]) => hooks.line(source, 'SessionStart', id, { source }));
    calls.splice(1, 0, 'wk track note "mind the cache" --priority high');
    await scene.kill(await scene.agent(calls.join('\n'), { CLAUDE_CODE_SESSION_ID: 'c', CLAUDECODE: '1' }));
    const [, id = ''] = hooks.sessions();
    assert.deepEqual(given(scene, id), ['root', 'resumed', 'compacted', 'compacted']);
    for (const [source] of lines)
      assert.equal(hooks.answer(source).context.split('<session-record>').length, 2, source);
  },
};

const X14: RowCheck = {
  row: 'X14',
  check: 'notes of the workspace reach agents and their sub-agents unasked (payloads)',
  async prove(scene) {
    const hooks = new Hooks(scene);
    scene.do(
      'wk track init "First" && wk track anchor "never force-push" --workspace --priority critical && wk work end',
    );
    await run(
      scene,
      hooks.line('start', 'SessionStart', 'c', START),
      hooks.line('child', 'SubagentStart', 'c', { agent_id: 'a1' }),
    );
    for (const name of ['start', 'child'])
      assert.match(hooks.answer(name).context, /- critical: "never force-push"/, name);
  },
};

export const contextRows: readonly RowCheck[] = [T5, T9, D4, D5, X13, X14];
