/**
 * The agent `claude`: Claude Code through its SDK, which is no dependency of this package (it is large and proprietary) and
 * is added by `npm run add-claude`.
 *
 * What a project allows is in its options and in the checkout's own `.claude/settings.json`. Nothing waits for a person.
 */
import { compiledProgram } from '../../src/host/program.js';
import { type Clock, systemClock } from '../../src/time.js';
import { checkClaude } from './claude/check.js';
import { describeMissing, findInstallation, HOW_TO_INSTALL } from './claude/installation.js';
import { SDK_PACKAGE } from './claude/sdk.js';
import type { ClaudeOptions } from './claude/settings.js';
import type { Agent } from './program/contract.js';
import { failedToStart } from './program/notStarted.js';
import { startProgram } from './program/startProgram.js';

/** Rules that allow a whole tool are meant so; the SDK's warning of them would stand in every last word to a chat. */
const NO_SDK_WARNING = '--disable-warning=CLAUDE_SDK_CAN_USE_TOOL_SHADOWED';

/**
 * @param sdk the package that must be there
 * @returns the agent; whether the package is there is looked at for each run
 */
export function createClaudeAgent(options: ClaudeOptions, clock: Clock = systemClock, sdk = SDK_PACKAGE): Agent {
  return {
    kind: 'claude',
    start(request, signal) {
      const missing = describeMissing(findInstallation(sdk), sdk);
      if (missing !== null) return failedToStart(`${missing}: ${HOW_TO_INSTALL}`);
      const conversation = request.conversationId === null ? [] : [`--conversation=${request.conversationId}`];
      const args = [
        NO_SDK_WARNING,
        compiledProgram('bridge/agents/claude/claudeMain'),
        `--options=${JSON.stringify(options)}`,
        ...conversation,
      ];
      return startProgram({ command: process.execPath, args }, request, signal, clock);
    },
    check: (request, signal) => checkClaude(request, signal, clock, sdk),
  };
}
