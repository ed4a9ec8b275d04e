/** Calls that failed, and those that somebody refused, or that have only answered. */
// covers: memory/observed/faults.ts memory/observed/answers.ts
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { transcriptBrief } from '../../../memory/brief/transcriptBrief.js';
import { isAnswer } from '../../../memory/observed/answers.js';
import { readTranscript } from '../../../memory/observed/transcript.js';
import { redactShapes } from '../../../src/log/redact.js';
import { asks, calls, codex, RECORDED, returns, transcript } from '../../src/transcripts/told.js';

const read = (path: string) => readTranscript(path, redactShapes);

describe('a refused call is no failure', () => {
  test.each([
    ['claude-2.1.329/dialog-denied-with-words', 'rejected', 'keep it for now'],
    ['claude-2.1.330/dialog-denied', 'rejected', null],
    ['claude-2.1.330/esc-in-a-command', 'rejected', null],
    ['codex-0.169.0/dialog-denied', 'cancelled', null],
    ['codex-0.169.0/esc-in-a-command', 'cancelled', null],
  ])('%s', async (name, outcome, said) => {
    const found = await read(join(RECORDED, `${name}.jsonl`));
    expect(found.observed.errors).toEqual([]);
    expect(found.observed.refusals).toMatchObject([{ outcome, said }]);
    const { context } = transcriptBrief(found, { now: Date.UTC(2027, 0, 1), directory: '/', redact: redactShapes });
    expect(context).toContain('Calls that were refused or stopped, 1 in all');
    expect(context).not.toContain('Calls that failed');
    expect(context.includes('; the person said: "keep it for now"')).toBe(said !== null);
  });

  test('by a person of an older version, whose words are only in the text for the model', async () => {
    const text =
      "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit). To tell you how to proceed, the user said:\nNot that one.\nThe other.";
    const { observed } = await read(transcript([asks(0, 'go'), calls(1, 't1'), returns(2, 't1', text, true)]));
    expect([observed.errors, observed.refusals]).toMatchObject([[], [{ said: 'Not that one.\nThe other.' }]]);
  });
});

describe('an exit code that is an answer is no failure', () => {
  test.each([
    'grep -rn "a && b" src',
    'cd /app && rg TODO',
    'cat x | grep -c y',
    'diff -u a b 2>&1',
    'cmp a b; test -e c',
    '[ -f package.json ]',
    'git diff --exit-code -- src',
    'git -C /app diff --quiet',
    'FOO=1 /usr/bin/grep x y',
    'npx prettier --check .',
    'ruff format --check src',
    'npm test || grep x y',
    'watchkeeper track step 2 --done',
    "grep 'it''s; npm test' a",
    '# look\ngrep x y',
  ])('%s', (command) => {
    expect(isAnswer(command, 'Exit code 1\nwords')).toBe(true);
    expect(isAnswer(command, 'Process exited with code 1\n')).toBe(true);
    expect(isAnswer(command, 'Exit code 127')).toBe(false);
  });

  test.each([
    'npm test',
    'npm test && grep x y',
    'grep x y && npm test',
    'grep x y | xargs false',
    'echo grep; npm run lint',
    'prettier --write .',
    'git diff',
    './greppy',
    'gh pr create',
    '',
  ])('but not that of: %s', (command) => {
    expect(isAnswer(command, 'Exit code 1\nwords')).toBe(false);
  });

  test('of Claude Code and of Codex', async () => {
    const claude = await read(
      transcript([
        ...[calls(1, 't1', 'Bash', { command: 'cd /app\ngrep x y' }), returns(2, 't1', 'Exit code 1', true)],
        ...[calls(3, 't2', 'Bash', { command: 'npm test' }), returns(4, 't2', 'Exit code 1', true)],
      ]),
    );
    const ran = (seconds: number, id: string, cmd: string) => [
      codex(seconds, 'response_item', {
        ...{ type: 'function_call', name: 'exec_command', call_id: id, arguments: JSON.stringify({ cmd }) },
      }),
      codex(seconds + 1, 'response_item', {
        ...{ type: 'function_call_output', call_id: id },
        output: 'Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\n',
      }),
    ];
    const other = await read(
      transcript([codex(0, 'session_meta', { id: 'r' }), ...ran(1, 'a', 'rg x'), ...ran(3, 'b', 'make')]),
    );
    expect(claude.observed.errors.map(({ call }) => call)).toEqual(['Bash: npm test']);
    expect(other.observed.errors.map(({ call }) => call)).toEqual(['exec_command: make']);
    expect(claude.observed.actions.map(({ outcome }) => outcome)).toEqual(['ok', 'failed']);
  });
});
