/**
 * What a run writes into its session's worklog, beside the journal: that it started and ended, and which conversation it has.
 * The store decides, and this repeats it. A disk that accepts nothing is logged once and harms no run.
 */
import { contextGiven } from '../../memory/brief/contextGiven.js';
import { type BridgeSession, lostRuns } from '../../memory/sessions/bridgeSession.js';
import { workspaceOf } from '../../memory/workspaces/workspace.js';
import { describeError } from '../../src/errors.js';
import { headOf } from '../../src/log/shorten.js';
import type { AgentEnd } from '../agents/program/contract.js';
import type { KnownRun } from './knownRun.js';
import type { RunContext } from './runContext.js';
import type { StopCause } from './storeEnd.js';

/** Characters of the message that say what the session is for. */
const LONGEST_PURPOSE = 200;

export class RunWorklog {
  readonly #context: RunContext;
  readonly #known: KnownRun;
  readonly #session: BridgeSession;
  /** The last one that the worklog has. */
  #conversation: string | null = null;
  #isRefused = false;

  /** Writes nothing yet, and never throws, like everything here. */
  constructor(context: RunContext, known: KnownRun) {
    this.#context = context;
    this.#known = known;
    this.#session = context.worklogs.of(known.session.session_id);
  }

  /**
   * The agent's process is known, or it did not start. The store has given this run the session, so earlier runs have ended, and
   * so has the first attempt.
   * @param given what the agent was told of the first attempt; empty: nothing
   */
  begin(given: string): void {
    const { session, runId, agentProcess: process } = this.#known;
    const { revival_of: first, agent } = session;
    this.#orSay(() =>
      this.#session.write((state) => {
        this.#conversation = state.conversations.at(-1)?.id ?? null;
        return [
          ...(state.facts === null ? [this.#started()] : []),
          ...(state.lifecycle === 'ended' ? [{ event: 'session_reopened' }] : []),
          ...lostRuns(state),
          ...(process === null ? [] : [{ event: 'run_started', process, agent, run_id: runId }]),
          ...(given === '' ? [] : [contextGiven('revival', given)]),
        ];
      }),
    );
    // Its end has no final message, because this attempt goes on with it.
    if (first !== null) this.#orSay(() => this.#context.worklogs.end(first, 'failed', lostRuns));
  }

  /**
   * @param id the provider's
   * @param asked the one that the run was to continue; null: a new one
   */
  conversation(id: string, asked: string | null): void {
    const { agent: provider, working_directory: cwd } = this.#known.session;
    const source = id === asked ? 'resume' : 'startup';
    if (id === this.#conversation) return;
    this.#orSay(() => this.#session.append([{ event: 'conversation', provider, conversation: id, source, cwd }]));
    this.#conversation = id;
  }

  /** @param isGone whether it is proven that no process of the run is left */
  end(end: AgentEnd, stopCause: StopCause | null, isGone: boolean): void {
    const { agentProcess: process, runId } = this.#known;
    if (process === null || !isGone) return;
    const reason = end.kind === 'failed' ? end.reason : end.kind === 'stopped' ? (stopCause ?? end.kind) : end.kind;
    this.#orSay(() => this.#session.append([{ event: 'run_ended', process, reason, run_id: runId }]));
  }

  #started() {
    const { settings, redact } = this.#context;
    const { request, revival_of: first, working_directory, agent } = this.#known.session;
    return {
      event: 'session_started',
      purpose: settings.memory.texts ? headOf(request.message_text, LONGEST_PURPOSE, redact) : '',
      agent,
      workspace: workspaceOf(working_directory, () => false).id,
      cwd: working_directory,
      ...(first !== null && { continues: first }),
    };
  }

  #orSay(work: () => void): void {
    try {
      work();
    } catch (err) {
      const { session_id } = this.#known.session;
      const said = `session ${session_id}: its worklog lacks a line (${describeError(err)}); its run continues`;
      if (!this.#isRefused) this.#context.logger.warn({ err, session_id }, said);
      this.#isRefused = true;
    }
  }
}
