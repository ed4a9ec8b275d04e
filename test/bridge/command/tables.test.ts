// covers: bridge/command/serviceSignals.ts bridge/command/options.ts
/** What people read in a terminal fits it, and what they copy from it is whole. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { renderTable } from '../../../bridge/command/table.js';
import { compiledProgram } from '../../../src/host/program.js';
import { Conversation } from '../../e2e/conversation.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS, sayIn } from '../../e2e/testScene.js';
import { testFolder } from '../../harness/folder.js';
import { appendLines, eventAt } from '../../monitoring/events/eventLines.js';
import { call, prompt, result, toText } from '../../monitoring/verdict/journals.js';
import { watchkeeperAgain } from '../cli/manyCalls.js';

// covers: bridge/cli/sessions.ts

const testInTerminal = spawnSync('script', ['--version']).status === 0 ? test : test.skip;
const LONG = 'monorepo-of-the-payments-team';

describe('a table', () => {
  const head = ['ID', 'STATUS', 'ASKED'];

  test('is one line per row if that fits', () => {
    expect(renderTable(head, [['a_1', 'done', 'go']], { columns: 40 })).toBe(
      ['ID   STATUS  ASKED', 'a_1  done    go'].join('\n'),
    );
  });

  test('is as wide as its cells if no width is given', () => {
    expect(renderTable(head, [['a'.repeat(100), 'done', 'go']]).split('\n')).toHaveLength(2);
  });

  test('moves cells that do not fit below the others, and cuts no id', () => {
    const id = 'a'.repeat(50);
    expect(renderTable(head, [[id, 'waiting', 'go']], { columns: 40 })).toBe(
      ['ID', '    STATUS   ASKED', id, '    waiting  go'].join('\n'),
    );
  });

  test('cuts or wraps the last column if allowed, by the display width of its letters', () => {
    const asked = '漢字を二十字ほど並べた依頼の文';
    expect(renderTable(head, [['a_1', 'done', asked]], { columns: 40, last: 'cut' })).toBe(
      ['ID   STATUS  ASKED', 'a_1  done    漢字を二十字ほど並べた依頼…'].join('\n'),
    );
    expect(renderTable(head, [['漢', 'done', 'one two three four five six']], { columns: 32, last: 'wraps' })).toBe(
      ['ID  STATUS  ASKED', '漢  done    one two three four', '            five six'].join('\n'),
    );
  });
});

describeScenes('the lists of a bridge', () => {
  testInTerminal(
    'fit 80 columns with long names, show the request without its secrets, and keep every id whole',
    async () => {
      const scene = await openTestScene({
        projects: {
          [LONG]: {
            chats: [{ id: -1001234567890 }],
            scenarios: [
              { when: { attempt: 1 }, steps: [{ do: 'exit', code: 1 }] },
              { steps: [{ do: 'answer', text: 'done' }] },
            ],
          },
        },
      });
      await scene.startBridge();
      const asked = `デプロイして ${scene.github.token} ${'and then look at every log '.repeat(10)}\nDo it twice.`;
      const conversation = new Conversation(scene, LONG, -1001234567890, asked);
      await conversation.answered('done');
      await conversation.closing();
      const [first, second] = [conversation.session, conversation.revival];
      const sessions = await sayIn(scene, ['sessions']);
      const incidents = await sayIn(scene, ['incidents']);
      for (const { out } of [sessions, incidents]) {
        expect(tooWide(out, 80)).toEqual([]);
        expect(out.split(/\s+/)).toEqual(expect.arrayContaining([first]));
      }
      expect(sessions.out.split(/\s+/)).toEqual(expect.arrayContaining([second]));
      expect(sessions.out).toContain('(run_failed_exit_1)');
      expect(sessions.out.match(/デプロイして \[redacted:own_secret\] and then/g)).toHaveLength(2);
      expect(sessions.out).not.toContain('twice');
      expect(incidents.out).toMatch(/http:\/\/\S+\/issues\/1\b/);
      const shown = inTerminal(scene.folder, `session ${first}`, 72, {
        REDIS_URL: scene.redis.url,
        GITHUB_TOKEN: scene.github.token,
      });
      expect(tooWide(shown, 72).filter((line) => line.trim().includes(' '))).toEqual([]);
      expect(shown.split(/\s+/)).toEqual(expect.arrayContaining([first, '[redacted:own_secret]', 'twice.']));
      const data = JSON.parse((await sayIn(scene, ['sessions', '--json'])).out);
      expect(data.sessions[0].message_text).toMatch(/^デプロイして \[redacted:own_secret\] .*Do it twice\.$/s);
    },
    SCENE_TIMEOUT_MS,
  );
});

describe('lists of files', () => {
  const folder = testFolder();
  const journal = join(folder, 'runs', LONG, `tg_${LONG}_-1001234567890_4469`, 'tool_use.jsonl');
  mkdirSync(join(journal, '..'), { recursive: true });
  writeFileSync(journal, toText([prompt(0), call(1, 'a'), result(2, 'a'), call(1_000, 'b'), result(1_001, 'b')]));
  appendLines(join(folder, 'logs/critical_events.jsonl'), [
    eventAt('i1', 0, { session_id: `tg_${LONG}_-1001234567890_4469`, reason: 'run_failed_exit_1' }),
  ]);

  test.each(['assess', 'backtest'])('have tables of 80 columns: %s', (command) => {
    const { out } = watchkeeperAgain(folder, [command, 'runs']);
    const table = out.split('\n').slice(
      0,
      out.split('\n').findIndex((line) => /^(?:\d+ run|runs|.*: silence)/.test(line)),
    );
    expect(table.length).toBeGreaterThan(2);
    expect(tooWide(table.filter((line) => !line.includes('tool_use')).join('\n'), 80)).toEqual([]);
    expect(out).toMatch(command === 'assess' ? /_4469\/tool_use\.jsonl$/m : /^ +READINGS +p50/m);
  });

  testInTerminal.each([
    ['assess runs', 100],
    ['backtest runs', 90],
    ['events', 90],
    ['doctor --quick', 60],
  ])('fit the terminal, each word whole: %s', (command, columns) => {
    const piped = watchkeeperAgain(folder, command.split(' ')).out;
    const shown = inTerminal(folder, command, columns);
    expect(tooWide(shown, columns).filter((line) => line.trim().includes(' '))).toEqual([]);
    expect(words(shown)).toEqual(words(piped));
  });

  test('print one unchanged line for a program', () => {
    expect(watchkeeperAgain(folder, ['events']).out.trim().split('\n')).toHaveLength(1);
  });
});

/** @returns what a terminal of so many columns shows */
function inTerminal(
  folder: string,
  command: string,
  columns: number,
  environment: Readonly<Record<string, string>> = {},
): string {
  const program = [process.execPath, compiledProgram('bridge/cli/main')].map((word) => `'${word}'`).join(' ');
  const { stdout } = spawnSync('script', ['-qec', `stty cols ${columns}; ${program} ${command}`, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...environment },
    encoding: 'utf8',
  });
  return stdout.replaceAll('\r', '');
}

/** @returns them in order; the space that a disk has left is another one the next moment */
function words(text: string): string[] {
  return text
    .replace(/\d+(?=\s+MiB)/g, 'some')
    .split(/\s+/)
    .sort();
}

/** @returns the lines that need more columns; letters of Asia need two */
function tooWide(text: string, columns: number): string[] {
  return text.split('\n').filter((line) => line.length + (line.match(/[\u3000-\u9fff]/g)?.length ?? 0) > columns);
}
