/**
 * The settings of a repository and of its user that our questions obey. They decide which files there are and what is a change
 * in one. Each is a flag, a number or a file of patterns; a setting that names a program must never be among those that git is given.
 */

/** Which bytes and files git compares. */
const OF_FILES = [
  'attributesfile',
  'autocrlf',
  'bigfilethreshold',
  'checkstat',
  'eol',
  'excludesfile',
  'filemode',
  'ignorecase',
  'precomposeunicode',
  'sparsecheckout',
  'symlinks',
  'trustctime',
].map((name) => `core.${name}`);
/** How git prints a difference. */
const OF_PRINT = [
  'core.abbrev',
  'core.quotepath',
  'color.diff',
  'color.ui',
  'diff.algorithm',
  'diff.context',
  'diff.indentheuristic',
  'diff.interhunkcontext',
  'diff.mnemonicprefix',
  'diff.noprefix',
  'diff.orderfile',
  'diff.renamelimit',
  'diff.renames',
  'diff.suppressblankempty',
];
/** Git lists it, and the settings of the repository, only if it knows the format. */
const VERSION = 'core.repositoryformatversion';
/** The parts of a format that change nothing for our questions, or that {@link formatOf} hands on. */
const KNOWN_EXTENSIONS = [
  'noop',
  'objectformat',
  'partialclone',
  'preciousobjects',
  'refstorage',
  'relativeworktrees',
  'worktreeconfig',
];

/** Ours: a command for a new worktree. Git is never given it. */
const SETUP = 'watchkeeper.setup';

/** Programs that convert files. Git is never given one; that there are some is all that is read. */
const FILTERS = 'filter\\..*\\.(clean|process)';
const FILTER = /^filter\./;

const NAMES = [VERSION, 'core.bare', SETUP, ...OF_FILES, ...OF_PRINT].map((key) => key.replace('.', '\\.'));
/** The keys that are read, as a regular expression of `git config`. */
export const OBEYED = `^(extensions\\..*|${FILTERS}|${NAMES.join('|')})$`;

export interface GitSettings {
  /** Whether the repository itself has no files; worktrees that are linked to it do. */
  readonly isBare: boolean;
  /** The text of a configuration with nothing but the format of the repository. */
  readonly format: string;
  /** `KEY=VALUE`, or `KEY` for a flag. */
  readonly ofFiles: readonly string[];
  readonly ofPrint: readonly string[];
  /** The command that sets up a new worktree; null if there is none. */
  readonly setup: string | null;
  /** Whether there are programs that convert files. */
  readonly hasFilters: boolean;
}

/** For a repository whose commits have the usual names, in files. */
export const OF_COMMITS: GitSettings = {
  isBare: false,
  format: formatOf('sha1', 'files'),
  ofFiles: [],
  ofPrint: [],
  setup: null,
  hasFilters: false,
};

/**
 * @param listed what git printed for {@link OBEYED}
 * @returns null if the format of the repository is unknown
 */
export function readSettings(listed: string): GitSettings | null {
  // The last of several counts.
  const settings = new Map<string, string | undefined>();
  for (const entry of listed.split('\0').filter((each) => each !== '')) {
    const [key = '', ...value] = entry.split('\n');
    settings.set(key, value.length === 0 ? undefined : value.join('\n'));
  }
  const extensions = [...settings.keys()].flatMap((key) => /^extensions\.(.*)$/.exec(key)?.[1] ?? []);
  if (!settings.has(VERSION) || !extensions.every((name) => KNOWN_EXTENSIONS.includes(name))) return null;
  const objects = settings.get('extensions.objectformat') ?? 'sha1';
  const refs = settings.get('extensions.refstorage') ?? 'files';
  if (!['sha1', 'sha256'].includes(objects) || !['files', 'reftable'].includes(refs)) return null;
  const given = (keys: readonly string[]) =>
    keys
      .filter((key) => settings.has(key))
      .map((key) => [key, settings.get(key)].filter((word) => word !== undefined).join('='));
  return {
    isBare: settings.has('core.bare') && isTrue(settings.get('core.bare')),
    format: formatOf(objects, refs),
    ofFiles: given(OF_FILES),
    ofPrint: given(OF_PRINT),
    setup: settings.get(SETUP) || null,
    hasFilters: [...settings.keys()].some((key) => FILTER.test(key)),
  };
}

/** Versions of git that do not know an extension refuse it, so the usual ones are left out. */
function formatOf(objects: string, refs: string): string {
  const extensions = [
    ...(objects === 'sha1' ? [] : [`\tobjectFormat = ${objects}`]),
    ...(refs === 'files' ? [] : [`\trefStorage = ${refs}`]),
  ];
  const version = `[core]\n\trepositoryFormatVersion = ${extensions.length === 0 ? 0 : 1}\n`;
  return extensions.length === 0 ? version : `${version}[extensions]\n${extensions.join('\n')}\n`;
}

/** As git reads a flag; without a value it is true. */
function isTrue(value: string | undefined): boolean {
  return value === undefined || /^(?:true|yes|on|[+-]?0*[1-9]\d*)$/i.test(value);
}
