import { join } from 'node:path';
import type { AnthropicPeer } from './anthropicPeer.js';

/** Claude Code runs for seconds here: its engine's second compiler takes a fifth of its processor time, and pays later. */
export const LESS_COMPILING_OF_CLAUDE: Readonly<Record<string, string>> = { BUN_JSC_useDFGJIT: '0' };

/**
 * @param home keeps what Claude Code writes for itself
 * @returns what Claude Code needs to know no other place than the peer
 */
export function claudeEnvironment(peer: Pick<AnthropicPeer, 'url' | 'apiKey'>, home: string): Record<string, string> {
  return {
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    ANTHROPIC_BASE_URL: peer.url,
    ANTHROPIC_API_KEY: peer.apiKey,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Root is refused some modes outside of a sandbox, and tests may run as root.
    IS_SANDBOX: '1',
    ...LESS_COMPILING_OF_CLAUDE,
  };
}
