/** Claude Code in a terminal with the plugin: nothing is typed but prompts, and everything is on record. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { SessionRow } from '../../memory/look/list.js';
import type { MessagesRequest } from '../peers/anthropic/messages.js';
import { userTexts } from '../peers/anthropic/messages.js';
import { type Block, call, say } from '../peers/modelBlocks.js';
import {
  ClaudeTerminal,
  type Deeds,
  describeWithClaude,
  isCompaction,
  nextOf,
  type TerminalPlace,
  terminalPlace,
} from './claudeTerminal.js';
import { contextsIn, shown, worklogsIn } from './recorded.js';
import { filesOf, inOrder, printBeside, type ShownWork, tokensOf } from './shownWork.js';

const LIMIT_MS = 240_000;
const ESCAPE = '\u001b';

const delegate = (prompt: string) =>
  call('Agent', { description: 'look', prompt, subagent_type: 'general-purpose', run_in_background: false });
const DEEDS: Deeds = {
  'do every deed': [
    [
      call('TaskCreate', { subject: 'Move the file', description: 'x' }),
      call('TaskCreate', { subject: 'Write the tests', description: 'x' }),
    ],
    [call('TaskUpdate', { taskId: '1', status: 'in_progress' })],
    [call('Read', { file_path: './kept.txt' })],
    [
      call('Edit', { file_path: './kept.txt', old_string: 'kept', new_string: 'changed' }),
      call('Write', { file_path: './new.txt', content: 'new' }),
    ],
    [call('Bash', { command: 'mv old.txt moved.txt && rm gone.txt' })],
    [
      call('TaskUpdate', { taskId: '1', status: 'completed' }),
      call('TaskUpdate', { taskId: '2', status: 'in_progress' }),
    ],
    [call('Bash', { command: 'exit 3' })],
    [call('Read', { path: 1 })],
    [delegate('the inner DEED')],
    [say('All of it is done.')],
  ],
  'the inner DEED': [
    [call('Read', { file_path: './kept.txt' })],
    [delegate('the innermost DEED')],
    [say('Inner done.')],
  ],
  'the innermost DEED': [[call('Write', { file_path: './deep.txt', content: 'deep' })], [say('Innermost done.')]],
  'ask me first': [[call('WebFetch', { url: 'http://example.invalid/', prompt: 'read' })], [say('I was not allowed.')]],
  'wait for long': [
    [call('Bash', { command: 'touch started && tail -f /dev/null', timeout: 600_000 })],
    [say('Waited.')],
  ],
  'hello again': [[say('Hello to you.')]],
  'back again': [[say('Welcome back.')]],
};

const isReport = (request: MessagesRequest) => userTexts(request).at(-1)?.includes('SYSTEM NOTIFICATION');
const isMain = (request: MessagesRequest) => userTexts(request).some((text) => text.includes('do every deed'));

function model(request: MessagesRequest): readonly Block[] {
  if (isCompaction(request)) return [say('<summary>Every deed was done.</summary>')];
  if (isReport(request)) return [say('Good.')];
  return nextOf(DEEDS, request) ?? [say('A short summary.')];
}

const isInner = (request: MessagesRequest) => userTexts(request).some((text) => text.includes('the inner DEED'));

/** What the server counted, each agent by its prompt. The transcript does not have what a compaction cost. */
function countedBy(requests: TerminalPlace['peer']['requests']): { input: number; output: number }[] {
  const prompts = ['the innermost DEED', 'the inner DEED'];
  const counted = new Map<string, { input: number; output: number }>();
  for (const { request, tokens } of requests) {
    const texts = userTexts(request).join('\n');
    if (isCompaction(request)) continue;
    const agent = prompts.find((prompt) => texts.includes(prompt)) ?? 'main';
    const before = counted.get(agent) ?? { input: 0, output: 0 };
    counted.set(agent, { input: before.input + tokens.input, output: before.output + tokens.output });
  }
  return [...counted.values()];
}

const PERMISSIONS = {
  defaultMode: 'acceptEdits',
  allow: ['Bash', 'Agent', 'Read', 'Write', 'Edit', 'TaskCreate', 'TaskUpdate'],
  ask: ['WebFetch'],
};

function repository(place: TerminalPlace): void {
  mkdirSync(join(place.work, 'below'));
  for (const name of ['kept', 'old', 'gone']) writeFileSync(join(place.work, `${name}.txt`), `${name}\n`);
  execFileSync('git', ['init', '-q'], { cwd: place.work });
}

describeWithClaude('Claude Code in a terminal', tests);

function tests(claude: string): void {
  test(
    'records every deed of one session with its conversations, while nothing is typed but prompts',
    async () => {
      const place = await terminalPlace(model, PERMISSIONS);
      repository(place);
      const events = () => [...worklogsIn(place).values()].flat().map(({ event }) => event);
      const terminal = new ClaudeTerminal(place, claude, place.work);
      await terminal.type('do every deed');
      await terminal.shows('All of it is done.');
      // In a terminal, sub-agents work in the background: they report when they have ended.
      await terminal.until('the report of the sub-agents', () =>
        place.peer.requests.some(({ request, isOver }) => isOver && isReport(request) && isMain(request)),
      );
      await terminal.type('ask me first');
      await terminal.until('the dialog', () => events().includes('wait_start'));
      terminal.press(ESCAPE);
      await terminal.shows('Interrupted');
      await terminal.type('wait for long');
      await terminal.until('the call', () => existsSync(join(place.work, 'started')));
      terminal.press(ESCAPE);
      await terminal.until('the interruption', () => terminal.screen.split('Interrupted').length > 2);
      await terminal.type('/compact');
      await terminal.until('the compaction', () =>
        [...worklogsIn(place).values()].flat().some(({ level }) => level === 'compacted'),
      );
      await terminal.shows('Compacted');
      await terminal.type('/clear');
      await terminal.until('/clear', () => events().filter((event) => event === 'conversation').length === 2);
      await terminal.type('hello again');
      await terminal.shows('Hello to you.');
      await terminal.type('/exit');
      await terminal.ended;
      const second = new ClaudeTerminal(place, claude, place.work, '--continue');
      await second.type('back again');
      await second.shows('Welcome back.');
      await second.type('/exit');
      await second.ended;
      const [id, ...others] = [...worklogsIn(place).keys()];
      const work = shown<ShownWork>(place, `work show ${id} --json`);
      const server = { 'tokens by agent': inOrder(countedBy(place.peer.requests)) };
      printBeside('Claude Code in a terminal', work, server);
      expect(others).toEqual([]);
      expect(work.purpose).toBe('do every deed');
      expect(work.conversations.map(({ source }) => source)).toEqual(['startup', 'clear']);
      expect(work.steps).toMatchObject([
        { title: 'Move the file', status: 'completed' },
        { title: 'Write the tests', status: 'in_progress' },
      ]);
      expect(filesOf(work)).toEqual({
        'kept.txt': 'modified',
        'new.txt': 'created',
        'moved.txt': 'from old.txt',
        'gone.txt': 'deleted',
        'deep.txt': 'created',
      });
      expect(work.errors.map(({ tool, outcome }) => [tool, outcome])).toEqual([
        ['Bash', 'failed'],
        ['Read', 'failed'],
        ['WebFetch', 'rejected'],
        ['Bash', 'rejected'],
      ]);
      expect(work.agents).toMatchObject([
        { depth: 1, open: false },
        { depth: 2, open: false },
      ]);
      expect(tokensOf(work)).toEqual(server['tokens by agent']);
      expect(tokensOf(work)).toHaveLength(3);
      const given = worklogsIn(place).get(id ?? '') ?? [];
      expect(given.flatMap(({ event, level }) => (event === 'context_given' ? [level] : []))).toEqual([
        'delegated',
        'delegated',
        // A sub-agent goes on when its own has ended. This version asks its hook then, and tells the model nothing of the answer.
        'resumed_delegated',
        'compacted',
        'compacted',
        'resumed',
      ]);
      const delegated = place.peer.requests.find(({ request }) => !isMain(request) && isInner(request));
      const [context = ''] = contextsIn(delegated?.request ?? {});
      expect(context).toContain(`Session ${id}: "do every deed"\nNext: step t2, "Write the tests"`);
      expect(shown<SessionRow[]>(place, 'work list --json')).toMatchObject([
        { session_id: id, purpose: 'do every deed', crashed: false },
      ]);
    },
    LIMIT_MS,
  );
}
