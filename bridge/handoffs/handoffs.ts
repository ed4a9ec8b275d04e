/** Handoffs that people have enqueued: work from a terminal that an agent of the bridge takes over. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { handoffText } from '../../memory/brief/handoff.js';
import { checkoutOf } from '../../memory/git/checkout.js';
import { type Handoff, Handoffs } from '../../memory/handoffs/handoffs.js';
import { handoffKind } from '../../memory/handoffs/kind.js';
import { noteOutcome } from '../../memory/handoffs/outcome.js';
import { Places } from '../../memory/home/places.js';
import { RefusedError } from '../../memory/logs/kind.js';
import type { Stamp } from '../../memory/logs/line.js';
import { workspaceOf } from '../../memory/workspaces/workspace.js';
import { describeError } from '../../src/errors.js';
import { compiledProgram } from '../../src/host/program.js';
import { firstAttemptId } from '../../src/ids.js';
import type { AgentSession, HandedOver } from '../../src/jobs/model.js';
import { parseObject } from '../../src/json.js';
import type { Logger } from '../../src/log/logger.js';
import type { Redact } from '../../src/log/redact.js';
import { type Clock, SECOND } from '../../src/time.js';

/** The transcript of its author may be long. */
const COMPARING_MS = 30 * SECOND;
const LONGEST_OUTPUT_BYTES = 4 * 1024 * 1024;

interface Parts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redact: Redact;
  /** For git, and for the program that compares. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Either the document for the agent, or why another worker has the work. */
export type Taken =
  | { readonly document: string; readonly refusal: null }
  | { readonly document: null; readonly refusal: string };

const ENDED: Readonly<Record<string, string>> = {
  completed: 'answered',
  failed: 'failed',
  cancelled: 'was cancelled',
};

export class EnqueuedHandoffs {
  readonly #parts: Parts;
  /** The sessions that took one here and have not ended. */
  readonly #taken = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Accepts the handoff of a session, as its one worker: both attempts at a message are one.
   * @returns the document, with what has changed since it was written
   * @throws UnreachableError, UsageError if the handoff cannot be read or written
   */
  async take({ session_id, working_directory }: AgentSession, { id, home }: HandedOver): Promise<Taken> {
    const { clock } = this.#parts;
    const handoffs = new Handoffs({ places: new Places(home), stamp: this.#stamp });
    const workspace = workspaceOf(working_directory, () => false);
    const head = checkoutOf(workspace.root)?.head ?? null;
    const line = handoffKind.line('accepted', {
      ...{ as: 'follow' as const, session_id: firstAttemptId(session_id), workspace: workspace.id },
      ...(head !== null && { checkout: { root: workspace.root, head } }),
    });
    this.#taken.add(session_id);
    try {
      const { handoff } = handoffs.answer(
        id,
        line,
        ({ kind, session_id: by }) => kind === 'accepted' && by === firstAttemptId(session_id),
      );
      const document = await this.#compared(handoff, home, working_directory).catch((error: unknown) => {
        const words = `what has changed since could not be found out: ${this.#parts.redact(describeError(error))}`;
        return handoffText(handoff, [{ kind: 'unknown', words }], clock.now());
      });
      return { document, refusal: null };
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return { document: null, refusal: `Nothing was started for handoff ${id}: ${error.message}.` };
    }
  }

  /** @returns whether the session took one here, and its author has not heard of its end */
  has(sessionId: string): boolean {
    return this.#taken.has(sessionId);
  }

  /** The final message of a session is on its way: the next start of its author says the end. Never throws. */
  notifyAuthor({ session_id, status, request: { handoff = null } }: AgentSession): void {
    const ended = ENDED[status];
    if (handoff === null || ended === undefined) return;
    this.#taken.delete(session_id);
    const { logger, variables } = this.#parts;
    const memory = { places: new Places(handoff.home), stamp: this.#stamp };
    try {
      noteOutcome(memory, variables, handoff.id, { session_id, ended });
    } catch (err) {
      const said = `session ${session_id}: the author of ${handoff.id} will not hear of its end: ${describeError(err)}`;
      logger.warn({ err, session_id }, said);
    }
  }

  get #stamp(): Stamp {
    const { clock, redact } = this.#parts;
    return { clock, redact, origin: 'watchkeeper' };
  }

  /** In a process of its own: git and long transcripts are read, and every run of this one would wait. */
  async #compared({ id }: Handoff, home: string, cwd: string): Promise<string> {
    const { variables } = this.#parts;
    const env = { ...variables, WATCHKEEPER_HOME: home };
    const args = [compiledProgram('bridge/cli/main'), 'handoff', 'show', id, '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      ...{ cwd, env, timeout: COMPARING_MS, maxBuffer: LONGEST_OUTPUT_BYTES },
    });
    const document = parseObject<{ document?: unknown }>(stdout)?.document;
    if (typeof document !== 'string') throw new Error('its text cannot be read');
    return document;
  }
}
