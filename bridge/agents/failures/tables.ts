/** The table of each agent program, and one for unknown programs. */
import { ANY_WORDINGS } from './anyProgram.js';
import { CLAUDE_WORDINGS } from './claude.js';
import { CODEX_WORDINGS } from './codex.js';
import { GEMINI_WORDINGS } from './gemini.js';
import type { Wordings } from './wording.js';

export const AGENT_PROGRAMS = ['claude', 'codex', 'gemini'] as const;
export type AgentProgramName = (typeof AGENT_PROGRAMS)[number];

export const WORDINGS: Readonly<Record<AgentProgramName, Wordings>> = {
  claude: [...CLAUDE_WORDINGS, ...ANY_WORDINGS],
  codex: [...CODEX_WORDINGS, ...ANY_WORDINGS],
  gemini: [...GEMINI_WORDINGS, ...ANY_WORDINGS],
};

/** For a program that reports its own failure, and may be a wrapper of one of the above. */
export const REPORTED: Wordings = [...CLAUDE_WORDINGS, ...CODEX_WORDINGS, ...ANY_WORDINGS];

/** For the last output of a plain program. Only wordings that no ordinary program has. */
export const PRINTED: Wordings = [...CLAUDE_WORDINGS, ...CODEX_WORDINGS];
