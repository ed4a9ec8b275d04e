/**
 * A run's lines in its session's worklog, next to the journal: that it started and ended, and which conversation it has. The
 * store decides, and this repeats it. A disk that accepts nothing is logged once and harms no run.
 */
import { contextGiven } from '../../memory/brief/contextGiven.js';
import { type WorklogLine, worklogKind } from '../../memory/fold/rules/kind.js';
import type { Worklog } from '../../memory/fold/worklog.js';
import { lostRuns } from '../../memory/sessions/bridgeSession.js';
import { describeError } from '../../src/errors.js';
import { headOf } from '../../src/log/shorten.js';
import { isoTime } from '../../src/time.js';
import type { AgentEnd } from '../agents/program/contract.js';
import type { KnownRun } from './knownRun.js';
import type { RunContext } from './runContext.js';
import type { StopCause } from './storeEnd.js';

/** Characters of the message that say what the session is for. */
const LONGEST_PURPOSE = 200;

export class RunWorklog {
  readonly #context: RunContext;
  readonly #known: KnownRun;
  /** The last one that the worklog has, as far as this run knows. */
  #conversation: string | null = null;
  #isRefused = false;

  /** Writes nothing yet, and never throws, like everything here. */
  constructor(context: RunContext, known: KnownRun) {
    this.#context = context;
    this.#known = known;
  }

  /**
   * The agent's process is known, or it did not start. The store has given this run the session, so earlier runs have ended, and
   * so has the first attempt. The commands of a process find their session from now on.
   * @param given the words about the first attempt that the agent was given; empty if there were none
   */
  begin(given: string): void {
    const { session, runId, agentProcess: process } = this.#known;
    const { revival_of: first, agent } = session;
    const timestamp = this.#now();
    const begun = (state: Worklog): WorklogLine[] => {
      this.#conversation ??= state.conversations.at(-1)?.id ?? null;
      const lines = [
        ...(state.facts === null ? [this.#started()] : []),
        ...(state.lifecycle === 'ended' ? [worklogKind.line('session_reopened', {})] : []),
        ...lostRuns(state),
        ...(process === null ? [] : [worklogKind.line('run_started', { process, agent, run_id: runId })]),
        ...(given === '' ? [] : [contextGiven('revival', given)]),
      ];
      return lines.map((line) => ({ ...line, timestamp }));
    };
    const { worklogs } = this.#context;
    worklogs.later(session.session_id, begun, this.#say);
    if (process !== null) worklogs.settle(session.session_id);
    // Its end has no final message, because this attempt continues its work.
    if (first !== null) this.#endFirst(first);
  }

  /** @param id the provider's @param asked the one that the run was to continue; null if it was to begin a new one */
  conversation(id: string, asked: string | null): void {
    const { agent: provider, working_directory: cwd } = this.#known.session;
    const source = id === asked ? 'resume' : 'startup';
    if (id === this.#conversation) return;
    this.#append(worklogKind.line('conversation', { provider, conversation: id, source, cwd }));
    this.#conversation = id;
  }

  end(end: AgentEnd, stopCause: StopCause | null, isGone: boolean): void {
    const { agentProcess: process, runId } = this.#known;
    if (process === null || !isGone) return;
    const reason = end.kind === 'failed' ? end.reason : end.kind === 'stopped' ? (stopCause ?? end.kind) : end.kind;
    this.#append(worklogKind.line('run_ended', { process, reason, run_id: runId }));
  }

  /** The final message may be sent before its storing is known here. @throws as `store`: then it will be tried again */
  async endBy<Stored>(store: () => Promise<Stored | null>): Promise<Stored | null> {
    const { worklogs } = this.#context;
    const { session_id } = this.#known.session;
    worklogs.expectEnd(session_id);
    const stored = await store();
    if (stored === null) worklogs.expectNoEnd(session_id);
    else worklogs.endLater(session_id, this.#now(), this.#say);
    return stored;
  }

  #endFirst(first: string): void {
    try {
      this.#context.worklogs.end(first, 'failed', lostRuns);
    } catch (error) {
      this.#say(error);
    }
  }

  #now(): string {
    return isoTime(this.#context.clock.now());
  }

  #started() {
    const { settings, redact, worklogs } = this.#context;
    const { session_id, request, revival_of: first, working_directory, agent } = this.#known.session;
    return worklogKind.line('session_started', {
      session_id,
      purpose: settings.memory.texts ? headOf(request.message_text, LONGEST_PURPOSE, redact) : '',
      agent,
      workspace: worklogs.workspaceIdOf(working_directory),
      cwd: working_directory,
      continues: first ?? undefined,
    });
  }

  /** Does not wait until the line is written. The line says when it was true. */
  #append(line: WorklogLine): void {
    const timestamp = this.#now();
    this.#context.worklogs.later(this.#known.session.session_id, [{ ...line, timestamp }], this.#say);
  }

  readonly #say = (err: unknown): void => {
    const { session_id } = this.#known.session;
    const said = `session ${session_id}: its worklog lacks a line (${describeError(err)}); its run continues`;
    if (!this.#isRefused) this.#context.logger.warn({ err, session_id }, said);
    this.#isRefused = true;
  };
}
