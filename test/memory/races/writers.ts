/** Many processes that write one log at once, some of which are killed; and what is in the log afterwards. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { parseLine } from '../../../memory/logs/line.js';
import { Log } from '../../../memory/logs/log.js';
import { compiledProgram } from '../../../src/host/program.js';

const WRITER = compiledProgram('test/memory/races/writerMain');

import type { Random } from '../../src/journal/random.js';

export interface Round {
  readonly acknowledged: number;
  /** Acknowledged lines that are not in the log. */
  readonly lost: readonly string[];
  readonly unreadable: number;
  readonly lines: number;
}

/**
 * @param path of a log that has begun
 * @param writers processes, each of which writes `lines`; the first `killed` of them are killed at random instants
 */
export async function raceWriters(
  path: string,
  { writers, killed, lines, random }: { writers: number; killed: number; lines: number; random: Random },
): Promise<Round> {
  const acknowledged = await Promise.all(
    Array.from({ length: writers }, (_, index) =>
      writeAs(path, `w${index}`, lines, index < killed ? random.below(lines) : null),
    ),
  );
  const log = Log.read(path, worklogKind);
  const there = new Set(messagesIn(path));
  const all = acknowledged.flat();
  return {
    acknowledged: all.length,
    lost: all.filter((message) => !there.has(message)),
    unreadable: log?.counts.unreadable ?? -1,
    lines: log?.counts.lines ?? -1,
  };
}

/** @param killAfter kills the writer when it has acknowledged so many lines: it is somewhere in the next one then */
async function writeAs(path: string, name: string, lines: number, killAfter: number | null): Promise<string[]> {
  const child = spawn(process.execPath, [WRITER, path, name, String(lines)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (killAfter !== null && said.split('\n').length > killAfter) child.kill('SIGKILL');
  });
  const [code] = await once(child, 'close');
  if (code !== 0 && killAfter === null) throw new Error(`writer ${name} ended with ${code}`);
  return said.split('\n').slice(0, -1);
}

function messagesIn(path: string): string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((text) => {
      const line = parseLine(text);
      return line === null ? [] : [String(line.message)];
    });
}
