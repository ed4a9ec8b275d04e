// covers: memory/brief/quietCommits.ts memory/verbs/summary.ts memory/brief/workSummary.ts memory/brief/checks.ts memory/observed/commandParts.ts
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { createSession } from '../../../memory/verbs/createSession.js';
import { addLearning } from '../../../memory/verbs/learn.js';
import { end, start } from '../../../memory/verbs/lifecycle.js';
import { note } from '../../../memory/verbs/notes.js';
import { summary } from '../../../memory/verbs/summary.js';
import { transitionPhase } from '../../../memory/verbs/transitionPhase.js';
import { testFolder } from '../../harness/folder.js';
import { type Deed, day, fails, run } from '../learnings/madeSessions.js';
import { record } from '../learnings/recorded.js';
import { type Scratch, scratch } from './asked.js';

let scene: Scratch;
beforeEach(() => {
  scene = scratch();
});

const edit = (name: string): Deed => ({
  tool: 'Edit',
  input: { file_path: `${scene.directory}/${name}`, old_string: 'a', new_string: 'b' },
  ending: { how: 'ok' },
});
const worked = (...deeds: readonly Deed[]) =>
  record(scene.memory(), testFolder(), {
    ...{ provider: 'claude', conversation: '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2e01', at: day(1), deeds },
  });
const told = async (more: object = {}) =>
  [(await scene.outcome(summary, { pr: true, ...more })).lines].flat().join('\n');
const checksOf = async (...deeds: readonly Deed[]) => {
  const { checks } = await scene.asked(summary, { id: worked(...deeds) });
  return (checks as { command: string; ended: string; isOld: boolean }[]).map(
    ({ command, ended, isOld }) => `${command}: ${ended}${isOld ? ', old' : ''}`,
  );
};

test('of a terminal session: purpose, summary, commits, learnings, files, checks, in this order', async () => {
  const id = worked(
    edit('src/login.ts'),
    fails('npm test', 'Error: connect ECONNREFUSED 127.0.0.1:6379'),
    run('docker compose up -d redis'),
    run('npm test'),
    run('git commit -qam "Fix the login"', { how: 'ok', output: '[main 1a2b3c4] Fix the login' }),
    edit('../elsewhere.ts'),
  );
  await scene.asked(addLearning, { text: 'tokens live 1 h', session: id });
  await scene.outcome(end, { id, summary: 'The clock was in local time.' });
  expect(await told({ id })).toBe(
    [
      ...['# x', '', 'The clock was in local time.', '', '## What was done', '', '- Fix the login (1a2b3c4)'],
      ...['', '## Decisions and findings', '', '- tokens live 1 h'],
      ...['', '## Files', '', '- `src/login.ts` (modified)'],
      ...['', '## How it was checked', '', '- `npm test` passed'],
    ].join('\n'),
  );
  const lines = (await told({ id, pr: false })).split('\n');
  expect(lines).toContain('Errors that were overcome:');
  expect(lines).toContain(
    '  - npm test: Error: connect ECONNREFUSED 127.0.0.1:6379; then the same call, after docker compose up -d redis',
  );
});

test('of a session that a person tracked: the notes; of tests, nothing is claimed', async () => {
  await scene.outcome(start, { purpose: 'Mend the login' });
  await scene.outcome(note, { text: 'The token is cut' });
  const lines = (await told({ pr: false })).split('\n');
  expect(lines).toContain('1 second from its beginning to its last activity');
  expect(lines).toContain('  - The token is cut');
  expect(lines.join('\n')).toContain('Not recorded: no calls of an agent are on record.');
  await scene.outcome(end, {});
  expect((await told({ pr: false })).split('\n')).toContain('it took 1 second');
});

describe('a commit that git did not name', () => {
  let made = 0;
  const git = (seconds: number, ...words: string[]) => {
    const date = `@${day(1) / 1_000 + seconds} +0000`;
    const env = { ...process.env, GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date };
    const config = ['-c', 'user.name=a', '-c', 'user.email=a@b.c'];
    return execFileSync('git', [...config, ...words], { cwd: scene.directory, env, encoding: 'utf8' }).trim();
  };
  /** @param seconds since the session's first prompt. A call begins a second after the result before it, and takes one. */
  const commits = (seconds: number, subject: string) => {
    made += 1;
    writeFileSync(join(scene.directory, `${made}`), subject);
    git(seconds, 'add', '-A');
    git(seconds, 'commit', '-q', '-m', subject);
    return git(seconds, 'rev-parse', 'HEAD').slice(0, 10);
  };
  const doneIn = async (id: string) => /^## What was done\n\n((?:- .*\n)*)/m.exec(await told({ id }))?.[1] ?? '';

  beforeEach(() => {
    git(0, 'init', '-q', '-b', 'main');
    commits(-9, 'before');
  });

  test('is taken from git, on whichever branch, if it was made while the call ran', async () => {
    const named = run('git commit -am b', { how: 'ok', output: '[main 1a2b3c4] b' });
    const id = worked(
      run('git add -A && git commit -qm a'),
      named,
      run('git -c user.name="a b" commit --quiet -m c; ls'),
    );
    const first = commits(1, 'a');
    git(5, 'switch', '-q', '-c', 'other');
    const last = commits(6, 'c');
    commits(9, 'of a person');
    expect(await doneIn(id)).toBe(`- a (${first})\n- b (1a2b3c4)\n- c (${last})\n`);
  });

  test('is not guessed: of two commits at that time either may be its own', async () => {
    const id = worked(run('git commit -qm a'));
    commits(1, 'a');
    commits(2, 'of another agent');
    expect(await doneIn(id)).toBe('- A commit whose hash is not known\n');
  });

  test('is not guessed: it was made in another directory', async () => {
    const id = worked(run('cd ../other && git commit -qm a'), run('git -C /elsewhere commit -qm b'));
    commits(1, 'of another agent');
    commits(3, 'of another agent');
    expect(await doneIn(id)).toBe('- 2 commits whose hashes are not known\n');
  });

  test('is said to be made only if its call would else have failed', async () => {
    const unsure = [
      ...['git commit -qm a; ls', 'git commit -qm a | cat', 'true || git commit -qm a', 'git commit -qm a || true'],
      ...[
        'git commit --dry-run',
        'git log --grep commit',
        'echo git commit',
        'git commit -qm a &',
        'git commit-tree x',
        `git commit -qm "${'x'.repeat(5_000)}"`,
      ],
    ];
    const failed = fails('git commit -qm a', 'nothing to commit');
    expect(await doneIn(worked(...unsure.map((command) => run(command)), failed))).toBe('');
    const sure = ['git commit -qm a', 'cd src && git commit -qm "a; b" && git log | head -1', 'A=1 git commit -q;'];
    expect(await doneIn(worked(...sure.map((command) => run(command))))).toBe(
      '- 3 commits whose hashes are not known\n',
    );
  });

  test('is not known if the directory is gone, or was no repository', async () => {
    const id = worked(run('git commit -qm a'));
    rmSync(join(scene.directory, '.git'), { recursive: true });
    expect(await doneIn(id)).toBe('- A commit whose hash is not known\n');
  });
});

test('of a session without calls on record: the commits that were made there until its end', async () => {
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e@e.invalid', ...words], { cwd: scene.directory });
  const commit = (subject: string) => git('commit', '-q', '--allow-empty', '-m', subject);
  git('init', '-q', '-b', 'main');
  commit('before');
  await scene.outcome(start, { purpose: 'Mend the login' });
  commit('Cut no token');
  await scene.outcome(end, {});
  expect(await told()).toMatch(
    /## Commits made in the directory during the session\n\n- Cut no token \([0-9a-f]{10}\)\n\n/,
  );
  expect(await told()).not.toContain('before');
});

describe('a check', () => {
  test('counts as it ended last, and says if a file was changed since', async () => {
    expect(
      await checksOf(
        run('npm test'),
        run('npx tsc --noEmit'),
        edit('src/a.ts'),
        fails('cd sub && npx eslint src', 'error', 1),
        run('cargo test --all'),
      ),
    ).toEqual([
      'npm test: passed, old',
      'npx tsc --noEmit: passed, old',
      'npx eslint src: failed',
      'cargo test --all: passed',
    ]);
    expect(await checksOf(run('npm test'), fails('npm test', 'no'), run('ls'))).toEqual(['npm test: failed']);
  });

  test.each([
    ['npm test | tail -5', 'npm test: unclear'],
    ['npm test; echo $?', 'npm test: unclear'],
    ['npm test || true', 'npm test: unclear'],
    ['npm test &', 'npm test: unclear'],
    ['set -o pipefail; npm test | tail -5', 'npm test: passed'],
    ['npm test 2>&1', 'npm test: passed'],
    ['cd app && npm test && git status', 'npm test: passed'],
    ['python3 -m pytest tests/test_a.py -q', 'python3 -m pytest tests/test_a.py -q: passed'],
    ['node --test test/', 'node --test test/: passed'],
  ])('is sure only if the exit code was its own: %s', async (command, ended) => {
    expect(await checksOf(run(command))).toEqual([ended]);
  });

  test.each([
    'echo npm test',
    'git commit -m "npm test"',
    'cat test.log',
    'rg "npm test"',
    'npm install',
    'git diff --check',
  ])('is none: %s', async (command) => {
    expect(await checksOf(run(command))).toEqual([]);
  });

  test('in a chain that failed is not sure; one that was denied, or runs on, has not passed', async () => {
    expect(await checksOf(fails('npm run lint && npm test', 'no'))).toEqual([
      'npm run lint: unclear',
      'npm test: unclear',
    ]);
    expect(await checksOf(run('npm test', { how: 'denied' }))).toEqual([]);
    const background = { how: 'ok', output: 'Command running in background with ID: b1' } as const;
    expect(await checksOf(run('npm test', background))).toEqual(['npm test: unclear']);
  });

  // A formatter's answer is no failure of the call, and yet the check did not pass.
  test('that answered with its exit code has failed', async () => {
    expect(await checksOf(fails('npx prettier --check .', '[warn] src/a.ts'))).toEqual([
      'npx prettier --check .: failed',
    ]);
  });
});

test('of a plan: phases with their output, decisions, validation, and what is open', async () => {
  const phases = [
    { id: 1, name: 'Find the cause' },
    { id: 2, name: 'Fix it', blocked_by: [1] },
    { id: 3, name: 'Tell people', blocked_by: [2] },
  ];
  const { session_id } = await scene.asked(createSession, { task: 'Fix the login', phases });
  await scene.asked(transitionPhase, { next_phase_id: 1 });
  await scene.asked(transitionPhase, {
    completed_phase_id: 1,
    output: 'the clock is in local time',
    validation: { passed: true, details: '12 tests' },
    downstream_context: { patterns_established: ['times are UTC'], warnings: ['old tokens expire at once'] },
    next_phase_id: 2,
  });
  await scene.asked(transitionPhase, { failed_phase_id: 2, error: 'no network', reason: 'no network' });
  expect(await told({ id: session_id })).toBe(
    [
      ...['# Fix the login', '', '## What was done', '', '- Find the cause', '  - the clock is in local time'],
      ...['', '## Decisions and findings', '', '- times are UTC', '- Warning: old tokens expire at once'],
      ...['', '## How it was checked', '', '- Find the cause: validation passed: 12 tests'],
      ...['', '## Open', '', '- Fix it (failed: no network)', '- Tell people (pending)'],
    ].join('\n'),
  );
});

test('words of others do nothing in a pull request: no mention, no reference, no markup, no section of their own', async () => {
  const hostile = '<details> @ann closes #12';
  const shown = '\\<details> `@ann` closes `#12`';
  const id = worked(edit('a`b.ts'), run('npm test -- "<x> @ann #1"'), {
    ...run('git commit -qam x', { how: 'ok', output: `[main 1a2b3c4] ${hostile}` }),
  });
  const { session_id } = await scene.asked(createSession, {
    task: `# ${hostile} | \`code\``,
    phases: [
      { id: 1, name: hostile },
      { id: 2, name: `# ${hostile}` },
    ],
  });
  await scene.asked(transitionPhase, { next_phase_id: 1 });
  const [validation, context] = [{ passed: true, details: hostile }, { warnings: [hostile] }];
  await scene.asked(transitionPhase, {
    ...{ completed_phase_id: 1, output: `${hostile}\n# two`, validation, downstream_context: context },
  });
  await scene.asked(addLearning, { text: hostile, session: session_id });
  const planned = await told({ id: session_id });
  expect(planned.split('\n').filter((line) => line.startsWith('#'))).toEqual([
    `# \\# ${shown} \\| \`code\``,
    ...['## What was done', '## Decisions and findings', '## How it was checked', '## Open'],
  ]);
  expect(
    planned
      .split('\n')
      .filter((line) => line.includes('@ann'))
      .slice(1),
  ).toEqual([
    ...[`- ${shown}`, `  - ${shown} # two`, `- Warning: ${shown}`, `- ${shown}`],
    ...[`- ${shown}: validation passed: ${shown}`, `- \\# ${shown} (pending)`],
  ]);
  await scene.outcome(end, { id, summary: `Done.\n## Open\n- **${hostile}**` });
  expect((await told({ id })).split('\n').filter((line) => /[<`]/.test(line))).toEqual([
    ...['- **\\<details> `@ann` closes `#12`**', `- ${shown} (1a2b3c4)`],
    ...['- `` a`b.ts `` (modified)', '- `npm test -- "<x> @ann #1"` passed'],
  ]);
  expect(await told({ id })).toContain('\n### Open\n');
});

test('secrets of people and tools are nowhere in it', async () => {
  const secret = `ghp_${'Ab1'.repeat(12)}`;
  const id = worked(run(`npm test -- --token ${secret}`), fails(`npm run lint ${secret}`, `Error: ${secret}`));
  await scene.outcome(end, { id, summary: `used ${secret}` });
  for (const pr of [true, false])
    expect(JSON.stringify(await scene.outcome(summary, { id, pr }))).not.toContain(secret.slice(0, 12));
});
