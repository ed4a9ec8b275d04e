/**
 * The only place that says how git is started. An agent can write the configuration, the hooks, the attributes and the
 * submodules of its project. They name programs, and git runs those as the user who asks, outside of any sandbox.
 *
 * A list of things to switch off would have to be complete, name each filter, and hold while an agent rewrites the configuration.
 * So a question about a repository reads neither the repository's configuration nor the user's: it gets a folder of ours in the
 * place of the one that has configuration and hooks (`privateFolder.ts`), and the few settings that decide what is a change
 * (`settings.ts`). Three other questions read the real configuration: where the repository is, those settings, and in whose name
 * git would make a commit. For them git runs nothing.
 *
 * One door stays for the caller to close: to look into a submodule, git starts itself there, with the submodule's configuration.
 * A call that compares files must ignore what is dirty in submodules.
 */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { errorCode } from '../../src/errors.js';
import type { GitFolders } from './checkout.js';
import { type DeedVariables, deedVariables, whereSettingsAre } from './deedVariables.js';
import { pathOutside } from './outside.js';

const MOST_BYTES = 64 * 1024 * 1024;

/** The caller's: where git is, and where the user's own configuration is. */
export interface GitVariables extends DeedVariables {
  readonly PATH?: string | undefined;
  readonly HOME?: string | undefined;
}

/** How git is started. It gets no other variables. */
export interface GitLine {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface GitEnd {
  /** Null if git is not installed, or was ended because it took too long, or printed too much (`is_cut`). */
  readonly code: number | null;
  readonly is_cut?: boolean;
  readonly out: string;
  /** Its errors and warnings. */
  readonly err: string;
}

/** A repository that is asked by a configuration of ours. */
export interface PrivateRepository extends GitFolders {
  /** The top level of the worktree. */
  readonly root: string;
  /** In the place of `common`. */
  readonly ours: string;
  /** Each is `KEY=VALUE`, or `KEY` for a flag. */
  readonly settings: readonly string[];
}

/**
 * @param environment of the user who asks
 * @returns the line that asks git where the repository of a directory is, or why it does not work there
 */
export function placeLine(directory: string, environment: GitLine['env']): GitLine {
  return gitLine(['-C', directory, 'rev-parse', '--git-dir'], directory, environment);
}

/**
 * @param keys a regular expression
 * @returns the line that lists settings of a worktree and of its user; git exits with 1 if there are none
 */
export function settingsLine(keys: string, root: string, folder: string, variables: GitVariables): GitLine {
  const words = ['-C', root, `--git-dir=${folder}`, 'config', '-z', '--get-regexp', keys];
  return gitLine(words, root, whereSettingsAre(variables));
}

/**
 * The line of a call that a person has asked for by name, and that is to do what git does there: with the user's configuration, filters
 * and hooks. Never for a question.
 */
export function ordinaryLine(directory: string, args: readonly string[], variables: GitVariables): GitLine {
  return gitLine(['-C', directory, ...args], directory, deedVariables(variables));
}

const NO_CONFIGURATION = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' } as const;

/** @returns the line of any other call, also of one that writes */
export function privateLine(repository: PrivateRepository, args: readonly string[], variables: GitVariables): GitLine {
  const { root, folder, common, ours, settings } = repository;
  return gitLine(['-C', root, ...settings.flatMap((setting) => ['-c', setting]), ...args], root, {
    ...whereSettingsAre(variables),
    GIT_DIR: folder,
    GIT_COMMON_DIR: ours,
    GIT_OBJECT_DIRECTORY: join(common, 'objects'),
    GIT_WORK_TREE: root,
    ...NO_CONFIGURATION,
  });
}

/**
 * The line of a deed on branches and commits that a person has asked for by name. The settings of the repository and the user count, as
 * for a signature, but no hook runs.
 * @param common the folder that worktrees share: it stays when a worktree goes
 */
export function deedLine(common: string, args: readonly string[], variables: GitVariables): GitLine {
  const words = ['-C', common, `--git-dir=${common}`, '-c', 'core.hooksPath=/dev/null', ...args];
  return gitLine(words, common, deedVariables(variables));
}

/** Where a question about commits is tried, in {@link PrivateRepository.ours}. Git's objects there are not in the repository. */
export const TRIAL = {
  head: 'HEAD',
  objects: 'objects',
  alternates: 'objects/info/alternates',
  files: 'files',
  /** In the place of a worktree's own folder while its files are kept. */
  keep: 'keep',
} as const;
/** The worktree of a trial is empty at first, and nothing of a user decides how files are merged. */
const NO_ATTRIBUTES = ['-c', 'core.attributesFile=/dev/null'];
const AT = '2000-01-01T00:00:00Z';
/** A throw-away commit needs an author and a time. */
const AUTHOR = {
  GIT_AUTHOR_NAME: 'trial',
  GIT_AUTHOR_EMAIL: 'trial',
  GIT_AUTHOR_DATE: AT,
  GIT_COMMITTER_NAME: 'trial',
  GIT_COMMITTER_EMAIL: 'trial',
  GIT_COMMITTER_DATE: AT,
} as const;

/**
 * @param ours as {@link PrivateRepository.ours}, with the parts that {@link TRIAL} names
 * @returns the line of a call about commits alone: no worktree, no setting of a user, no object of the repository is changed
 */
export function trialLine(root: string, ours: string, args: readonly string[], variables: GitVariables): GitLine {
  return commitLine(root, { ours, objects: join(ours, TRIAL.objects) }, args, variables);
}

/** As {@link trialLine}, but what git writes are objects of the repository. They have our name as author. */
export function storeLine(
  repository: Pick<PrivateRepository, 'root' | 'ours' | 'common'>,
  args: readonly string[],
  variables: GitVariables,
): GitLine {
  const { root, ours, common } = repository;
  const line = commitLine(root, { ours, objects: join(common, 'objects') }, args, variables);
  return { ...line, env: { ...line.env, ...KEEPER } };
}

/**
 * The line of a call that takes files of a worktree into an index of ours, and into objects of the repository, byte for byte: the
 * attributes there (`privateFolder.ts`) turn every conversion off.
 */
export function keepLine(repository: PrivateRepository, args: readonly string[], variables: GitVariables): GitLine {
  const { root, ours, common, settings } = repository;
  const keep = join(ours, TRIAL.keep);
  const words = ['-C', root, ...NO_ATTRIBUTES, ...settings.flatMap((setting) => ['-c', setting]), ...args];
  return gitLine(words, root, {
    ...{ PATH: variables.PATH, HOME: variables.HOME, GIT_DIR: keep, GIT_COMMON_DIR: keep },
    GIT_INDEX_FILE: join(keep, 'index'),
    GIT_OBJECT_DIRECTORY: join(common, 'objects'),
    GIT_WORK_TREE: root,
    ...NO_CONFIGURATION,
    GIT_ATTR_NOSYSTEM: '1',
  });
}

function commitLine(
  root: string,
  { ours, objects }: { readonly ours: string; readonly objects: string },
  args: readonly string[],
  variables: GitVariables,
): GitLine {
  const files = join(ours, TRIAL.files);
  return gitLine(['-C', files, ...NO_ATTRIBUTES, ...args], root, {
    ...{ PATH: variables.PATH, HOME: variables.HOME, GIT_DIR: ours, GIT_COMMON_DIR: ours },
    GIT_OBJECT_DIRECTORY: objects,
    GIT_WORK_TREE: files,
    ...NO_CONFIGURATION,
    GIT_ATTR_NOSYSTEM: '1',
    ...AUTHOR,
  });
}

/** The author of commits that hold what was removed. The same contents at the same place are the same commit. */
const KEEPER = {
  GIT_AUTHOR_NAME: 'watchkeeper',
  GIT_AUTHOR_EMAIL: 'watchkeeper@localhost',
  GIT_COMMITTER_NAME: 'watchkeeper',
  GIT_COMMITTER_EMAIL: 'watchkeeper@localhost',
} as const;

export interface GitCall {
  /** In milliseconds. Then git is killed. */
  readonly limitMs: number;
  /** Standard input; none if missing. */
  readonly input?: string | undefined;
  /** The encoding of input and answer. `latin1` keeps every byte apart, for texts that are compared; `utf8` if missing. */
  readonly encoding?: 'utf8' | 'latin1' | undefined;
}

/** Runs a line to its end, or for so long. */
export function runGit({ command, args, env }: GitLine, { limitMs, input, encoding = 'utf8' }: GitCall): GitEnd {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    // The `git` of a version manager may read files of its directory first.
    cwd: '/',
    encoding: 'buffer',
    timeout: limitMs,
    killSignal: 'SIGKILL',
    maxBuffer: MOST_BYTES,
    ...(input !== undefined && { input: Buffer.from(input, encoding) }),
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env,
  });
  const out = stdout?.toString(encoding) ?? '';
  // People read it, also where the answer is read as bytes.
  return { code: status, is_cut: errorCode(error) === 'ENOBUFS', out, err: stderr?.toString() ?? '' };
}

function gitLine(args: readonly string[], root: string, { PATH, ...environment }: GitLine['env']): GitLine {
  return {
    command: 'git',
    args,
    env: { ...environment, ...pathOutside(root, PATH), GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' },
  };
}
