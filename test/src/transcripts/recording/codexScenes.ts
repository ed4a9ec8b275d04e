/** What people do with Codex in a terminal, and what happens to it. */
import { setTimeout as pause } from 'node:timers/promises';
import { call, say } from '../../../peers/modelBlocks.js';
import type { CodexScene } from './codexStage.js';
import { tell } from './stage.js';

const SOON_MS = 3_000;
const command = (cmd: string, rest: object = {}) => call('exec_command', { cmd, ...rest });
const escalated = { sandbox_permissions: 'require_escalated', justification: 'May it be removed?' };
const script = (text: string) => call('exec', text);
const CODE_MODE = 'code_mode = true\ncode_mode_only = true';
const DIALOG = /Would you like to|Do you want to|allow/i;

export const CODEX_SCENES: Readonly<Record<string, CodexScene>> = {
  forked: {
    script: { hello: [[say('Hello.')]], other: [[command('ls')], [say('Then so.')]] },
    async play(stage) {
      const first = await stage.open();
      await tell(first, 'say hello');
      await first.shows(/• Hello/);
      await tell(first, '/quit');
      await first.ended();
      const second = await stage.open('fork', '--last');
      await tell(second, 'try the other way');
      await second.shows(/Then so/);
    },
  },
  'said-meanwhile': {
    script: { work: [[command('sleep 100', { yield_time_ms: 30_000 })]] },
    async play(stage) {
      const terminal = await stage.open();
      await tell(terminal, 'work on it');
      await stage.asked(1);
      await pause(SOON_MS);
      await tell(terminal, 'and mind the gap');
      await pause(SOON_MS);
    },
  },
  exit: {
    script: { hello: [[say('Hello.')]] },
    async play(stage) {
      const terminal = await stage.open();
      await tell(terminal, 'say hello');
      await terminal.shows(/• Hello/);
      await tell(terminal, '/quit');
      await terminal.ended();
    },
  },
  'exit-in-the-middle': {
    script: { work: [[command('sleep 100', { yield_time_ms: 30_000 })]] },
    async play(stage) {
      const terminal = await stage.open();
      await tell(terminal, 'work on it');
      await stage.asked(1);
      await pause(SOON_MS);
      terminal.press('C-c');
      await pause(500);
      terminal.press('C-c');
      await pause(500);
      terminal.press('C-c');
      await terminal.ended();
    },
  },
  'resumed-and-left': {
    script: { hello: [[say('Hello.')]] },
    async play(stage) {
      const first = await stage.open();
      await tell(first, 'say hello');
      await first.shows(/• Hello/);
      await tell(first, '/quit');
      await first.ended();
      const second = await stage.open('resume', '--last');
      await second.shows(/• Hello/);
    },
  },
  'resumed-and-used': {
    script: { hello: [[say('Hello.')]], 'look again': [[command('ls -a')], [say('Nothing new.')]] },
    async play(stage) {
      const first = await stage.open();
      await tell(first, 'say hello');
      await first.shows(/• Hello/);
      await tell(first, '/quit');
      await first.ended();
      const second = await stage.open('resume', '--last');
      await tell(second, 'look again');
      await second.shows(/Nothing new/);
      await tell(second, '/quit');
      await second.ended();
    },
  },
  compact: {
    script: { hello: [[say('Hello.')]] },
    async play(stage) {
      const terminal = await stage.open();
      await tell(terminal, 'say hello');
      await terminal.shows(/• Hello/);
      await tell(terminal, '/compact');
      await terminal.shows(/[Cc]ompacted/);
    },
  },
  'esc-in-an-answer': {
    script: { think: [{ kind: 'hang' }] },
    async play(stage) {
      const terminal = await stage.open();
      await tell(terminal, 'think about it');
      await stage.asked(1);
      await pause(SOON_MS);
      terminal.press('Escape');
      await terminal.shows(/interrupted/i);
    },
  },
  'esc-in-a-command': {
    script: { work: [[command('sleep 100', { yield_time_ms: 30_000 })]] },
    async play(stage) {
      const terminal = await stage.open();
      await tell(terminal, 'work on it');
      await stage.asked(1);
      await pause(SOON_MS);
      terminal.press('Escape');
      await terminal.shows(/interrupted/i);
    },
  },
  'dialog-for-a-command': {
    script: { remove: [[command('rm -rf build', escalated)]] },
    async play(stage) {
      const terminal = await stage.open('-s', 'read-only');
      await tell(terminal, 'remove it');
      await terminal.shows(DIALOG);
    },
  },
  'dialog-denied': {
    script: { remove: [[command('rm -rf build', escalated)]] },
    async play(stage) {
      const terminal = await stage.open('-s', 'read-only');
      await tell(terminal, 'remove it');
      await terminal.shows(DIALOG);
      await pause(SOON_MS);
      terminal.press('Escape');
    },
  },
  'dialog-granted': {
    script: { remove: [[command('rm -rf build', escalated)], [say('It is gone.')]] },
    async play(stage) {
      const terminal = await stage.open('-s', 'read-only');
      await tell(terminal, 'remove it');
      await terminal.shows(DIALOG);
      await pause(2 * SOON_MS);
      terminal.press('y');
      await terminal.shows(/It is gone/);
    },
  },
  'dialog-in-a-script': {
    features: CODE_MODE,
    script: {
      remove: [[script(`text(await tools.exec_command({ cmd: 'rm -rf build', ...${JSON.stringify(escalated)} }));`)]],
    },
    async play(stage) {
      const terminal = await stage.open('-s', 'read-only');
      await tell(terminal, 'remove it');
      await terminal.shows(DIALOG);
    },
  },
  'script-polls': {
    features: CODE_MODE,
    script: {
      serve: [
        [
          script(
            "const made = await tools.exec_command({ cmd: 'sleep 60', yield_time_ms: 250 }); store('id', made.session_id);",
          ),
        ],
        ...[1, 2, 3, 4, 5, 6].map(() => [
          script("text(await tools.write_stdin({ session_id: load('id'), chars: '', yield_time_ms: 250 }));"),
        ]),
        [say('It still runs.')],
      ],
    },
    async play(stage) {
      const terminal = await stage.open();
      await tell(terminal, 'serve it');
      await terminal.shows(/It still runs/);
    },
  },
  'script-waits': {
    features: CODE_MODE,
    script: {
      serve: [
        [
          script(
            '// @exec: {"yield_time_ms": 500}\nawait new Promise((done) => setTimeout(done, 9e3)); text("ready");',
          ),
        ],
        ...[1, 2, 3, 4, 5, 6].map(() => [call('wait', { cell_id: '1', yield_time_ms: 500 })]),
        [say('It still runs.')],
      ],
    },
    async play(stage) {
      const terminal = await stage.open();
      await tell(terminal, 'serve it');
      await terminal.shows(/It still runs/);
    },
  },
  patch: {
    script: {
      write: [
        [command("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: notes.txt\n+a note\n*** End Patch\nEOF")],
        [say('It is written.')],
      ],
    },
    async play(stage) {
      const terminal = await stage.open();
      await tell(terminal, 'write it');
      await terminal.shows(/It is written/);
    },
  },
  'sub-agent': {
    script: {
      delegate: [[call('multi_agent_v1.spawn_agent', { message: 'SUBTASK' })], [say('Another one looks.')]],
      SUBTASK: [[command('sleep 4')], [say('Looked.')]],
    },
    async play(stage) {
      const terminal = await stage.open();
      await tell(terminal, 'delegate it');
      await stage.asked(4);
    },
  },
  'sub-agent-asks': {
    script: {
      delegate: [[call('multi_agent_v1.spawn_agent', { message: 'SUBTASK' })], [say('Another one looks.')]],
      SUBTASK: [[command('rm -rf build', escalated)]],
    },
    async play(stage) {
      const terminal = await stage.open('-s', 'read-only');
      await tell(terminal, 'delegate it');
      await terminal.shows(DIALOG);
    },
  },
  'model-hangs': {
    script: { work: [[command('ls')], { kind: 'hang' }, { kind: 'hang' }, { kind: 'hang' }] },
    async play(stage) {
      const terminal = await stage.open();
      await tell(terminal, 'work on it');
      await stage.asked(2);
    },
  },
  retries: {
    script: { work: [1, 2, 3, 4, 5, 6].map(() => ({ kind: 'rate_limited' }) as const) },
    async play(stage) {
      const terminal = await stage.open();
      await tell(terminal, 'work on it');
      await stage.asked(1);
    },
  },
  exec: {
    script: { work: [[say('On it.'), command('ls')], [say('That was it.')]] },
    play: (stage) => stage.run(['exec', '--skip-git-repo-check', 'work on it']),
  },
  'exec-hangs': {
    script: { work: [[command('ls')], { kind: 'hang' }] },
    play: (stage) => stage.run(['exec', '--skip-git-repo-check', 'work on it'], 5 * SOON_MS),
  },
};
