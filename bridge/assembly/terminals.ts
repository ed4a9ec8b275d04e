/** Builds the watch of the terminals of the user who runs this process. */
import { Memory } from '../../memory/sessions/memory.js';
import type { Surroundings } from '../../memory/sessions/surroundings.js';
import { terminalFolder } from '../../memory/sessions/terminalMemory.js';
import type { EventLog } from '../../monitoring/events/notice.js';
import type { KnownGaps } from '../../monitoring/lateness/knownGaps.js';
import { rulesIn } from '../../monitoring/terminals/directoryRules.js';
import { logTerminalNotice } from '../../monitoring/terminals/noticeEvent.js';
import { TerminalWatch } from '../../monitoring/terminals/terminalWatch.js';
import type { TerminalStream } from '../../src/log/logDestinations.js';
import { type DetachedStarter, keepLater } from '../command/keepLater.js';
import type { Foundation } from './foundation.js';

export interface ServiceStreams extends DetachedStarter {
  readonly logStream: TerminalStream;
  /** Where the terminals of this process's user are found. */
  readonly surroundings: Surroundings;
}

export interface TerminalSurroundings {
  readonly events: EventLog;
  readonly gaps: KnownGaps;
  /** Held by the process that acts for the logs folder. */
  readonly lease: { readonly isActing: boolean };
}

export function buildTerminalWatch(
  { settings, clock, logger, redact }: Foundation,
  { surroundings, startDetached }: ServiceStreams,
  { events, gaps, lease }: TerminalSurroundings,
): TerminalWatch {
  return new TerminalWatch({
    clock,
    logger,
    gaps,
    openMemory: () =>
      new Memory({ surroundings, folder: terminalFolder(surroundings), clock, redact, origin: 'watchkeeper' }),
    rulesIn: (directory) => rulesIn(settings.projects.values(), directory),
    lease,
    keep: (memory, session) => keepLater({ startDetached }, memory, session),
    onNotice: (noticed) => logTerminalNotice(events, logger, noticed),
  });
}
