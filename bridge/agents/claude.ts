/**
 * The agent `claude`: Claude Code through its SDK. The SDK is large and proprietary, so it is not a dependency of this package;
 * `npm run add-claude` adds it.
 *
 * A project's options and the checkout's own `.claude/settings.json` say what is allowed. Nothing waits for a person.
 */
import { compiledProgram } from '../../src/host/program.js';
import { type Clock, systemClock } from '../../src/time.js';
import { checkClaude } from './claude/check.js';
import { findInstallation, HOW_TO_INSTALL } from './claude/installation.js';
import { SDK_PACKAGE } from './claude/sdk.js';
import type { ClaudeOptions } from './claude/settings.js';
import type { Agent } from './program/contract.js';
import { endedRun, failedToStart } from './program/notStarted.js';
import { startProgram } from './program/startProgram.js';

/** Rules that allow a whole tool are intended; the SDK's warning about them would be in every final message to a chat. */
const NO_SDK_WARNING = '--disable-warning=CLAUDE_SDK_CAN_USE_TOOL_SHADOWED';

/** @returns the agent; each run checks again whether the package `sdk` is installed */
export function createClaudeAgent(options: ClaudeOptions, clock: Clock = systemClock, sdk = SDK_PACKAGE): Agent {
  return {
    kind: 'claude',
    start(request, signal) {
      const found = findInstallation(sdk);
      if (found.kind === 'incomplete') return endedRun(failedToStart(`${found.why}: ${HOW_TO_INSTALL}`));
      const conversation = request.conversationId === null ? [] : [`--conversation=${request.conversationId}`];
      const program = compiledProgram('bridge/agents/claude/claudeMain');
      const args = [NO_SDK_WARNING, program, `--options=${JSON.stringify(options)}`, ...conversation];
      return startProgram({ command: process.execPath, args }, request, signal, clock);
    },
    check: (request, signal) => checkClaude(request, signal, clock, sdk),
  };
}
