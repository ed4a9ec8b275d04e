// covers: memory/git/git.ts memory/git/ancestry.ts memory/git/history.ts memory/verbs/checkpoint.ts memory/verbs/createHandoff.ts memory/handoffs/drift.ts memory/workspaces/scan.ts
/** While git does not answer, commands report that, and never that something is gone, new or different. */
import { appendFileSync, mkdirSync, rmSync, truncateSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { testFolder } from '../../../harness/folder.js';
import { put } from '../../../memory/git/plainGit.js';
import { Site } from '../../../memory/git/site.js';
import { UnansweredGit, withoutEach } from '../../../memory/git/unansweredGit.js';
import { WorkScene } from '../work/scene.js';

const LIMIT_MS = 120_000;
const MEBIBYTE = 1024 * 1024;
const NO_ANSWER = expect.stringMatching(/^git does not answer for /);
const GIVEN = ['--title', 'Login', '--goal', 'g', '--learning', 'l', '--next', 'n', '--file', 'a.txt'];

type Line = readonly ['track' | 'handoff', ...string[]];

let site: Site;
let scene: WorkScene;

/** @param failing of the calls for which git does not answer; null if it answers all */
async function say([word, ...args]: Line, failing: UnansweredGit | null = null) {
  const { HOME, PATH } = site.git.variables;
  const variables = { HOME, PATH: failing === null ? PATH : [failing.folder, PATH].join(delimiter) };
  return await scene.say(word, args, { where: site.root, variables });
}

async function json(line: Line, failing: UnansweredGit | null = null) {
  return JSON.parse((await say([...line, '--json'], failing)).out);
}

let made = 0;
const failing = (questions: readonly string[] | 'all') => {
  made += 1;
  return new UnansweredGit(join(site.folder, `failing-${made}`), questions);
};

beforeEach(async () => {
  site = new Site(testFolder());
  scene = new WorkScene();
  put(site.in('.gitignore'), 'ignored/\n');
  site.git.commitAll(site.root, 'two');
  mkdirSync(site.in('ignored'));
  put(site.in('ignored/x.js'), 'x');
  appendFileSync(site.in('a.txt'), 'uncommitted\n');
  await say(['track', 'init', 'Login']);
});

test('no checkpoint is made of a state that git does not tell', async () => {
  const none = failing('all');
  expect(await say(['track', 'checkpoint', 'c'], none)).toMatchObject({ code: 3, err: NO_ANSWER });
  expect(await json(['track', 'checkpoint', '--list'])).toEqual([]);
});

test(
  'a checkpoint that was made without one of the answers is not told from the same state',
  async () => {
    let made = 0;
    await withoutEach(async (questions) => {
      const git = failing(questions);
      made += 1;
      const name = `c${made}`;
      if ((await say(['track', 'checkpoint', name], git)).code !== 0) return git;
      const { code, out, err } = await say(['track', 'checkpoint', '--verify', name]);
      if (code === 3) expect(err).toEqual(NO_ANSWER);
      else expect(out).toBe('nothing has changed since\n');
      return git;
    });
  },
  LIMIT_MS,
);

test('on a branch without a commit, that of the checkpoint is not among the present ones', async () => {
  site.git.run(site.root, 'commit', '-q', '-a', '-m', 'three');
  await say(['track', 'checkpoint', 'c']);
  site.git.run(site.root, 'switch', '-q', '--orphan', 'docs');
  expect(await say(['track', 'checkpoint', '--verify', 'c'])).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^rewritten: .*on branch docs instead of main/),
  });
});

test(
  'a checkpoint is compared as it is, or not at all',
  async () => {
    await say(['track', 'checkpoint', 'c']);
    for (const name of ['c', 'start']) {
      const words: Line = ['track', 'checkpoint', '--verify', name];
      for (const commits of [false, true]) {
        if (commits) site.git.run(site.root, 'commit', '-q', '--allow-empty', '-m', `after ${name}`);
        const { code, out } = await say(words);
        await withoutEach(async (questions) => {
          const git = failing(questions);
          const said = await say(words, git);
          if (said.code === 3) expect(said.err).toEqual(NO_ANSWER);
          else if (!said.out.includes('git cannot compare the uncommitted changes'))
            expect(said).toMatchObject({ code, out });
          return git;
        });
        expect(await say(words, failing('all'))).toMatchObject({ code: 3, err: NO_ANSWER });
      }
    }
  },
  LIMIT_MS,
);

test('a scan names no file as new or gone that git ignores', async () => {
  await say(['track', 'scan']);
  appendFileSync(site.in('a.txt'), 'more\n');
  put(site.in('new.txt'), 'new');
  const none = failing('all');
  expect((await say(['track', 'status'], none)).out).toMatch(
    /^changes since .*; git does not answer, so new files are not seen:\n {2}modified {2}a\.txt/m,
  );
  const { out, err } = await say(['track', 'scan'], none);
  expect([out, err]).toEqual([
    expect.stringMatching(/changes\n {2}modified {2}a\.txt\n?$/),
    expect.stringContaining('git does not answer, so new files are not seen'),
  ]);
  expect(await json(['track', 'status'], none)).toMatchObject({ changes: { complete: false } });
  const { created, deleted } = await json(['track', 'scan']);
  expect([created.paths, deleted.paths]).toEqual([['new.txt'], []]);
});

test('a file that git ignores by now is not gone', async () => {
  put(site.in('late.txt'), 'l');
  await say(['track', 'scan']);
  appendFileSync(site.in('.gitignore'), 'late.txt\n');
  expect((await json(['track', 'scan'])).deleted.paths).toEqual([]);
  rmSync(site.in('a.txt'));
  expect((await json(['track', 'scan'])).deleted.paths).toEqual(['a.txt']);
});

test(
  'a handoff that was written without git, or is read without it, claims no drift that there is not',
  async () => {
    const { handoff_id } = await json(['handoff', 'create', ...GIVEN]);
    const show: Line = ['handoff', 'show', handoff_id];
    for (const commits of [false, true]) {
      if (commits) site.git.run(site.root, 'commit', '-q', '--allow-empty', '-m', 'after');
      const known = new Set<string>([...(await json(show)).drift, 'unknown']);
      await withoutEach(async (questions) => {
        const git = failing(questions);
        const drift: string[] = (await json(show, git)).drift;
        expect(drift.filter((kind) => !known.has(kind))).toEqual([]);
        return git;
      });
      expect((await json(show, failing('all'))).drift).toContain('unknown');
    }
    const blind = await json(['handoff', 'create', '--title', 'Other', ...GIVEN.slice(2)], failing('all'));
    const again: Line = ['handoff', 'show', blind.handoff_id];
    expect((await json(again)).drift).toEqual(['unknown']);
    expect((await say(again)).out).toContain('its uncommitted changes were not recorded, because git did not answer');
  },
  LIMIT_MS,
);

test('a file of a handoff that is too large to be compared is not gone', async () => {
  const { handoff_id } = await json(['handoff', 'create', ...GIVEN]);
  truncateSync(site.in('a.txt'), 100 * MEBIBYTE);
  const { out } = await say(['handoff', 'show', handoff_id]);
  expect(out).toContain('a.txt was not compared: it is too large, or cannot be read');
  rmSync(site.in('a.txt'));
  expect((await say(['handoff', 'show', handoff_id])).out).toContain('a.txt is gone');
});
