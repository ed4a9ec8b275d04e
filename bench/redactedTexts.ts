/** The texts by which redaction is timed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../src/host/program.js';

/** Own secrets, as every bridge has some. They open nothing. */
export const OWN = [
  '7000000001:AAHpeer-token_that-opens-nothing',
  ['gh', 'q_peerTokenThatOpensNothing000'].join(''),
  'Quite-Long7Pass',
];

/** @returns texts as they leave a bridge, by their kind */
export function texts(): Record<string, string[]> {
  const source = readFileSync(new URL('../src/jobs/transitions.js', import.meta.url), 'utf8');
  const readme = readFileSync(join(packageRoot(), 'README.md'), 'utf8');
  const numbers = Array.from({ length: 200 }, (_, index) => 4_469 + index);
  return {
    'log line': numbers.map((id) =>
      JSON.stringify({
        level: 'info',
        time: '2026-11-22T22:09:46.123Z',
        pid: 12_345,
        session_id: `tg_popoto_-5294327191_${id}`,
        msg: `session tg_popoto_-5294327191_${id}: started, attempt 1, in /home/me/projects/popoto`,
      }),
    ),
    'journal line': numbers.map((id) =>
      JSON.stringify({
        v: 1,
        timestamp: '2026-11-22T22:09:46.123Z',
        event: 'pre_tool_use',
        session_id: `tg_popoto_-5294327191_${id}`,
        tool_use_id: `toolu_01A${id}`,
        tool_name: 'Bash',
        tool_input: { command: 'npm test -- --watch=false && git status', description: 'Run the tests' },
      }),
    ),
    'source code': [source],
    'code in JSON': [JSON.stringify({ source })],
    prose: [readme],
  };
}
