/** What people do with Claude Code in a terminal, and what happens to it. */
import { setTimeout as pause } from 'node:timers/promises';
import { call, say } from '../../../peers/modelBlocks.js';
import type { ClaudeScene } from './claudeStage.js';
import { tell } from './stage.js';

const SOON_MS = 3_000;
const ASKING = ['--permission-mode', 'default'];
const bash = (command: string, rest: object = {}) => call('Bash', { command, description: 'A command', ...rest });
/** Claude Code lets no model wait with `sleep`. */
const takes = (seconds: number, rest: object = {}) => bash(`node -e "setTimeout(() => {}, ${seconds}e3)"`, rest);
const delegate = call('Agent', { description: 'look', prompt: 'SUBTASK', subagent_type: 'general-purpose' });
const allowed = { permissions: { allow: ['Bash', 'Agent'] } };
/** Otherwise a sub-agent works in the background. */
const FOREGROUND = { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' };
const DIALOG = /Do you want to|Would you like to/;

export const CLAUDE_SCENES: Readonly<Record<string, ClaudeScene>> = {
  exit: {
    script: { hello: [[say('Hello.')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'say hello');
      await terminal.shows(/● Hello/);
      await tell(terminal, '/exit');
      await terminal.ended();
    },
  },
  'exit-in-the-middle': {
    settings: allowed,
    script: { work: [[takes(100)]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'work on it');
      await terminal.shows(/A command/);
      await pause(SOON_MS);
      terminal.press('C-c');
      await pause(500);
      terminal.press('C-c');
      await pause(300);
      terminal.press('C-c');
      await terminal.ended();
    },
  },
  'resumed-and-left': {
    script: { hello: [[say('Hello.')]] },
    async play(stage) {
      const first = await stage.open(...ASKING);
      await tell(first, 'say hello');
      await first.shows(/● Hello/);
      await tell(first, '/exit');
      await first.ended();
      const second = await stage.open('--continue', ...ASKING);
      await second.shows(/● Hello/);
    },
  },
  'resumed-and-used': {
    settings: allowed,
    script: { hello: [[say('Hello.')]], 'look again': [[bash('ls -a')], [say('Nothing new.')]] },
    async play(stage) {
      const first = await stage.open(...ASKING);
      await tell(first, 'say hello');
      await first.shows(/● Hello/);
      first.press('C-c');
      await pause(300);
      first.press('C-c');
      await first.ended();
      const second = await stage.open('--continue', ...ASKING);
      await tell(second, 'look again');
      await second.shows(/Nothing new/);
      await tell(second, '/exit');
      await second.ended();
    },
  },
  compact: {
    script: { hello: [[say('Hello.')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'say hello');
      await terminal.shows(/● Hello/);
      await tell(terminal, '/compact');
      await terminal.shows(/Compacted|compacted/);
    },
  },
  'compact-by-itself': {
    settings: allowed,
    environment: { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '1' },
    script: { hello: [[say('Hello.')]], 'look again': [[bash('ls -a')], [bash('ls')], [say('Nothing new.')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'say hello');
      await terminal.shows(/● Hello/);
      await tell(terminal, 'look again');
      await terminal.shows(/Nothing new|That is done/);
    },
  },
  'compact-hangs': {
    script: { hello: [[say('Hello.')], { kind: 'hang' }, { kind: 'hang' }] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'say hello');
      await terminal.shows(/● Hello/);
      await tell(terminal, '/compact');
    },
  },
  'local-commands': {
    script: { hello: [[say('Hello.')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'say hello');
      await terminal.shows(/● Hello/);
      await tell(terminal, '/context');
      await pause(SOON_MS);
      terminal.press('Escape');
      await tell(terminal, '! true');
    },
  },
  'esc-in-an-answer': {
    script: { think: [{ kind: 'hang', after: [say('Let me think about it')] }] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'think about it');
      await stage.asked(1);
      await pause(SOON_MS);
      terminal.press('Escape');
      await terminal.shows(/Interrupted/);
    },
  },
  'esc-in-a-command': {
    settings: allowed,
    script: { work: [[takes(100)]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'work on it');
      await terminal.shows(/A command/);
      await pause(SOON_MS);
      terminal.press('Escape');
      await terminal.shows(/Interrupted/);
    },
  },
  'dialog-for-a-command': {
    script: { remove: [[bash('rm -rf build')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'remove it');
      await terminal.shows(DIALOG);
    },
  },
  'dialog-for-an-edit': {
    script: { write: [[call('Write', { file_path: './notes.txt', content: 'a note' })]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'write it');
      await terminal.shows(DIALOG);
    },
  },
  'dialog-of-two-calls': {
    script: { both: [[bash('rm -rf build'), call('Write', { file_path: './notes.txt', content: 'a note' })]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'do both');
      await terminal.shows(DIALOG);
      await pause(SOON_MS);
      terminal.press('Enter');
    },
  },
  'dialog-denied': {
    script: { remove: [[bash('rm -rf build')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'remove it');
      await terminal.shows(DIALOG);
      await pause(SOON_MS);
      terminal.press('Escape');
    },
  },
  'dialog-granted': {
    script: { remove: [[bash('rm -rf build && sleep 1')], [say('It is gone.')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'remove it');
      await terminal.shows(DIALOG);
      await pause(2 * SOON_MS);
      terminal.press('Enter');
      await terminal.shows(/It is gone/);
    },
  },
  'dialog-after-accepted-edits': {
    script: {
      both: [[call('Write', { file_path: './notes.txt', content: 'a note' })], [bash('git push origin main')]],
    },
    async play(stage) {
      const terminal = await stage.open('--permission-mode', 'acceptEdits');
      await tell(terminal, 'do both');
      await terminal.shows(DIALOG);
    },
  },
  'mode-changed-meanwhile': {
    settings: { permissions: { allow: ['Bash(node:*)'] } },
    script: { work: [[takes(8)], [call('Write', { file_path: './notes.txt', content: 'a note' })]] },
    async play(stage) {
      const terminal = await stage.open('--permission-mode', 'acceptEdits');
      await tell(terminal, 'work on it');
      await terminal.shows(/A command/);
      while (!/manual mode/.test(terminal.screen())) {
        terminal.press('BTab');
        await pause(500);
      }
      await terminal.shows(DIALOG);
    },
  },
  'auto-mode': {
    script: { work: [[bash('git push --force origin main')]] },
    async play(stage) {
      const terminal = await stage.open('--permission-mode', 'auto');
      await tell(terminal, 'work on it');
      await stage.asked(1);
      await terminal.shows(/stay in auto mode/);
    },
  },
  'shell-command': {
    script: { '<bash-stdout>': [[say('It is true.')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, '! true');
      await terminal.shows(/It is true/);
    },
  },
  'shell-command-then-hang': {
    script: { '<bash-stdout>': [{ kind: 'hang' }, { kind: 'hang' }] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, '! true');
      await stage.asked(1);
    },
  },
  'question-left-open': {
    script: {
      choose: [
        [
          call('AskUserQuestion', {
            questions: [
              {
                question: 'Which one?',
                header: 'Which',
                multiSelect: false,
                options: [
                  { label: 'This', description: 'the first' },
                  { label: 'That', description: 'the second' },
                ],
              },
            ],
          }),
        ],
      ],
    },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'choose one');
      await terminal.shows(/Which one/);
    },
  },
  'sub-agent': {
    settings: allowed,
    environment: FOREGROUND,
    script: { delegate: [[delegate], [say('It was looked at.')]], SUBTASK: [[takes(2)], [say('Looked.')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'delegate it');
      await terminal.shows(/It was looked at/);
    },
  },
  'sub-agent-at-work': {
    settings: allowed,
    environment: FOREGROUND,
    script: { delegate: [[delegate]], SUBTASK: [[takes(100)]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'delegate it');
      await stage.asked(2);
    },
  },
  'sub-agent-hangs': {
    settings: allowed,
    environment: FOREGROUND,
    script: { delegate: [[delegate]], SUBTASK: [[bash('ls')], { kind: 'hang' }] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'delegate it');
      await stage.asked(3);
    },
  },
  'sub-agent-asks': {
    environment: FOREGROUND,
    script: { delegate: [[delegate]], SUBTASK: [[bash('rm -rf build')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'delegate it');
      await terminal.shows(DIALOG);
    },
  },
  'background-agent': {
    settings: allowed,
    script: {
      delegate: [[delegate], [say('It is looked at.')]],
      SUBTASK: [[takes(4)], [say('Looked.')]],
      'task-notification': [[say('It was looked at.')]],
    },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'delegate it');
      await terminal.shows(/It was looked at/);
    },
  },
  'background-agent-hangs': {
    settings: allowed,
    script: { delegate: [[delegate], [say('It is looked at.')]], SUBTASK: [[bash('ls')], { kind: 'hang' }] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'delegate it');
      await stage.asked(4);
    },
  },
  'background-agent-asks': {
    script: { delegate: [[delegate], [say('It is looked at.')]], SUBTASK: [[bash('rm -rf build')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'delegate it');
      await terminal.shows(DIALOG);
    },
  },
  'stop-hook': {
    settings: {
      ...allowed,
      hooks: {
        Stop: [
          {
            hooks: [{ type: 'command', command: 'test -e once || { touch once; echo run the tests >&2; exit 2; }' }],
          },
        ],
      },
    },
    script: { fix: [[say('Fixed.')]], 'run the tests': [[bash('true')], [say('They pass.')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'fix it');
      await terminal.shows(/They pass/);
    },
  },
  'background-command': {
    settings: allowed,
    script: {
      serve: [[takes(6, { run_in_background: true })], [say('It runs.')]],
      'task-notification': [[say('It has ended.')]],
    },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'serve it');
      await terminal.shows(/It has ended/);
    },
  },
  'background-command-at-work': {
    settings: allowed,
    script: { serve: [[takes(600, { run_in_background: true })], [say('It runs.')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'serve it');
      await terminal.shows(/It runs/);
    },
  },
  'said-meanwhile': {
    settings: allowed,
    script: { work: [[takes(8)], [say('Noted.')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'work on it');
      await terminal.shows(/A command/);
      await tell(terminal, 'and mind the gap');
      await terminal.shows(/Noted/);
    },
  },
  'said-meanwhile-and-killed': {
    settings: allowed,
    script: { work: [[takes(100)]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'work on it');
      await terminal.shows(/A command/);
      await tell(terminal, 'and mind the gap');
      await pause(SOON_MS);
    },
  },
  'said-meanwhile-then-esc': {
    settings: allowed,
    script: { work: [[takes(100)]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'work on it');
      await terminal.shows(/A command/);
      await tell(terminal, 'and mind the gap');
      await tell(terminal, 'and close the door');
      await pause(SOON_MS);
      terminal.press('Escape');
      await pause(SOON_MS);
      terminal.press('Escape');
      await pause(SOON_MS);
    },
  },
  'said-meanwhile-then-taken-back': {
    settings: allowed,
    script: { work: [[takes(100)]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'work on it');
      await terminal.shows(/A command/);
      await tell(terminal, 'and mind the gap');
      await tell(terminal, 'and close the door');
      await tell(terminal, '! true');
      await pause(SOON_MS);
      terminal.press('Up');
      await pause(SOON_MS);
    },
  },
  'said-meanwhile-in-an-answer': {
    settings: allowed,
    script: { think: [{ kind: 'hang', after: [say('Let me think about it')] }] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'think about it');
      await stage.asked(1);
      await tell(terminal, 'and mind the gap');
      await tell(terminal, '/context');
      await pause(SOON_MS);
    },
  },
  'dialog-denied-with-words': {
    script: { remove: [[bash('rm -rf build')], [say('As you wish.')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'remove it');
      await terminal.shows(DIALOG);
      await pause(SOON_MS);
      terminal.press('Down');
      await pause(500);
      terminal.press('Down');
      await pause(500);
      terminal.press('Down');
      await pause(500);
      terminal.press('Tab');
      await pause(500);
      terminal.type('keep it for now');
      await pause(SOON_MS);
      terminal.press('Enter');
      await pause(SOON_MS);
    },
  },
  rewound: {
    settings: allowed,
    script: {
      zebra: [[call('Write', { file_path: './cache.txt', content: 'a cache' })], [say('Striped.')]],
      okapi: [[say('Then without.')]],
    },
    async play(stage) {
      const terminal = await stage.open('--permission-mode', 'acceptEdits');
      await tell(terminal, 'say hello');
      await terminal.shows(/That is done/);
      await tell(terminal, 'paint the zebra');
      await terminal.shows(/Striped/);
      await tell(terminal, '/rewind');
      await pause(SOON_MS);
      terminal.press('Up');
      await pause(500);
      terminal.press('Enter');
      await pause(SOON_MS);
      terminal.press('Enter');
      await pause(SOON_MS);
      terminal.press('C-u');
      await pause(500);
      await tell(terminal, 'paint the okapi');
      await terminal.shows(/Then without/);
    },
  },
  forked: {
    settings: allowed,
    script: {
      write: [[call('Write', { file_path: './a.txt', content: 'a' })], [say('Written.')]],
      other: [[call('Write', { file_path: './b.txt', content: 'b' })], [say('Then b.')]],
    },
    async play(stage) {
      await stage.run(['-p', 'write a', '--permission-mode', 'acceptEdits']);
      await pause(SOON_MS);
      await stage.run(['-p', 'now the other way', '--continue', '--fork-session', '--permission-mode', 'acceptEdits']);
    },
  },
  'retries-then-answers': {
    script: { work: [{ kind: 'overloaded' }, { kind: 'overloaded' }, { kind: 'overloaded' }, [say('At last.')]] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'work on it');
      await terminal.shows(/At last/);
    },
  },
  'no-credit': {
    script: { work: [{ kind: 'no_credit' }] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'work on it');
      await terminal.shows(/[Cc]redit/);
    },
  },
  'model-hangs': {
    settings: allowed,
    script: { work: [[bash('ls')], { kind: 'hang' }, { kind: 'hang' }, { kind: 'hang' }, { kind: 'hang' }] },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'work on it');
      await stage.asked(2);
    },
  },
  'answer-stops': {
    script: {
      work: [1, 2, 3, 4].map(() => ({ kind: 'hang', after: [say('Let me think about it')] }) as const),
    },
    async play(stage) {
      const terminal = await stage.open(...ASKING);
      await tell(terminal, 'work on it');
      await stage.asked(1);
    },
  },
  print: {
    settings: allowed,
    script: { work: [[say('On it.'), bash('ls')], [say('That was it.')]] },
    play: (stage) => stage.run(['-p', 'work on it', '--output-format', 'stream-json', '--verbose']),
  },
  'print-hangs': {
    settings: allowed,
    script: { work: [[bash('ls')], { kind: 'hang' }] },
    play: (stage) => stage.run(['-p', 'work on it', '--output-format', 'stream-json', '--verbose'], 15_000),
  },
};
