/** The recipe for `codex` (docs/agents.md), pointed at the peer. */

export const CODEX = { program: 'codex', remedy: 'npm install -g @openai/codex@0.169.0' };

/** @returns the options of an agent `command` */
export function codexOptions(url: string): Record<string, unknown> {
  const provider = `model_providers.peer={name="peer",base_url="${url}/v1",wire_api="responses",env_key="PEER_KEY"}`;
  const local = ['-c', 'model="local"', '-c', 'model_provider="peer"', '-c', provider];
  const codex = ['codex', 'exec', '--json', '--skip-git-repo-check', '-s', 'danger-full-access', ...local];
  return { command: [...codex, '-'], resume: [...codex, 'resume', '{conversation}', '-'], output: 'codex' };
}

/** @param home keeps what it writes for itself */
export function codexEnvironment(home: string): Record<string, string> {
  return { HOME: home, CODEX_HOME: home, PEER_KEY: 'local' };
}
