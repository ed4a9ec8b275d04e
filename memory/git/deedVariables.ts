/**
 * The variables of a caller that count when git does something for a person: where that person's configuration and keys are, and the
 * name for a commit. None of them names a program or a repository. A question gets only {@link whereSettingsAre}.
 */
export const DEED_VARIABLES = [
  'GIT_CONFIG_GLOBAL',
  'XDG_CONFIG_HOME',
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
  'EMAIL',
  'SSH_AUTH_SOCK',
  'GNUPGHOME',
  'GPG_TTY',
] as const;

export type DeedVariables = { readonly [Name in (typeof DEED_VARIABLES)[number]]?: string | undefined };

const ALL = ['PATH', 'HOME', ...DEED_VARIABLES] as const;
type All = { readonly [Name in (typeof ALL)[number]]?: string | undefined };

/** A file that is ignored goes with its worktree, so the person's own patterns and settings decide. */
export function whereSettingsAre({ PATH, HOME, GIT_CONFIG_GLOBAL, XDG_CONFIG_HOME }: All): All {
  return { PATH, HOME, GIT_CONFIG_GLOBAL, XDG_CONFIG_HOME };
}

/** @returns those of a caller, with the ones that say where git and its user are, and no others */
export function deedVariables(variables: All): All {
  return Object.fromEntries(ALL.map((name) => [name, variables[name]]));
}
