/**
 * What a repository can make git run, by git's documentation. Each plant names a program in one way, and the commands by which git
 * itself runs it: without that proof it would prove nothing that we do not.
 */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { put } from './plainGit.js';
import type { Command, Site } from './site.js';

export interface Plant {
  /** A setting, as `git help --config` lists it, or the file that names the program. Also the mark that the program leaves. */
  readonly name: string;
  /** Other settings that lead to the program. */
  readonly keys?: readonly string[];
  /** @param run the path of the program */
  plant(site: Site, run: string): void;
  /** What makes git run it. */
  readonly proof: readonly Command[];
  /** The checkout is then one that other plants cannot be in. */
  readonly isAlone?: true;
  /** A part of git, or another program, that not every host has. */
  readonly needs?: string;
}

const CREDENTIAL = 'protocol=https\nhost=nowhere.invalid\n\n';
const MAIL = 'From mbox\nFrom: a@example.com\nDate: Thu, 1 Jan 2026 00:00:00 +0000\nSubject: a\n\na\n';
const HOOKS = `applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg
post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update
reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman post-index-change`;

const git = (...args: string[]): Command => ({ args });
const [ADD, COMMIT, DIFF, STATUS] = [
  git('add', '-A'),
  git('commit', '-q', '--allow-empty', '-m', 'x'),
  git('diff'),
  git('status'),
];
const inTerminal = (...args: string[]): Command => ({ args, inTerminal: true });
const withInput = (input: string, ...args: string[]): Command => ({ args, input });

const OF_FILES: readonly Plant[] = [
  { name: 'core.fsmonitor', keys: ['core.fsmonitorHookVersion'], plant: set('core.fsmonitor'), proof: [STATUS] },
  { name: 'diff.external', plant: set('diff.external'), proof: [DIFF] },
  { name: 'diff.<driver>.command', plant: driver('diff', 'command'), proof: [DIFF] },
  {
    name: 'diff.<driver>.textconv',
    keys: ['diff.<driver>.cachetextconv'],
    plant: driver('diff', 'textconv'),
    proof: [DIFF],
  },
  { name: 'filter.<driver>.clean', plant: driver('filter', 'clean'), proof: [DIFF] },
  { name: 'filter.<driver>.process', plant: driver('filter', 'process'), proof: [DIFF] },
  { name: 'filter.<driver>.smudge', plant: driver('filter', 'smudge'), proof: [git('checkout', '--', 'smudge.txt')] },
  {
    name: 'merge.<driver>.driver',
    keys: ['merge.<driver>.name', 'merge.<driver>.recursive'],
    plant(site, run) {
      site.branch();
      put(site.in('.git/info/attributes'), '* merge=evil\n');
      site.config({ 'merge.evil.driver': run });
    },
    proof: [git('stash'), git('merge', 'side')],
    isAlone: true,
  },
  {
    name: 'interactive.diffFilter',
    needs: 'script',
    plant: set('interactive.diffFilter'),
    proof: [inTerminal('add', '-p')],
  },
];

const HOOK_PLANTS: readonly Plant[] = [
  {
    name: 'core.hooksPath',
    plant(site) {
      hooks(site, 'core.hooksPath', '.evil/hooks');
      site.config({ 'core.hooksPath': '.evil/hooks' });
    },
    proof: [ADD, COMMIT],
  },
  {
    name: '.git/hooks',
    keys: ['receive.procReceiveRefs'],
    plant: (site) => hooks(site, '.git/hooks', '.git/hooks'),
    proof: [ADD, COMMIT],
  },
];

const OF_TALK: readonly Plant[] = [
  {
    name: 'core.sshCommand',
    keys: ['ssh.variant'],
    plant: set('core.sshCommand'),
    proof: [git('ls-remote', 'ssh://nowhere.invalid/x')],
  },
  { name: 'core.gitProxy', plant: set('core.gitProxy'), proof: [git('ls-remote', 'git://nowhere.invalid/x')] },
  { name: 'core.askPass', plant: set('core.askPass'), proof: [withInput(CREDENTIAL, 'credential', 'fill')] },
  { name: 'credential.helper', plant: set('credential.helper'), proof: [withInput(CREDENTIAL, 'credential', 'fill')] },
  {
    name: 'credential.<url>.*',
    plant: set('credential.https://nowhere.invalid.helper'),
    proof: [withInput(CREDENTIAL, 'credential', 'fill')],
  },
  {
    name: 'remote.<name>.uploadpack',
    plant(site, run) {
      remote(site, 'uploadpack', { url: site.other(), uploadpack: run });
    },
    proof: [git('fetch', 'uploadpack')],
  },
  {
    name: 'remote.<name>.receivepack',
    plant(site, run) {
      remote(site, 'receivepack', { url: site.other(), receivepack: run });
    },
    proof: [git('push', 'receivepack', 'HEAD:refs/heads/x')],
  },
  {
    name: 'remote.<name>.url',
    keys: ['remote.<name>.pushurl', 'protocol.allow', 'protocol.<name>.allow'],
    plant(site, run) {
      site.config({ 'protocol.ext.allow': 'always' });
      remote(site, 'url', { url: `ext::${run}` });
    },
    proof: [git('fetch', 'url')],
  },
  {
    name: 'remote.<name>.vcs',
    plant(site, run) {
      site.config({ 'protocol.ext.allow': 'always' });
      remote(site, 'vcs', { url: run, vcs: 'ext' });
    },
    proof: [git('fetch', 'vcs')],
  },
  {
    name: 'url.<base>.insteadOf',
    keys: ['url.<base>.pushInsteadOf'],
    plant(site, run) {
      site.config({ 'protocol.ext.allow': 'always', [`url.ext::${run} .insteadOf`]: 'https://' });
    },
    proof: [git('ls-remote', 'https://nowhere.invalid/x')],
  },
  {
    name: 'core.alternateRefsCommand',
    keys: ['core.alternateRefsPrefixes'],
    plant(site, run) {
      put(site.in('.git/objects/info/alternates'), `${join(site.other(), '.git/objects')}\n`);
      site.config({ 'core.alternateRefsCommand': run });
    },
    proof: [git('fetch', '../other')],
  },
  {
    name: 'remote.<name>.promisor',
    keys: ['remote.<name>.partialclonefilter', 'extensions.partialClone'],
    plant: partialCopy((site) => site.lose('HEAD:a.txt')),
    proof: [DIFF],
    isAlone: true,
  },
  {
    name: 'remote.<name>.promisor, of a commit',
    plant: partialCopy((site) => site.lose('HEAD~1')),
    proof: [git('rev-list', 'HEAD')],
    isAlone: true,
  },
  {
    name: 'submodule.<name>.update',
    plant(site, run) {
      site.submodule();
      site.git.run(site.in('module'), 'checkout', '-q', '-f', 'HEAD~1');
      site.config({ 'submodule.module.update': `!${run}` });
    },
    proof: [git('submodule', 'update')],
  },
];

const OF_SIGNATURES: readonly Plant[] = [
  {
    name: 'gpg.program',
    keys: ['commit.gpgSign', 'push.gpgSign', 'tag.gpgSign', 'tag.forceSignAnnotated', 'user.signingKey'],
    plant(site, run) {
      site.config({ 'commit.gpgSign': 'true', 'gpg.program': run });
    },
    proof: [COMMIT],
  },
  {
    name: 'gpg.<format>.program',
    keys: ['gpg.format'],
    plant(site, run) {
      site.config({ 'gpg.format': 'x509', 'gpg.x509.program': run });
    },
    proof: [git('commit', '-S', '--allow-empty', '-m', 'x')],
  },
  {
    name: 'gpg.ssh.defaultKeyCommand',
    plant(site, run) {
      site.config({ 'gpg.format': 'ssh', 'gpg.ssh.defaultKeyCommand': run });
    },
    proof: [git('commit', '-S', '--allow-empty', '-m', 'x')],
    isAlone: true,
  },
  {
    name: 'log.showSignature',
    keys: ['merge.verifySignatures'],
    plant(site, run) {
      site.config({ 'log.showSignature': 'true', 'gpg.program': run });
      site.sign();
    },
    proof: [git('log', '-1')],
    isAlone: true,
  },
];

const OF_PEOPLE: readonly Plant[] = [
  {
    name: 'alias.*',
    plant(site, run) {
      const names = [
        'evil',
        'status',
        'diff',
        'rev-parse',
        'rev-list',
        'symbolic-ref',
        'ls-files',
        'merge-base',
        'config',
      ];
      site.config(Object.fromEntries(names.map((name) => [`alias.${name}`, `!${run}`])));
    },
    proof: [git('evil')],
  },
  { name: 'core.pager', needs: 'script', plant: set('core.pager'), proof: [inTerminal('log')] },
  {
    name: 'pager.<cmd>',
    needs: 'script',
    plant(site, run) {
      const names = [
        'log',
        'status',
        'diff',
        'rev-parse',
        'rev-list',
        'symbolic-ref',
        'ls-files',
        'merge-base',
        'config',
      ];
      site.config(Object.fromEntries(names.map((name) => [`pager.${name}`, run])));
    },
    proof: [inTerminal('log')],
  },
  { name: 'core.editor', plant: set('core.editor'), proof: [git('commit', '--allow-empty')] },
  { name: 'sequence.editor', plant: set('sequence.editor'), proof: [git('stash'), git('rebase', '-i', 'HEAD~1')] },
  {
    name: 'trailer.<token>.command',
    plant: set('trailer.sign.command'),
    proof: [withInput('a\n', 'interpret-trailers')],
  },
  {
    name: 'trailer.<token>.cmd',
    plant: set('trailer.sign.cmd'),
    proof: [withInput('a\n', 'interpret-trailers', '--trailer', 'sign: x')],
  },
  {
    name: 'difftool.<tool>.cmd',
    needs: 'git-difftool',
    keys: ['diff.tool', 'diff.guitool', 'difftool.prompt', 'difftool.trustExitCode'],
    plant(site, run) {
      site.config({ 'diff.tool': 'evil', 'difftool.evil.cmd': run });
    },
    proof: [git('difftool', '-y')],
  },
  {
    name: 'difftool.<tool>.path',
    needs: 'git-difftool',
    plant: set('difftool.kdiff3.path'),
    proof: [git('difftool', '-y', '-t', 'kdiff3')],
  },
  {
    name: 'mergetool.<tool>.cmd',
    needs: 'git-mergetool',
    keys: [
      'merge.tool',
      'merge.guitool',
      'mergetool.prompt',
      'mergetool.<tool>.trustExitCode',
      'mergetool.<tool>.hideResolved',
    ],
    plant(site, run) {
      site.branch();
      site.config({ 'merge.tool': 'evil', 'mergetool.evil.cmd': run });
    },
    proof: [git('stash'), git('merge', 'side'), withInput('n\nn\n', 'mergetool', '-y')],
    isAlone: true,
  },
  {
    name: 'mergetool.<tool>.path',
    needs: 'git-mergetool',
    plant(site, run) {
      site.branch();
      site.config({ 'mergetool.kdiff3.path': run });
    },
    proof: [git('stash'), git('merge', 'side'), withInput('n\nn\n', 'mergetool', '-y', '-t', 'kdiff3')],
    isAlone: true,
  },
  { name: 'tar.<format>.command', plant: set('tar.evil.command'), proof: [git('archive', '--format=evil', 'HEAD')] },
  {
    name: 'browser.<tool>.cmd',
    needs: 'git-web--browse',
    keys: ['web.browser', 'help.browser', 'help.htmlPath', 'help.format'],
    plant(site, run) {
      site.config({ 'web.browser': 'evil', 'browser.evil.cmd': run, 'help.htmlPath': 'https://nowhere.invalid' });
    },
    proof: [git('help', '-w', 'log')],
  },
  {
    name: 'browser.<tool>.path',
    needs: 'git-web--browse',
    plant: set('browser.firefox.path'),
    proof: [git('web--browse', '-t', 'firefox', 'https://nowhere.invalid')],
  },
  {
    name: 'man.<tool>.cmd',
    needs: 'man',
    keys: ['man.viewer'],
    plant(site, run) {
      site.config({ 'man.viewer': 'evil', 'man.evil.cmd': run });
    },
    proof: [git('help', '-m', 'log')],
  },
  {
    name: 'man.<tool>.path',
    needs: 'man',
    plant(site, run) {
      site.config({ 'man.viewer': 'man', 'man.man.path': run });
    },
    proof: [git('help', '-m', 'log')],
  },
  {
    name: 'imap.tunnel',
    needs: 'git-imap-send',
    keys: ['imap.folder'],
    plant: imap,
    proof: [withInput(MAIL, 'imap-send')],
  },
  {
    name: 'instaweb.httpd',
    needs: 'git-instaweb',
    keys: ['instaweb.browser', 'instaweb.modulePath', 'instaweb.port', 'instaweb.local'],
    plant: set('instaweb.httpd'),
    proof: [git('instaweb')],
  },
];

const OF_PLACES: readonly Plant[] = [
  { name: 'include.path', plant: included('include.path'), proof: [STATUS] },
  { name: 'includeIf.<condition>.path', plant: included('includeIf.gitdir:/.path'), proof: [STATUS] },
  {
    name: '.git/config.worktree',
    keys: ['extensions.worktreeConfig'],
    plant(site, run) {
      site.config({ 'extensions.worktreeConfig': 'true' });
      site.config({ 'core.fsmonitor': run }, '--worktree');
    },
    proof: [STATUS],
  },
  {
    name: 'the configuration of a submodule',
    keys: [
      'status.submoduleSummary',
      'diff.submodule',
      'submodule.recurse',
      'submodule.<name>.ignore',
      'diff.ignoreSubmodules',
    ],
    plant(site, run) {
      site.git.run(site.submodule(), 'config', 'core.fsmonitor', run);
      site.config({ 'diff.submodule': 'diff', 'status.submoduleSummary': 'true', 'submodule.module.ignore': 'none' });
    },
    proof: [STATUS],
  },
  {
    name: 'a filter of a submodule',
    plant(site, run) {
      const module = site.submodule();
      put(join(module, '.gitattributes'), '* filter=evil\n');
      site.git.run(module, 'config', 'filter.evil.clean', run);
    },
    proof: [STATUS],
  },
  {
    name: 'a file in the place of .git',
    plant(site, run) {
      site.config({ 'core.fsmonitor': run });
      renameSync(site.in('.git'), site.in('.evil/git'));
      put(site.in('.git'), 'gitdir: .evil/git\n');
    },
    proof: [STATUS],
    isAlone: true,
  },
  {
    name: 'core.worktree of a folder that looks like a repository',
    keys: ['core.worktree', 'core.bare'],
    plant(site, run) {
      site.config({ 'core.fsmonitor': run, 'core.bare': 'false', 'core.worktree': site.root });
      for (const name of ['HEAD', 'config', 'index', 'objects', 'refs'])
        renameSync(site.in(join('.git', name)), site.in(name));
      rmSync(site.in('.git'), { recursive: true });
    },
    proof: [STATUS],
    isAlone: true,
  },
  {
    name: "a program that the user's settings name in the checkout",
    plant(site) {
      hooks(site, "a program that the user's settings name in the checkout", '.githooks');
      site.config({ 'core.hooksPath': '.githooks' }, '--global');
    },
    proof: [ADD, COMMIT],
  },
  {
    name: "a filter of the user's",
    plant(site, run) {
      site.attribute('large.txt', 'filter=large');
      site.config({ 'filter.large.clean': run }, '--global');
    },
    proof: [DIFF],
  },
];

export const PLANTS: readonly Plant[] = [
  ...OF_FILES,
  ...HOOK_PLANTS,
  ...OF_TALK,
  ...OF_SIGNATURES,
  ...OF_PEOPLE,
  ...OF_PLACES,
];

function set(key: string): Plant['plant'] {
  return (site, run) => site.config({ [key]: run });
}

/** An attribute of a changed file, and the program for it. */
function driver(attribute: string, key: string): Plant['plant'] {
  return (site, run) => {
    site.attribute(`${key}.txt`, `${attribute}=evil-${key}`);
    site.config({ [`${attribute}.evil-${key}.${key}`]: run });
  };
}

function hooks(site: Site, mark: string, folder: string): void {
  for (const hook of HOOKS.split(/\s+/)) site.program(mark, join(folder, hook));
}

/** Each with a name of its own, so that none hides another. */
function remote(site: Site, name: string, settings: Readonly<Record<string, string>>): void {
  site.config(Object.fromEntries(Object.entries(settings).map(([key, value]) => [`remote.${name}.${key}`, value])));
}

/** A copy that fetches what it lacks when it is needed. */
function partialCopy(lose: (site: Site) => void): Plant['plant'] {
  return (site, run) => {
    remote(site, 'evil', { url: site.other(), uploadpack: run, promisor: 'true', partialclonefilter: 'blob:none' });
    site.config({ 'core.repositoryFormatVersion': '1', 'extensions.partialClone': 'evil' });
    lose(site);
  };
}

function included(key: string): Plant['plant'] {
  return (site, run) => {
    put(site.in('.evil/config'), `[core]\n\tfsmonitor = ${run}\n`);
    site.config({ [key]: '../.evil/config' });
  };
}

function imap(site: Site, run: string): void {
  site.config({ 'imap.folder': 'a', 'imap.tunnel': run });
}
