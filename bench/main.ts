/**
 * Runs the benches one after the other, each in a process of its own, so that none inherits another's heap or compiled
 * code: `npm run bench`, or `npm run bench -- fold append` for some of them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { machine, say } from './report.js';

/**
 * Those that make files come before those that leave thousands deleted: for minutes afterwards ext4 passes over every inode
 * that was freed lately, and a new file takes it ten times as long.
 */
const BENCHES = [
  'redaction',
  'rendering',
  'fold',
  'replay',
  'scaling',
  'append',
  'worklog',
  'sessions',
  'crowded',
  'worktrees',
  'endings',
  'handoffs',
  'transcript',
  'learn',
  'following',
  'terminals',
  'pluginCalls',
  'hooks',
  'mcp',
  'plans',
  'intake',
  'recovery',
  'growth',
  'memory',
  'reconciliation',
  'detection',
] as const;

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !BENCHES.some((bench) => bench === name));
if (unknown.length > 0) {
  process.stderr.write(`no bench is called ${unknown.join(', ')}; there are ${BENCHES.join(', ')}\n`);
  process.exitCode = 2;
} else {
  say(machine());
  for (const name of BENCHES) if (asked.length === 0 || asked.includes(name)) await run(name);
}

async function run(name: (typeof BENCHES)[number]): Promise<void> {
  const program = fileURLToPath(new URL(`${name}.js`, import.meta.url));
  const bench = spawn(process.execPath, ['--expose-gc', program], { stdio: 'inherit' });
  const [code] = await once(bench, 'exit');
  if (code !== 0) process.exitCode = 1;
}
