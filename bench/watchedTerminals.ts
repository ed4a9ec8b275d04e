/** A home with sessions of terminals, and the watch over it, whose time the bench moves. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type WorklogLine, worklogKind } from '../memory/fold/rules/kind.js';
import { stampLine, textOfLine } from '../memory/logs/line.js';
import { Memory } from '../memory/sessions/memory.js';
import { RecordedGaps } from '../monitoring/lateness/knownGaps.js';
import { rulesIn } from '../monitoring/terminals/directoryRules.js';
import { TerminalWatch } from '../monitoring/terminals/terminalWatch.js';
import { readProcessIdentity } from '../src/host/identity.js';
import { createLogger } from '../src/log/logger.js';
import { redactShapes } from '../src/log/redact.js';
import { MINUTE, systemClock } from '../src/time.js';
import { writeTranscript } from './transcripts.js';

const TRANSCRIPT_BYTES = 60e3;

export interface WatchedPaths {
  readonly worklog: string;
  readonly transcript: string;
}

/** @returns the files of so many sessions, each with an agent that is at work */
export function makeTerminals(home: string, count: number): WatchedPaths[] {
  const process = readProcessIdentity('bench');
  const stamp = { clock: systemClock, redact: redactShapes, origin: 'program' } as const;
  return Array.from({ length: count }, (_, index) => {
    const id = `ses_${String(index).padStart(26, '0')}`;
    const folder = join(home, 'sessions', id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const paths = { worklog: join(folder, 'worklog.jsonl'), transcript: join(home, 'transcripts', `${index}.jsonl`) };
    mkdirSync(join(home, 'transcripts'), { recursive: true });
    writeTranscript(paths.transcript, TRANSCRIPT_BYTES);
    const lines: WorklogLine[] = [
      worklogKind.line('session_started', { session_id: id, workspace: 'ws_0000000000000000', cwd: home }),
      worklogKind.line('run_started', { session_id: id, process, agent: 'claude' }),
      worklogKind.line('conversation', {
        ...{ session_id: id, provider: 'claude', conversation: `c${index}`, source: 'startup' },
        ...{ transcript: paths.transcript, cwd: home },
      }),
    ];
    writeFileSync(paths.worklog, lines.map((line) => textOfLine(stampLine(line, stamp))).join(''));
    return paths;
  });
}

/** @returns a watch, and what moves its time to the next round */
export function watchOf(home: string) {
  let ahead = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const surroundings = { directory: '/', process: readProcessIdentity('bench'), variables: { WATCHKEEPER_HOME: home } };
  const watch = new TerminalWatch({
    clock,
    logger: createLogger({ level: 'fatal', redact: redactShapes, clock, destinations: [] }),
    gaps: new RecordedGaps(clock),
    openMemory: () => new Memory({ surroundings, folder: null, clock, redact: redactShapes, origin: 'watchkeeper' }),
    rulesIn: (directory) => rulesIn([], directory),
    lease: { isActing: true },
    keep: () => undefined,
    onNotice: async () => undefined,
  });
  const nextRound = () => {
    ahead += MINUTE / 4;
  };
  return { watch, nextRound };
}
