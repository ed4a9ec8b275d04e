/** The commands of `quickProgram.ts`, for the one who starts it and must not load them. */
export const QUICK_NAMES = [
  'assess',
  'backtest',
  'cancel',
  'daydream',
  'enqueue',
  'events',
  'handoff',
  'import',
  'incidents',
  'learn',
  'mcp',
  'plugin',
  'session',
  'sessions',
  'state',
  'track',
  'work',
  'worktree',
] as const;

/** The same program answers them. */
export const VERSION_WORDS = ['version', '--version', '-V'] as const;

export type QuickName = (typeof QUICK_NAMES)[number];
