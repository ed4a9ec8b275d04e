/** The options of a project's agent `claude`. */
import * as z from 'zod';
import { wholeNumber } from '../../../src/config/numbers.js';

const MODES = ['default', 'acceptEdits', 'bypassPermissions'] as const;
const RULE = 'must be a rule such as "Bash(npm test:*)"';
const rules = z.array(z.string(RULE).min(1, RULE), 'must be a list of rules');

/** Without it, current models have no list of tasks. Other programs ignore it. */
export const TODO_TOOLS = { CLAUDE_CODE_ENABLE_TODO_TOOLS: '1' } as const;

export const claudeOptions = z.strictObject({
  model: z.string().min(1).optional(),
  /** Files of the working directory may be edited; everything else that could do harm needs a rule. */
  permissionMode: z.enum(MODES, `must be one of ${MODES.join(', ')}`).default('acceptEdits'),
  /** Rules as in Claude Code's own settings: `Read`, `Bash(npm test:*)`, `WebFetch(domain:example.com)`. */
  allowedTools: rules.default([]),
  disallowedTools: rules.default([]),
  maxTurns: wholeNumber('turns').optional(),
});
export type ClaudeOptions = z.infer<typeof claudeOptions>;
