/**
 * The agent of a run, from its start to the end of its stream. Its events go into the journal, the store and the progress
 * message.
 */

import type { AgentUser } from '../../src/config/agentUser.js';
import { DEFAULT_THRESHOLDS } from '../../src/config/rules.js';
import type { Project } from '../../src/config/settings.js';
import { describeError } from '../../src/errors.js';
import { failpoint } from '../../src/failpoints.js';
import { LANE_MARK, laneMark, RUN_MARK } from '../../src/host/processes.js';
import { publishWake } from '../../src/jobs/wakes.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import { untilStored } from '../../src/redis/retry.js';
import type { Agent, AgentEnd, AgentEvent, AgentRequest } from '../agents/program/contract.js';
import type { Confinement } from '../agents/program/sandbox.js';
import type { ProgressView } from '../chat/progressView.js';
import { type LiveActivity, noteActivity } from './activity.js';
import { ActivityPulse } from './activityPulse.js';
import { CoalescedWake } from './coalescedWake.js';
import type { KnownRun, KnownRunContext, Learned } from './knownRun.js';
import { promptOf } from './prompt.js';
import type { RunJournal } from './runJournal.js';
import { logRunStart } from './runLog.js';

export interface StreamContext extends KnownRunContext {
  readonly redact: (text: string) => string;
  readonly agentEnvironment: Readonly<Record<string, string>>;
  /** The user that agents run as; null: the bridge's own user. */
  readonly agentUser: AgentUser | null;
  readonly logsFolder: string;
  /** By project. */
  readonly agents: { get(projectKey: string): Agent | undefined };
  projectOf(key: string): Project | null;
  readonly runLeaseMs: number;
  /** @returns what keeps the project's agents away from the bridge; null if nothing does */
  confinementOf(projectKey: string): Confinement | null;
  readonly display: Pick<ProgressView, 'update'>;
}

export interface StreamParts {
  readonly known: KnownRun;
  readonly activity: LiveActivity;
  readonly journal: RunJournal;
  /** Aborted when the agent is to end. */
  readonly stopped: AbortSignal;
}

export class AgentStream {
  private readonly context: StreamContext;
  private readonly known: KnownRun;
  private readonly activity: LiveActivity;
  private readonly journal: RunJournal;
  private readonly stopped: AbortSignal;
  private readonly wake: CoalescedWake;
  private readonly pulse: ActivityPulse;
  private hasSucceeded = false;
  private readonly learning: Promise<void>[] = [];
  /** Aborted when the stream ends; null if no torn journal is being noted. */
  private noting: AbortController | null = null;

  constructor(context: StreamContext, { known, activity, journal, stopped }: StreamParts) {
    this.context = context;
    this.known = known;
    this.activity = activity;
    this.journal = journal;
    this.stopped = stopped;
    const { session_id: session } = known.session;
    this.pulse = new ActivityPulse({
      clock: context.clock,
      thresholds: context.projectOf(known.session.project_key)?.thresholds ?? DEFAULT_THRESHOLDS,
      lastEventAt: () => activity.lastEventAt,
      store: (at) => context.store.transitions.renewLease(known.session, context.runLeaseMs, at),
    });
    this.wake = new CoalescedWake(() => publishWake(context.store, { session }).catch(known.warnAway));
  }

  /**
   * Reads the agent's stream to its end.
   * @param conversationId the provider's id of the conversation to continue; null: a new one
   */
  async follow(conversationId: string | null): Promise<AgentEnd> {
    const { context, known, stopped: signal } = this;
    const { session } = known;
    const agent = context.agents.get(session.project_key);
    if (agent === undefined) return startFailure(`no project "${session.project_key}" is configured`);
    let end: AgentEnd = startFailure('the agent ended without saying so');
    try {
      const request = await untilStored(context.clock, signal, known.warnAway, () => this.request(conversationId));
      // Nothing is awaited between here and the agent's start, so a later stop finds the agent's process.
      if (request === null || signal.aborted) return { kind: 'stopped' };
      failpoint('agent.spawn.before');
      const running = agent.start(request, signal);
      known.spawned(running.pid);
      failpoint('agent.spawn.after');
      logRunStart(context.logger, session, known.runId, running.pid);
      if (running.pid !== null) this.remember(await known.noteAgent(running.pid));
      for await (const event of running.events) {
        if (event.type === 'end') end = this.heard(event.end);
        else this.take(event);
      }
    } catch (error) {
      const reason = known.target.groupPid === null ? 'run_failed_to_start' : 'run_lost';
      end = { kind: 'failed', cause: 'crash', reason, detail: describeError(error) };
    } finally {
      this.noting?.abort();
    }
    return end;
  }

  /** Resolves when the store has what the stream said about the run, or when the run was stopped first. */
  async remembered(): Promise<void> {
    await Promise.all(this.learning);
  }

  /**
   * Not awaited: if the stream were not read while the store is unavailable, there would be no journal, and the answer would be
   * lost with the bridge.
   */
  private remember(learned: Learned): void {
    const { known, context, stopped } = this;
    const { session_id } = known.session;
    const refused = (err: unknown) => {
      const what = Object.keys(learned).join(', ');
      context.logger.warn({ err, session_id }, `session ${session_id}: its record lacks ${what}`);
    };
    this.learning.push(known.learn(learned, stopped).catch(refused));
  }

  private async request(conversationId: string | null): Promise<AgentRequest> {
    const { context } = this;
    const { session, runId } = this.known;
    return {
      sessionId: session.session_id,
      runId,
      prompt: await promptOf(context.store, context.logsFolder, context.redact, session),
      workingDirectory: session.working_directory,
      conversationId,
      attempt: session.attempt,
      user: context.agentUser,
      confinement: context.confinementOf(session.project_key),
      redact: context.redact,
      environment: {
        ...context.agentEnvironment,
        [RUN_MARK]: runId,
        [LANE_MARK]: laneMark(context.logsId, session.lane),
        WATCHKEEPER_SESSION: session.session_id,
        WATCHKEEPER_ATTEMPT: String(session.attempt),
      },
    };
  }

  private heard(end: AgentEnd): AgentEnd {
    if (end.kind === 'failed' && end.forLog !== undefined) {
      const { session_id } = this.known.session;
      this.context.logger.warn({ session_id }, `session ${session_id}: ${end.detail}; ${end.forLog}`);
    }
    // Redacted here, because the text is cut on its way to the screen.
    return end.kind === 'failed' ? { ...end, detail: this.context.redact(end.detail) } : end;
  }

  private take(event: Exclude<AgentEvent, { type: 'end' }>): void {
    const { context, known, activity, journal } = this;
    noteActivity(activity, event, context);
    if (event.type === 'conversation') this.remember({ conversationId: event.conversationId });
    if (event.type === 'journal') {
      this.pulse.note(event.line);
      journal.append(event.line);
      if (journal.isTorn) this.noteTornJournal();
      if (this.isWorthALook(event.line)) this.wake.ask();
    }
    context.display.update(known.session.session_id, activity);
  }

  /** A failure may complete a cascade, and a revival's first success is its recovery; the deadlines find everything else. */
  private isWorthALook(line: JournalEvent): boolean {
    if (line.event !== 'post_tool_use') return false;
    if (line.outcome === 'failed') return true;
    const isFirstSuccess = this.known.session.attempt === 2 && line.outcome === 'ok' && !this.hasSucceeded;
    this.hasSucceeded ||= line.outcome === 'ok';
    return isFirstSuccess;
  }

  /**
   * Without this, the journal's silence would be taken for the agent's. Not awaited: a store on the same full disk does not
   * answer either, and would stall the agent's stream.
   */
  private noteTornJournal(): void {
    if (this.noting !== null) return;
    this.noting = new AbortController();
    const { session_id } = this.known.session;
    const until = AbortSignal.any([this.stopped, this.noting.signal]);
    this.judgeByStore(until).catch((err: unknown) => {
      this.context.logger.warn({ err, session_id }, `session ${session_id}: its torn journal is not noted`);
    });
  }

  /** The stored activity is as old as the last lease renewal, so it is renewed before the watchdog judges. */
  private async judgeByStore(until: AbortSignal): Promise<void> {
    await this.pulse.tell().catch(() => undefined);
    await this.known.learn({ journalTorn: true }, until);
    await this.pulse.keepTelling(until);
  }
}

function startFailure(detail: string): AgentEnd {
  return { kind: 'failed', cause: 'crash', reason: 'run_failed_to_start', detail };
}
