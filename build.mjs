// Compiles the sources to dist/. With --if-possible (npm's `prepare`) it leaves quietly where the compiler or the sources
// are absent: `npm ci --omit=dev`, and the manifest-first layer of a container build.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('.', import.meta.url));
const compiler = `${root}node_modules/typescript/bin/tsc`;
const possible = existsSync(compiler) && existsSync(`${root}bridge`) && existsSync(`${root}tsconfig.json`);
if (!possible) {
  if (process.argv.includes('--if-possible')) process.exit(0);
  console.error('build: TypeScript or the sources are missing; run `npm ci` in the project folder first');
  process.exit(1);
}
const result = spawnSync(process.execPath, [compiler, '-p', `${root}tsconfig.json`, '--noEmit', 'false'], {
  stdio: 'inherit',
});
process.exit(result.status ?? 1);
