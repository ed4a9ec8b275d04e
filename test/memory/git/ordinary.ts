/** Repositories as people have them. Each way to keep one that changes where git finds something, or what it calls a change. */
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { PlainGit, put } from './plainGit.js';

/** UTC epoch seconds. */
const OLD_S = 5;
const LINES = 'one\r\ntwo\r\nthree\r\n';

export class Ordinary {
  readonly git: PlainGit;
  /** The directory in which git is asked, unless a scene says another one. */
  readonly root: string;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.git = new PlainGit(folder);
    this.root = join(folder, 'work');
  }

  /** By what it is: makes it. A text that it returns is the directory in which git is asked; otherwise it is `root` */
  readonly scenes: Readonly<Record<string, (made: Ordinary) => unknown>> = {
    'a folder that is no repository': () => put(this.#in('a.txt'), 'a'),
    'an ordinary repository': () => this.#soiled(),
    'one without changes': () => this.#clean(),
    'one without commits': () => this.#unborn(),
    'one without commits, with an added file': () => {
      this.#unborn();
      this.#run('add', 'a.txt');
    },
    'a detached head': () => {
      this.#soiled();
      this.#run('checkout', '-q', '--detach');
    },
    'packed branches': () => {
      this.#soiled();
      this.#run('pack-refs', '--all');
    },
    'a mode that changed': () => {
      this.#clean();
      chmodSync(this.#in('a.txt'), 0o755);
    },
    'a mode that does not count': () => {
      this.#clean();
      chmodSync(this.#in('a.txt'), 0o755);
      this.#run('config', 'core.fileMode', 'false');
    },
    'a merge in conflict': () => {
      this.#clean();
      this.#run('checkout', '-q', '-b', 'side', 'HEAD~1');
      writeFileSync(this.#in('b.txt'), 'side\n');
      this.git.commitAll(this.root, 'side');
      this.git.say(this.root, ['merge', '-q', 'main']);
    },
    'a linked worktree': () => this.#linked(),
    'a linked worktree with settings of its own': () => {
      const linked = this.#linked();
      this.#run('config', 'extensions.worktreeConfig', 'true');
      this.git.run(linked, 'config', '--worktree', 'core.fileMode', 'false');
      chmodSync(join(linked, 'a.txt'), 0o755);
      return linked;
    },
    'a worktree of a container': () => this.#container('main'),
    'the container itself': () => this.#container(''),
    'a submodule': () => {
      const module = join(this.#withSubmodule(), 'module');
      this.#soil(module);
      return module;
    },
    'a submodule at another commit': () => {
      this.git.commitAll(join(this.#withSubmodule(), 'module'), 'third');
    },
    "a folder of git's elsewhere": () => {
      this.#clean(`--separate-git-dir=${this.#beside('apart')}`);
      this.#soil();
    },
    "a link in the place of git's folder": () => {
      this.#soiled();
      renameSync(this.#in('.git'), this.#beside('apart'));
      symlinkSync(this.#beside('apart'), this.#in('.git'));
    },
    'longer digests': () => {
      this.#clean('--object-format=sha256');
      this.#soil();
    },
    'a shallow copy': () => this.#copied('--depth=1', `file://${this.#first()}`),
    'a copy that borrows objects': () => this.#copied('--shared', this.#first()),
    'objects that are borrowed by a relative path': () => {
      this.#copied('--shared', this.#first());
      put(this.#in('.git/objects/info/alternates'), '../../../first/.git/objects\n');
    },
    'a part of the files': () => {
      this.#clean();
      this.#run('sparse-checkout', 'set', '--cone', '--sparse-index', 'sub');
      appendFileSync(this.#in('sub/c.txt'), 'more\n');
    },
    'a part of the files, and one that was added since': () => {
      this.#clean();
      this.#run('sparse-checkout', 'set', '--no-cone', '/a.txt');
      put(this.#in('sub/c.txt'), 'back again\n');
    },
    'an index in two files': () => {
      this.#soiled();
      this.#run('update-index', '--split-index');
    },
    'a commit in the place of another': () => this.#replaced(),
    'ends of lines that git converts': () => this.#withLines(() => this.#run('config', 'core.autocrlf', 'true')),
    'ends of lines that git converts for this user': () =>
      this.#withLines(() => this.#run('config', '--global', 'core.autocrlf', 'true')),
    'ends of lines that git converts by an included file': () =>
      this.#withLines(() => {
        put(this.#in('.git/more'), '[core]\n\tautocrlf\n');
        this.#run('config', 'include.path', 'more');
      }),
    'links as files': () => {
      this.#clean();
      symlinkSync('a.txt', this.#in('link'));
      this.git.commitAll(this.root, 'link');
      rmSync(this.#in('link'));
      writeFileSync(this.#in('link'), 'a.txt');
      this.#run('config', 'core.symlinks', 'false');
    },
    'names that differ by capitals': () => {
      this.#clean();
      put(this.#in('A.TXT'), 'capitals\n');
      this.#run('config', 'core.ignoreCase', 'true');
    },
    'files that are too big to compare': () => {
      this.#soiled();
      this.#run('config', 'core.bigFileThreshold', '5');
    },
    'attributes of this user': () =>
      this.#withLines(() => {
        put(join(this.git.home, 'attributes'), '*.crlf text eol=crlf\n');
        this.#run('config', '--global', 'core.attributesFile', '~/attributes');
      }),
    'a file that was moved away and back, which this copy does not look at': () => {
      this.#filtered();
      this.#run('config', 'core.checkStat', 'minimal');
      copyFileSync(this.#in('large.txt'), this.#in('large.new'));
      renameSync(this.#in('large.new'), this.#in('large.txt'));
      utimesSync(this.#in('large.txt'), OLD_S, OLD_S);
    },
    'files that this copy ignores': () => {
      this.#soiled();
      put(this.#in('.git/info/exclude'), '*.log\n');
    },
    'files that this user ignores': () => {
      this.#soiled();
      put(join(this.git.home, 'ignored'), '*.log\n');
      this.#run('config', '--global', 'core.excludesFile', '~/ignored');
    },
    'files that this user ignores by the usual list': () => {
      this.#soiled();
      put(join(this.git.home, '.config/git/ignore'), '*.log\n');
    },
    'another repository inside': () => {
      this.#clean();
      this.git.repository(this.#in('other'));
    },
  };

  #in(path: string): string {
    return join(this.root, path);
  }

  #beside(name: string): string {
    return join(this.#folder, name);
  }

  #run(...args: string[]): void {
    this.git.run(this.root, ...args);
  }

  #clean(...options: string[]): void {
    this.git.repository(this.root, ...options);
  }

  #soiled(): void {
    this.#clean();
    this.#soil();
  }

  #unborn(): void {
    mkdirSync(this.root);
    this.#run('init', '-q');
    put(this.#in('a.txt'), 'a');
    put(this.#in('b.txt'), 'b');
  }

  /** Makes a change of each kind. */
  #soil(where = this.root): void {
    appendFileSync(join(where, 'a.txt'), 'more\n');
    put(join(where, 'staged.txt'), 'staged\n');
    this.git.run(where, 'add', 'staged.txt');
    rmSync(join(where, 'b.txt'));
    put(join(where, 'new one.txt'), 'new\n');
    put(join(where, 'sub/übrig.log'), 'ignored by some\n');
  }

  #linked(): string {
    this.#clean();
    this.#run('worktree', 'add', '-q', this.#beside('linked'));
    this.#soil(this.#beside('linked'));
    return this.#beside('linked');
  }

  /** A repository without files, beside its worktrees. */
  #container(name: string): string {
    mkdirSync(this.root);
    this.git.run(this.#folder, 'clone', '-q', '--bare', this.#first(), this.#in('.bare'));
    put(this.#in('.git'), 'gitdir: ./.bare\n');
    this.#run('worktree', 'add', '-q', this.#in('main'), 'main');
    this.#soil(this.#in('main'));
    return this.#in(name);
  }

  #first(): string {
    return this.git.repository(this.#beside('first'));
  }

  #copied(...from: string[]): void {
    this.git.run(this.#folder, 'clone', '-q', ...from, this.root);
    this.#soil();
  }

  #withSubmodule(): string {
    this.#clean();
    this.#run('submodule', '--quiet', 'add', this.#first(), 'module');
    this.git.commitAll(this.root, 'with a module');
    return this.root;
  }

  /** The second commit has no parent any more. */
  #replaced(): void {
    this.#soiled();
    this.#run('replace', '--graft', 'HEAD');
  }

  /** A file that only a program of the user's shows to be as it was committed. */
  #filtered(): void {
    this.#clean();
    this.#run('config', '--global', 'filter.large.clean', 'tr a-z A-Z');
    put(this.#in('.gitattributes'), 'large.txt filter=large\n');
    put(this.#in('large.txt'), 'small letters\n');
    // Git compares the contents of a file that is as young as the index in any case.
    utimesSync(this.#in('large.txt'), OLD_S, OLD_S);
    this.git.commitAll(this.root, 'large');
  }

  /** A file whose lines end as in Windows, committed with or without a conversion, and touched afterwards. */
  #withLines(convert: () => void): void {
    this.#clean();
    convert();
    put(this.#in('lines.crlf'), LINES);
    this.git.commitAll(this.root, 'lines');
    put(this.#in('lines.crlf'), `${LINES}four\r\n`);
    put(this.#in('b.txt'), 'other\r\n');
  }
}
