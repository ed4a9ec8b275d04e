/** The agent of a run, from its start to the end of its stream. Its events go into journal, store and progress message. */

import { DEFAULT_THRESHOLDS } from '../../src/config/rules.js';
import { describeError } from '../../src/errors.js';
import { failpoint } from '../../src/failpoints.js';
import { LANE_MARK, laneMark, RUN_MARK } from '../../src/host/processes.js';
import { publishWake } from '../../src/jobs/wakes.js';
import { journalPath } from '../../src/journal/path.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import { untilStored } from '../../src/redis/retry.js';
import { TODO_TOOLS } from '../agents/claude/settings.js';
import type { AgentEnd, AgentEvent, AgentRequest } from '../agents/program/contract.js';
import { confinementOf } from '../agents/program/isolation.js';
import { failedToStart } from '../agents/program/notStarted.js';
import type { Taken } from '../handoffs/handoffs.js';
import { ActivityPulse, noteActivity } from './activity.js';
import { Coalesced } from './coalesced.js';
import type { KnownRun, Learned } from './knownRun.js';
import { promptOf } from './prompt.js';
import { QuietWord } from './quietWord.js';
import { RepeatedCalls } from './repeatedCalls.js';
import type { RunContext } from './runContext.js';
import type { RunJournal } from './runJournal.js';
import { logRunStart } from './runLog.js';
import type { RunWorklog } from './runWorklog.js';

export interface RunFiles {
  readonly journal: RunJournal;
  readonly worklog: RunWorklog;
}

export class AgentStream {
  readonly #context: RunContext;
  readonly #known: KnownRun;
  readonly #journal: RunJournal;
  readonly #worklog: RunWorklog;
  readonly #stopped: AbortSignal;
  /** An agent may fail faster than the store can be updated, and its stream must not wait for that. */
  readonly #wake: Coalesced;
  readonly #pulse: ActivityPulse;
  readonly #quiet: QuietWord;
  readonly #repeated = new RepeatedCalls();
  #hasSucceeded = false;
  /** The words about the first attempt that the agent was given. */
  #given = '';
  /** The document of its handoff. */
  #handedOver: string | null = null;
  readonly #learning: Promise<void>[] = [];
  /** Aborted when the stream ends; null if no torn journal is being noted. */
  #noting: AbortController | null = null;

  constructor(context: RunContext, known: KnownRun, { journal, worklog }: RunFiles, stopped: AbortSignal) {
    this.#context = context;
    this.#known = known;
    this.#journal = journal;
    this.#worklog = worklog;
    this.#stopped = stopped;
    const { session_id: session } = known.session;
    const { projects, timings } = context.settings;
    const thresholds = projects.get(known.session.project_key)?.thresholds ?? DEFAULT_THRESHOLDS;
    this.#pulse = new ActivityPulse(context.clock, thresholds, known.activity, (at) =>
      context.store.transitions.renewLease(known.session, timings.runLeaseMs, at),
    );
    this.#quiet = new QuietWord({
      clock: context.clock,
      thresholds,
      journal: journalPath(context.settings.logsFolder, session),
      run: known.session,
      isTorn: () => journal.isTorn,
      stopped,
      show: (since) => {
        known.activity.quietSince = since;
        context.display.update(session, known.activity);
      },
    });
    this.#wake = new Coalesced(() => publishWake(context.store, { session }).then(() => undefined, known.warnAway));
  }

  /** @param conversationId the provider's id of the conversation to continue; null if a new one begins */
  async follow(conversationId: string | null): Promise<AgentEnd> {
    const context = this.#context;
    const known = this.#known;
    const signal = this.#stopped;
    const { session } = known;
    const agent = context.agents.get(session.project_key);
    if (agent === undefined)
      return failedToStart(`no project "${session.project_key}" is configured`, undefined, 'crash');
    let end = failedToStart('the agent ended without saying so', undefined, 'crash');
    try {
      const taken = await this.#takeHandoff();
      if (taken?.refusal) return { kind: 'answered', answer: taken.refusal };
      this.#handedOver = taken?.document ?? null;
      const request = await untilStored(context.clock, signal, known.warnAway, () => this.#request(conversationId));
      // Nothing is awaited between here and the agent's start, so a later stop finds the agent's process.
      if (request === null || signal.aborted) return { kind: 'stopped' };
      failpoint('agent.spawn.before');
      const running = agent.start(request, signal);
      known.target = { runId: known.runId, groupPid: running.pid };
      failpoint('agent.spawn.after');
      logRunStart(context.logger, session, known.runId, running.pid);
      const noting = running.pid === null ? null : known.noteAgent(running.pid);
      // Before anything is awaited, so that the agent's own commands find their session.
      this.#worklog.begin(this.#given);
      if (noting !== null) this.#remember(await noting);
      this.#quiet.begin((err) => {
        context.logger.debug({ err, session_id: session.session_id }, 'a silent model is not shown in the chat');
      });
      for await (const event of running.events) {
        if (event.type === 'end') end = this.#heard(event.end);
        else this.#take(event, conversationId);
      }
    } catch (error) {
      const reason = known.target.groupPid === null ? 'run_failed_to_start' : 'run_lost';
      end = { kind: 'failed', cause: 'crash', reason, detail: describeError(error) };
    } finally {
      this.#quiet.end();
      this.#noting?.abort('over');
    }
    return end;
  }

  /** @returns null if its message hands nothing over @throws UnreachableError, UsageError if that cannot be read */
  async #takeHandoff(): Promise<Taken | null> {
    const { session } = this.#known;
    const { handoff } = session.request;
    return handoff ? this.#context.handoffs.take(session, handoff) : null;
  }

  /** Resolves when the store has what the stream said about the run, or when the run was stopped first. */
  async remembered(): Promise<void> {
    await Promise.all(this.#learning);
  }

  /** Not awaited: if the store were away, the stream would not be read, and its answer would be lost with the bridge. */
  #remember(learned: Learned): void {
    const known = this.#known;
    const context = this.#context;
    const { session_id } = known.session;
    const refused = (err: unknown) => {
      const what = Object.keys(learned).join(', ');
      context.logger.warn({ err, session_id }, `session ${session_id}: its record lacks ${what}`);
    };
    this.#learning.push(known.learn(learned, this.#stopped).catch(refused));
  }

  async #request(conversationId: string | null): Promise<AgentRequest> {
    const context = this.#context;
    const { settings } = context;
    const { session, runId } = this.#known;
    const { text, record } = await promptOf(context, session, this.#handedOver);
    this.#given = record;
    return {
      sessionId: session.session_id,
      runId,
      prompt: text,
      workingDirectory: session.working_directory,
      conversationId,
      attempt: session.attempt,
      user: settings.agentUser,
      confinement: confinementOf(settings, session.project_key),
      redact: context.redact,
      environment: {
        // Before AGENT_ENV, so that the operator's own value counts.
        ...(settings.memory.todo_tools && TODO_TOOLS),
        ...settings.agentEnvironment,
        [RUN_MARK]: runId,
        [LANE_MARK]: laneMark(context.logsId, session.lane),
        WATCHKEEPER_SESSION: session.session_id,
        WATCHKEEPER_MEMORY: settings.logsFolder,
        WATCHKEEPER_ATTEMPT: String(session.attempt),
      },
    };
  }

  #heard(end: AgentEnd): AgentEnd {
    if (end.kind === 'failed' && end.forLog !== undefined) {
      const { session_id } = this.#known.session;
      this.#context.logger.warn({ session_id }, `session ${session_id}: ${end.detail}; ${end.forLog}`);
    }
    // Redacted here, because the text is cut on its way to the screen.
    return end.kind === 'failed' ? { ...end, detail: this.#context.redact(end.detail) } : end;
  }

  #take(event: Exclude<AgentEvent, { type: 'end' }>, asked: string | null): void {
    const journal = this.#journal;
    noteActivity(this.#known.activity, event, this.#context.clock, this.#context.redact);
    if (event.type === 'conversation') {
      this.#remember({ conversationId: event.conversationId });
      this.#worklog.conversation(event.conversationId, asked);
    }
    if (event.type === 'version') this.#remember({ agentVersion: event.version });
    if (event.type === 'journal') {
      this.#pulse.note(event.line);
      this.#quiet.heard(event.line);
      journal.append(event.line);
      if (journal.isTorn) this.#noteTornJournal();
      if (this.#isWorthALook(event.line)) void this.#wake.ask();
    }
    this.#context.display.update(this.#known.session.session_id, this.#known.activity);
  }

  /** A cascade needs a failure, a loop a repeated call, an outage's end a first success; the deadlines find everything else. */
  #isWorthALook(line: JournalEvent): boolean {
    if (this.#repeated.take(line)) return true;
    if (line.event !== 'post_tool_use') return false;
    if (line.outcome === 'failed') return true;
    const isFirstSuccess = this.#known.session.attempt === 2 && line.outcome === 'ok' && !this.#hasSucceeded;
    this.#hasSucceeded ||= line.outcome === 'ok';
    return isFirstSuccess;
  }

  /** Otherwise the journal's silence would be the agent's. Not awaited: a store on the same full disk would stall the stream. */
  #noteTornJournal(): void {
    if (this.#noting !== null) return;
    this.#noting = new AbortController();
    const { session_id } = this.#known.session;
    const until = AbortSignal.any([this.#stopped, this.#noting.signal]);
    this.#judgeByStore(until).catch((err: unknown) => {
      this.#context.logger.warn({ err, session_id }, `session ${session_id}: its torn journal could not be recorded`);
    });
  }

  /** The stored activity is as old as the last lease renewal, so it is renewed before the watchdog judges. */
  async #judgeByStore(until: AbortSignal): Promise<void> {
    await this.#pulse.renew().catch(() => undefined);
    await this.#known.learn({ journalTorn: true }, until);
    await this.#pulse.keepRenewing(until);
  }
}
