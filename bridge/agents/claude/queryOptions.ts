/** Turns a project's settings and a run's environment into the SDK's options. */
import type { CanUseTool, QueryOptions } from './sdk.js';
import type { ClaudeOptions } from './settings.js';

/**
 * Defaults for what the operator has not set in `AGENT_ENV`. A background task outlives the turn that started it, so a run
 * would end with half an answer, or never; in the foreground it is a call like any other.
 */
const DEFAULT_ENVIRONMENT = { DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' };

export interface QuerySurroundings {
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly conversationId: string;
  /** Whether the conversation exists already. */
  readonly isKnown: boolean;
  readonly canUseTool: CanUseTool;
  readonly onError: (text: string) => void;
}

export function queryOptions(options: ClaudeOptions, around: QuerySurroundings): QueryOptions {
  const { model, maxTurns, permissionMode, allowedTools, disallowedTools } = options;
  return {
    cwd: around.workingDirectory,
    env: { ...DEFAULT_ENVIRONMENT, ...around.environment },
    ...(around.isKnown ? { resume: around.conversationId } : { sessionId: around.conversationId }),
    systemPrompt: { type: 'preset', preset: 'claude_code' },
    permissionMode,
    ...(permissionMode === 'bypassPermissions' && { allowDangerouslySkipPermissions: true }),
    canUseTool: around.canUseTool,
    allowedTools,
    disallowedTools,
    // Without partial messages, a long answer would look like a model that hangs.
    includePartialMessages: true,
    stderr: around.onError,
    ...(model !== undefined && { model }),
    ...(maxTurns !== undefined && { maxTurns }),
  };
}
