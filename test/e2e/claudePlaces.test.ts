/** Several agents, folders and conversations of a real Claude Code: each finds the session that is meant, and nothing is mixed. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { MessagesRequest } from '../peers/anthropic/messages.js';
import { type Block, call, say } from '../peers/modelBlocks.js';
import { askClaude, ClaudeTerminal, type Deeds, describeWithClaude, nextOf, terminalPlace } from './claudeTerminal.js';
import { type RecordedPlace, shown, startAgent, worklogsIn } from './recorded.js';
import { filesOf, type ShownWork } from './shownWork.js';

const LIMIT_MS = 240_000;
const PERMISSIONS = { defaultMode: 'acceptEdits', allow: ['Bash', 'Write', 'EnterWorktree'] };
const UNRECORDED = '1f0c2d3e-0a1b-4c2d-8e3f-4a5b6c7d8e9f';

const DEEDS: Deeds = {
  'write the left file': [[call('Write', { file_path: './left.txt', content: 'left' })], [say('Left.')]],
  'write the right file': [[call('Write', { file_path: './right.txt', content: 'right' })], [say('Right.')]],
  'paint the door': [[say('The door is green.')]],
  'varnish it': [[say('It shines.')]],
  'work aside': [
    [call('EnterWorktree', { name: 'aside' })],
    [call('Bash', { command: 'watchkeeper track note "from aside"' })],
    [say('Done aside.')],
  ],
};

/** @returns the sessions that have come since the last call */
function newcomers(place: RecordedPlace): () => string[] {
  const known = new Set<string>();
  return () => {
    const fresh = [...worklogsIn(place).keys()].filter((id) => !known.has(id));
    for (const id of fresh) known.add(id);
    return fresh;
  };
}

function conversationsOf(place: RecordedPlace, id: string): unknown[] {
  const lines = (worklogsIn(place).get(id) ?? []).filter(({ event }) => event === 'conversation');
  return lines.map(({ conversation }) => conversation);
}

/** @param last words of the conversation, which are shown again; what is typed before would be lost */
async function resume(terminal: ClaudeTerminal, conversation: string, last: string): Promise<void> {
  const command = `/resume ${conversation}`;
  await terminal.type(command);
  const typed = terminal.screen.lastIndexOf(command.replace(' ', ''));
  await terminal.shows(last, typed);
}

describeWithClaude('a real Claude Code beside others', (claude) => {
  test(
    'two agents at once in one checkout have two records; a subfolder and a link lead to the session of the checkout, another worktree does not',
    async () => {
      const both = ['left', 'right'].map((side) => `write the ${side} file`);
      const model = async (request: MessagesRequest): Promise<readonly Block[]> => {
        // Neither goes on before the other has begun.
        if (both.some((prompt) => nextOf({ [prompt]: [] }, request) !== null))
          await place.peer.waitFor(() =>
            both.every((prompt) => place.peer.requests.some((seen) => nextOf({ [prompt]: [] }, seen.request) !== null)),
          );
        return nextOf(DEEDS, request) ?? [say('Good.')];
      };
      const place = await terminalPlace(model, PERMISSIONS);
      const git = (...words: string[]) => execFileSync('git', words, { cwd: place.work, env: place.environment });
      git('init', '-q');
      git('-c', 'user.name=n', '-c', 'user.email=e', 'commit', '-q', '--allow-empty', '-m', 'first');
      const come = newcomers(place);
      await Promise.all(both.map((prompt) => askClaude(place, claude, prompt).ended));
      const two = come().map((id) => shown<ShownWork>(place, `work show ${id} --json`));
      const records = two.map((work) => [work.purpose, filesOf(work), work.tokens.total.output]);
      expect(new Map(records.map(([purpose, ...rest]) => [purpose, rest]))).toEqual(
        new Map([
          ['write the left file', [{ 'left.txt': 'created' }, 40]],
          ['write the right file', [{ 'right.txt': 'created' }, 40]],
        ]),
      );

      const [below, link, other] = ['work/below', 'link', 'other'].map((name) => join(place.folder, name)) as [
        string,
        string,
        string,
      ];
      mkdirSync(below);
      symlinkSync(place.work, link);
      git('worktree', 'add', '-q', other);
      shown(place, 'track init Paint');
      const [id = ''] = come();
      for (const directory of [below, join(link, 'below')])
        await askClaude(place, claude, 'paint the door', { directory }).ended;
      expect(come()).toEqual([]);
      expect(conversationsOf(place, id)).toHaveLength(2);
      await askClaude(place, claude, 'paint the door', { directory: other }).ended;
      const [elsewhere = '', ...more] = come();
      expect(more).toEqual([]);
      expect(shown<ShownWork>(place, `work show ${elsewhere} --json`).purpose).toBe('paint the door');
      const workspaces = [id, elsewhere].map((session) => worklogsIn(place).get(session)?.[0]?.workspace);
      expect(new Set(workspaces).size).toBe(2);
      expect(conversationsOf(place, id)).toHaveLength(2);

      // Who moves to another worktree in mid-session takes it along.
      expect(await askClaude(place, claude, 'work aside').ended).toMatchObject({ out: 'Done aside.\n' });
      expect(existsSync(join(place.work, '.claude/worktrees/aside'))).toBe(true);
      expect(come()).toEqual([]);
      expect(worklogsIn(place).get(id)).toContainEqual(expect.objectContaining({ event: 'note', text: 'from aside' }));
    },
    LIMIT_MS,
  );

  test(
    'a conversation that nobody recorded, one of an ended session, and one of an archived session go on where they belong',
    async () => {
      const place = await terminalPlace((request) => nextOf(DEEDS, request) ?? [say('Good.')], PERMISSIONS);
      const come = newcomers(place);
      // Without the plugin.
      await startAgent(place, [claude, '--session-id', UNRECORDED, '-p', 'paint the door, unseen']).ended;
      expect(come()).toEqual([]);

      const terminal = new ClaudeTerminal(place, claude, place.work);
      await terminal.type('write the left file');
      await terminal.shows('Left.');
      const [left = ''] = come();
      const [told] = conversationsOf(place, left);
      await resume(terminal, UNRECORDED, 'unseen');
      await terminal.until('the conversation', () => worklogsIn(place).size === 2);
      await terminal.type('write the right file');
      await terminal.shows('Right.');
      const [right = ''] = come();
      await resume(terminal, String(told), 'Left.');
      await terminal.until('the way back', () => conversationsOf(place, left).length === 2);
      await terminal.type('varnish it');
      await terminal.shows('It shines.');
      await terminal.type('/exit');
      await terminal.ended;
      const showing = (id: string) => shown<ShownWork>(place, `work show ${id} --json`);
      expect(come()).toEqual([]);
      const records = [left, right].map(showing).map((work) => [work.purpose, filesOf(work), work.tokens.total.output]);
      expect(records).toEqual([
        ['write the left file', { 'left.txt': 'created' }, 60],
        // With the answer that nobody saw; what a person asks counts more than what a program does.
        ['write the right file', { 'right.txt': 'created' }, 60],
      ]);

      shown(place, `work end --session ${left}`);
      shown(place, `work archive ${right}`);
      expect([...worklogsIn(place).keys()]).toEqual([left]);
      await askClaude(place, claude, 'paint the door, at last', { words: ['--resume', String(told)] }).ended;
      const [after = '', ...more] = come();
      expect(more).toEqual([]);
      expect(worklogsIn(place).get(after)?.[0]).toMatchObject({ event: 'session_started', continues: left });
      await askClaude(place, claude, 'paint the door, at last', { words: ['--resume', UNRECORDED] }).ended;
      expect([...worklogsIn(place).keys()].sort()).toEqual([left, right, after].sort());
      expect(showing(right)).toMatchObject({ archived: false, lifecycle: 'active' });
    },
    LIMIT_MS,
  );
});
