/** What git's documentation lets a configuration run is tried by a plant, or named here; so a newer git makes itself heard. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { OBEYED } from '../../../memory/git/settings.js';
import { packageRoot } from '../../../src/host/program.js';
import { PLANTS } from './plants.js';

/** They may name a program, but no command of git that is installed with it runs it from a repository, or only by others. */
const WITHOUT_A_PLANT: Readonly<Record<string, string>> = {
  'branch.<name>.mergeOptions': 'names a strategy, which is a program `git-merge-NAME` on PATH',
  'bundle.*': 'an address, as that of a remote',
  'bundle.<id>.*': 'an address, as that of a remote',
  'bundle.<id>.uri': 'an address, as that of a remote',
  'bundle.uri': 'an address, as that of a remote',
  'gc.recentObjectsHook': 'of a newer git: run by its cleaning',
  'gitcvs.dbDriver': 'a module of Perl, for the server of another program',
  'guitool.<name>.cmd': 'run by a program with windows',
  'hook.<name>.command': 'of a newer git: a hook that needs no file',
  'hook.<name>.event': 'of a newer git: when that hook is run',
  'init.templateDir': 'copied into new repositories, with its hooks',
  'mergetool.vimdiff.layout': 'becomes a command of an editor',
  'pull.octopus': 'names a strategy, which is a program `git-merge-NAME` on PATH',
  'pull.twohead': 'names a strategy, which is a program `git-merge-NAME` on PATH',
  'sendemail.<identity>.*': 'run by `git send-email`',
  'sendemail.ccCmd': 'run by `git send-email`',
  'sendemail.headerCmd': 'run by `git send-email`',
  'sendemail.sendmailCmd': 'run by `git send-email`',
  'sendemail.smtpServer': 'run by `git send-email`',
  'sendemail.tocmd': 'run by `git send-email`',
  'submodule.<name>.url': 'an address, as that of a remote',
  'uploadpack.packObjectsHook': "git itself takes it from the user's and the system's settings only",
};

const DOCUMENTED = spawnSync('git', ['help', '--config'], { encoding: 'utf8' })
  .stdout.split('\n')
  .filter((line) => /^\w+\.\S+$/.test(line));
/** Many, and of one kind: messages, colours, columns, and what is done about a fault of an object. */
const OF_ONE_KIND = /^(?:advice|color|column)\.|(?:^|\.)fsck\./;

test('every setting of the documentation is planted, named, or harmless', () => {
  expect(DOCUMENTED.length).toBeGreaterThan(500);
  const known = new Set([...running(), ...harmless()]);
  const unknown = DOCUMENTED.filter((key) => !OF_ONE_KIND.test(key) && !known.has(key));
  // A key here is of a newer git. Does its value become a program? Then it gets a plant, otherwise a place in the list.
  expect(unknown).toEqual([]);
});

test('no setting is both', () => {
  const both = harmless();
  expect(running().filter((key) => both.includes(key))).toEqual([]);
});

test('a setting that our questions obey is harmless', () => {
  const obeyed = [...DOCUMENTED, ...running()].filter((key) => new RegExp(OBEYED).test(key.toLowerCase()));
  expect(obeyed.length).toBeGreaterThan(25);
  // Of formats, partialClone is read to know them, and of filters, that there are some; neither is handed on.
  const read = ['extensions.partialClone', 'filter.<driver>.clean', 'filter.<driver>.process'];
  const named = new Set([...harmless(), 'core.bare', 'extensions.worktreeConfig', ...read]);
  expect(obeyed.filter((key) => !OF_ONE_KIND.test(key) && !named.has(key))).toEqual([]);
});

function running(): string[] {
  return [...PLANTS.flatMap(({ name, keys = [] }) => [name, ...keys]), ...Object.keys(WITHOUT_A_PLANT)];
}

function harmless(): string[] {
  const text = readFileSync(join(packageRoot(), 'test/memory/git/harmlessSettings.txt'), 'utf8');
  const lines = text
    .replace(/^#.*\n/gm, '')
    .replaceAll('\n  ', ' ')
    .split('\n');
  return lines.flatMap((line) => {
    const [section, keys = ''] = line.split(': ');
    return keys.split(' ').map((key) => `${section}.${key}`);
  });
}
