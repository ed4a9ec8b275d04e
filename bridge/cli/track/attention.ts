/** Whether the agent of a session works, waits or is stuck, judged as a watcher judges it. */
import type { Memory } from '../../../memory/sessions/memory.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import type { Status } from '../../../memory/show/status.js';
import { hasGoneOn } from '../../../monitoring/terminals/notices.js';
import { TerminalSession } from '../../../monitoring/terminals/terminalSession.js';
import { describeFinding } from '../../../monitoring/verdict/describe.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';

export interface Attention {
  /** Null: nothing of the agent's work can be seen, or it crashed. */
  readonly attention: 'working' | 'in_tool' | 'waiting' | 'idle' | null;
  readonly stuck: boolean;
  /** Why. */
  readonly findings: readonly { readonly rule: string; readonly since: string; readonly sentence: string }[];
}

/** For a person. */
export const DOING: Readonly<Record<NonNullable<Attention['attention']>, string>> = {
  working: 'its agent is working',
  in_tool: 'a call of its agent is running',
  waiting: 'its agent waits for a person or the model',
  idle: 'idle',
};

/** @param status as it was just looked at */
export async function attentionOf(memory: Memory, { id }: OpenSession, status: Status): Promise<Attention> {
  const { log, now, computed } = status;
  const sight = await new TerminalSession(memory, id).look({ now, thresholds: DEFAULT_THRESHOLDS, gaps: [] });
  const isPinged = log.ping !== null && log.ping.until >= now;
  // Without a watcher, nobody has closed the notice of an agent that has gone on since.
  const isOver = sight !== null && hasGoneOn(sight);
  const isNoticed = log.notices.length > 0 && !isPinged && !isOver;
  // An agent that is dead, or has ended, is not stuck; and before anything was begun, nobody works.
  if (sight === null || !sight.mayWork || log.lifecycle !== 'active')
    return { attention: computed.crashed ? null : 'idle', stuck: isNoticed, findings: [] };
  const { assessment } = sight;
  const findings = sight.findings.map((finding) => ({
    rule: finding.rule,
    since: finding.since,
    sentence: describeFinding(finding),
  }));
  const isWaiting = sight.log.isWaiting && assessment === null;
  return {
    attention: isWaiting ? 'waiting' : (assessment?.attention ?? null),
    stuck: isNoticed || findings.length > 0,
    findings,
  };
}
