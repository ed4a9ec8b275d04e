/** Whether the agent of a session works, waits or is stuck, judged as the watchdog judges the sessions of a bridge. */
import { presentSource } from '../../../memory/observed/sources.js';
import type { Memory } from '../../../memory/sessions/memory.js';
import type { OpenSession } from '../../../memory/sessions/sessions.js';
import type { Status } from '../../../memory/show/status.js';
import { judgeJournal } from '../../../monitoring/offline/assessPaths.js';
import { describeFinding } from '../../../monitoring/verdict/describe.js';
import { DEFAULT_THRESHOLDS, type Rule } from '../../../src/config/rules.js';

/** What a wait excuses of which the transcript does not know. */
const BY_WAIT: readonly Rule[] = ['silence', 'runaway'];
/** A ping is no progress. */
const BY_PING: readonly Rule[] = ['silence'];

export interface Attention {
  /** Null: nothing of the agent's work can be seen. */
  readonly attention: 'working' | 'in_tool' | 'waiting' | 'idle' | null;
  readonly stuck: boolean;
  /** Why. */
  readonly findings: readonly { readonly rule: string; readonly since: string; readonly sentence: string }[];
}

/** @param status as it was just looked at */
export async function attentionOf(memory: Memory, { folder }: OpenSession, status: Status): Promise<Attention> {
  const { log, now } = status;
  const isNoticed = log.notices.length > 0;
  if (!mayWork(status)) return { attention: 'idle', stuck: isNoticed, findings: [] };
  const isWaiting = [...log.waits.values()].some(({ until }) => until === null || until > now);
  const source = await presentSource(log, folder, { folders: memory.programs, redact: memory.stamp.redact });
  if (source === null) return { attention: isWaiting ? 'waiting' : null, stuck: isNoticed, findings: [] };
  const { assessment } = await judgeJournal(source, { thresholds: DEFAULT_THRESHOLDS, now });
  const excused = isWaiting ? BY_WAIT : log.ping !== null && log.ping.until > now ? BY_PING : [];
  const faults = assessment.findings.filter(({ rule }) => !excused.includes(rule));
  const findings = faults.map((finding) => ({
    rule: finding.rule,
    since: finding.since,
    sentence: describeFinding(finding),
  }));
  return {
    attention: isWaiting ? 'waiting' : assessment.attention,
    stuck: isNoticed || findings.length > 0,
    findings,
  };
}

/** An agent that is dead, or has ended, is not stuck. */
function mayWork({ log, computed }: Status): boolean {
  return log.lifecycle === 'active' && log.runs.at(-1)?.ended_at == null && computed.liveness !== 'dead';
}
