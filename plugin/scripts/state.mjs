// Calls `watchkeeper state` of the installation. It uses nothing but Node, because an agent may have copied this folder.
import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Standard input and output are those of the caller; so is the exit code. */
export function callState(...words) {
  const program = realpathSync(fileURLToPath(new URL('../bin/watchkeeper', import.meta.url)));
  const { status, error } = spawnSync(program, ['state', ...words], { stdio: 'inherit' });
  if (error !== undefined) console.error(`watchkeeper: ${program} cannot be started: ${error.message}`);
  process.exitCode = status ?? 3;
}
