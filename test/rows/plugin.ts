/** The rows of what the hooks record, and of what becomes of it. They get the payloads of Claude Code, and recordings of it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/host/program.js';
import { HOUR, MINUTE } from '../../src/time.js';
import { Hooks, run } from './hooked.js';
import type { RowCheck } from './row.js';
import { at, listAt } from './scene.js';

const START = { source: 'startup' };

const D6: RowCheck = {
  row: 'D6',
  check: 'resuming the conversation of an archived session brings it back (payloads)',
  async prove(scene) {
    const hooks = new Hooks(scene);
    const conversation = scene.converse('claude/work', 722 * HOUR);
    await run(scene, hooks.line('begin', 'SessionStart', conversation, START));
    const id = hooks.session();
    scene.age(id, 723 * HOUR);
    scene.do('wk work keep');
    assert.equal(at(scene.json(`wk work show ${id}`), 'archived'), true);
    await run(scene, hooks.line('resume', 'SessionStart', conversation, { source: 'resume' }));
    assert.equal(at(scene.json(`wk work show ${id}`), 'archived'), false);
    assert.match(hooks.answer('resume').context, new RegExp(id));
    assert.equal(hooks.session(), id);
  },
};

const D9: RowCheck = {
  row: 'D9',
  check: 'after a resume `resumed_at` is set, and before it is not (payloads)',
  async prove(scene) {
    const hooks = new Hooks(scene);
    await run(scene, hooks.line('begin', 'SessionStart', 'c', START));
    const id = hooks.session();
    assert.equal(at(scene.json(`wk work show ${id}`), 'resumed_at') ?? null, null);
    await run(scene, hooks.line('resume', 'SessionStart', 'c', { source: 'resume' }));
    assert.equal(typeof at(scene.json(`wk work show ${id}`), 'resumed_at'), 'number');
  },
};

const C6: readonly RowCheck[] = [
  {
    row: 'C6',
    check:
      'an exit code, a validation error, a denied and an interrupted call are errors of the session, once each (recordings)',
    async prove(scene) {
      const hooks = new Hooks(scene);
      const names = ['claude/deeds', 'claude-2.1.330/dialog-denied', 'claude-2.1.330/esc-in-a-command'];
      const lines = names.map((name, index) =>
        hooks.line(name.replace(/\W/g, '-'), 'SessionStart', scene.converse(name, MINUTE), {
          source: index === 0 ? 'startup' : 'clear',
        }),
      );
      await run(scene, ...lines);
      const id = hooks.session();
      const shown = scene.json(`wk work show ${id}`);
      assert.equal(listAt(shown, 'conversations').length, names.length);
      assert.deepEqual(
        listAt(shown, 'errors').map((error) => at(error, 'outcome')),
        ['failed', 'failed', 'rejected', 'rejected'],
      );
    },
  },
  {
    row: 'C6',
    check: 'a home that cannot be written leaves the agent alone: exit 0, one line; nothing delays a compaction',
    async prove(scene) {
      const hooks = new Hooks(scene);
      scene.do(`printf x >'${scene.home}/sessions'`);
      await run(scene, hooks.line('start', 'SessionStart', 'c', START));
      const { code, said, context } = hooks.answer('start');
      assert.deepEqual([code, context], ['0', '']);
      assert.match(said, /^watchkeeper: the hook has recorded nothing: [^\n]+\n$/);
      const { hooks: events } = JSON.parse(readFileSync(join(packageRoot(), 'plugin/hooks/hooks.json'), 'utf8'));
      assert.ok(!Object.keys(events).includes('PreCompact'));
    },
  },
];

const X7: RowCheck = {
  row: 'X7',
  check: 'when an agent has ended, no process of ours stays (payloads)',
  async prove(scene) {
    const hooks = new Hooks(scene);
    const conversation = scene.converse('claude/work', MINUTE);
    await run(
      scene,
      hooks.line('start', 'SessionStart', conversation, START),
      hooks.line('end', 'SessionEnd', conversation, { reason: 'other' }),
    );
    const id = hooks.session();
    const kept = `grep -q '"event":"kept"' '${scene.home}/sessions/${id}/worklog.jsonl'`;
    scene.do(`for i in $(seq 200); do ${kept} && break; sleep 0.1; done; ${kept}`);
    // Without what looks for it.
    const running = `grep -alE '${scene.folder}/[h]ome' /proc/[0-9]*/cmdline 2>/dev/null`;
    scene.do(`for i in $(seq 200); do ${running} >&2 || exit 0; sleep 0.1; done; exit 1`);
  },
};

const X16: RowCheck = {
  row: 'X16',
  check: 'the purpose of a session that began by itself is its first prompt (payloads, a recording)',
  async prove(scene) {
    const hooks = new Hooks(scene);
    const conversation = scene.converse('claude/work', MINUTE);
    await run(scene, hooks.line('start', 'SessionStart', conversation, START));
    assert.equal(at(scene.json(`wk work show ${hooks.session()}`), 'purpose'), 'do work');
  },
};

const X20: RowCheck = {
  row: 'X20',
  check: 'payloads from a subfolder, a removed folder, binary input, 50 MB: exit 0, one diagnostic at most',
  async prove(scene) {
    const hooks = new Hooks(scene);
    hooks.payload('binary', Buffer.from([0, 255, 1, 254, 125]));
    hooks.payload('huge', Buffer.alloc(50 * 1024 * 1024, 'x'));
    const cwd = join(scene.repository, 'sub/folder');
    await run(
      scene,
      'mkdir -p sub/folder gone',
      `cd sub/folder\n${hooks.line('subfolder', 'SessionStart', 'c', { ...START, cwd })}`,
      `cd ../../gone && rmdir ../gone\n${hooks.line('removed', 'SessionStart', 'c-2', { ...START, cwd: join(scene.repository, 'gone') })}`,
      `cd '${scene.repository}'`,
      hooks.call('binary'),
      hooks.call('huge'),
    );
    const told = ['subfolder', 'removed', 'binary', 'huge'].map((name) => hooks.answer(name));
    for (const { code, said } of told) assert.deepEqual([code, said.split('\n').length <= 2], ['0', true], said);
    // Of the repository, as if it had started at its top.
    const ids = readdirSync(join(scene.home, 'sessions'));
    // What the killed agent was asked is unknown, so it counts as crashed.
    const top = scene.begin('wk track init T --concurrent');
    const workspaceOf = (id: string) => at(scene.json(`wk work show ${id}`), 'workspace');
    assert.deepEqual(ids.map(workspaceOf), [workspaceOf(top), workspaceOf(top)]);
  },
};

export const pluginRows: readonly RowCheck[] = [D6, D9, ...C6, X7, X16, X20];
