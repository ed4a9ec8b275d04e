/** A session as an older tracker knew it: what is known of it, and what was counted while it ran. Pure. */
import { textOf } from '../../src/journal/record.js';
import { isoTime, isoTimeOrNull } from '../../src/time.js';
import { progressOf } from '../fold/state.js';
import type { Worklog } from '../fold/worklog.js';
import type { Observed } from '../observed/observed.js';

/** Instants are ISO 8601, or null if unknown, or if nothing happened. */
export interface SessionMetadata {
  readonly sessionId: string | null;
  readonly createdAt: string | null;
  readonly lastUpdated: string | null;
  /** The title of the step in progress. */
  readonly phase: string | null;
  readonly governanceLevel: string | null;
  /** How many sessions it was delegated through; 0 for a root. */
  readonly delegationDepth: number;
  readonly parentSession: string | null;
  readonly language: { readonly communication: string | null; readonly documents: string | null };
  readonly compactedAt?: string;
  /** Tokens. */
  readonly contextSize?: number;
  readonly resumedAt?: string;
  readonly idleAt?: string;
}

export interface SessionTracker {
  readonly firstToolUsed: boolean;
  readonly firstToolName: string | null;
  readonly agentRole: string | null;
  readonly delegationDepth: number;
  /** 1: root; 2 and more: delegated. */
  readonly sessionLevel: number;
  readonly parentSession: string | null;
  /** Calls that were blocked or rejected, and moves that were refused. */
  readonly violationCount: number;
  readonly governanceInjected: boolean;
}

/** The facts that both are made of. */
export interface SessionSources {
  readonly log: Worklog;
  /** Null if nothing was observed. */
  readonly fold: Observed | null;
  /** How many sessions it was delegated through. */
  readonly depth: number;
  /** Whether its agent was given the context of a session. */
  readonly wasGivenContext: boolean;
}

/**
 * Whether an agent works for another one: in a session that the other one started, or as a sub-agent within one. Nothing is guessed
 * from words or from which tool came first.
 */
export function detectSubagentSession({
  parent,
  agent_id,
}: {
  readonly parent: string | null;
  readonly agent_id: string | null;
}): boolean {
  return parent !== null || agent_id !== null;
}

export function loadSessionMetadata({ log, fold, depth }: SessionSources): SessionMetadata {
  const { facts, steps } = log;
  const current = progressOf([...steps.values()]).current;
  const { communication = '', documents = '' } = facts?.set.language ?? {};
  return {
    sessionId: log.session_id,
    createdAt: isoTimeOrNull(log.created_at),
    lastUpdated: isoTimeOrNull(Math.max(log.last_activity ?? 0, fold?.lastActivity ?? 0) || null),
    phase: current === null ? null : (steps.get(current)?.title ?? null),
    governanceLevel: textOf(facts?.set.governance_level),
    delegationDepth: depth,
    parentSession: facts?.parent ?? null,
    language: { communication: textOf(communication), documents: textOf(documents) },
    ...instant('compactedAt', fold?.compactedAt ?? null),
    ...(fold?.contextTokens == null ? {} : { contextSize: fold.contextTokens }),
    ...instant('resumedAt', log.resumed_at),
    ...instant('idleAt', fold?.idleAt ?? null),
  };
}

export function sessionTracker({ log, fold, depth, wasGivenContext }: SessionSources): SessionTracker {
  const parent = log.facts?.parent ?? null;
  return {
    firstToolUsed: fold?.firstTool != null,
    firstToolName: fold?.firstTool ?? null,
    agentRole: textOf(log.facts?.set.role),
    delegationDepth: depth,
    sessionLevel: detectSubagentSession({ parent, agent_id: null }) ? Math.max(depth, 1) + 1 : 1,
    parentSession: parent,
    violationCount: log.refused + (fold?.blocked ?? 0) + (fold?.rejected ?? 0),
    governanceInjected: wasGivenContext,
  };
}

function instant<Name extends string>(name: Name, at: number | null): { readonly [Key in Name]?: string } {
  return at === null ? {} : ({ [name]: isoTime(at) } as { readonly [Key in Name]: string });
}
