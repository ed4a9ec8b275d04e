/** The calls of a session's agents that have no result yet. */
import { EDITS } from '../../src/journal/agentVocabulary.js';
import { type JournalRecord, textOf } from '../../src/journal/record.js';
import { isAnswer } from './answers.js';
import { type Action, callWords, commandOf, type OpenCall, pathOf } from './calls.js';
import { isFault } from './faults.js';
import { type WrittenFile, within, writtenBy } from './shellWrites.js';

interface Call extends Omit<OpenCall, 'written'> {
  readonly batch: string | null;
  readonly action: Action;
  readonly command: string | null;
  readonly nameOf: (path: string) => string;
}

export interface EndedCall {
  readonly tool: string;
  readonly words: string;
  /** The command of a shell. Null for another call, or an unknown one. */
  readonly command: string | null;
  readonly outcome: string;
  readonly output: string;
  /** As {@link OpenCall} has them. */
  readonly written: readonly WrittenFile[];
  /** It failed, and not only because another one of its batch did. */
  readonly isFault: boolean;
}

export class OpenCalls {
  readonly #calls = new Map<string, Call>();
  /** Batches with a failed call: their other calls are cancelled with it. */
  readonly #failedBatches = new Set<string>();

  /** @returns them, oldest first */
  list(): OpenCall[] {
    return [...this.#calls.values()].map((call) => {
      const { agent, tool, words, at, path } = call;
      return { agent, tool, words, at, path, written: writtenIn(call) };
    });
  }

  /**
   * @param nameOf gives one name for all spellings of a path
   * @returns the call as an action of its agent
   */
  begin(record: JournalRecord, { agent, at }: Pick<Action, 'agent' | 'at'>, nameIn: (path: string) => string): Action {
    const directory = textOf(record.directory) ?? '';
    const nameOf = (path: string) => nameIn(within(directory, path));
    const tool = textOf(record.tool_name) ?? 'unknown';
    const words = callWords(tool, record.tool_input);
    const action = { at, agent, words, outcome: null };
    const id = textOf(record.tool_use_id);
    const edited = EDITS.has(tool) ? pathOf(record.tool_input) : null;
    const path = edited === null ? null : nameOf(edited);
    const command = commandOf(record.tool_input);
    if (id !== null)
      this.#calls.set(id, { agent, tool, words, at, path, batch: textOf(record.batch), action, command, nameOf });
    return action;
  }

  /** Takes the result of a call. */
  end(record: JournalRecord): EndedCall {
    const id = textOf(record.tool_use_id) ?? '';
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    const said = textOf(record.outcome) ?? (record.is_error === true ? 'failed' : 'ok');
    const output = textOf(record.tool_output_preview) ?? '';
    const outcome = said === 'failed' && isAnswer(call?.command ?? '', output) ? 'ok' : said;
    if (call !== undefined) call.action.outcome = outcome;
    const tool = call?.tool ?? textOf(record.tool_name) ?? 'unknown';
    const isFault = this.#isFault(outcome, call?.batch ?? null);
    const written = call === undefined ? [] : writtenIn(call);
    return { tool, words: call?.words ?? tool, command: call?.command ?? null, outcome, output, written, isFault };
  }

  #isFault(outcome: string, batch: string | null): boolean {
    if (!isFault(outcome)) return false;
    if (batch === null) return true;
    const isConsequence = outcome === 'cancelled' && this.#failedBatches.has(batch);
    this.#failedBatches.add(batch);
    return !isConsequence;
  }

  /** Forgets the calls of an agent, whose turn has ended. */
  endAll(agent: string): void {
    for (const [id, call] of this.#calls) if (call.agent === agent) this.#calls.delete(id);
  }

  clear(): void {
    this.#calls.clear();
  }
}

function writtenIn({ command, nameOf, at }: Call): WrittenFile[] {
  return command === null ? [] : writtenBy(command).map((name) => ({ path: nameOf(name), begun: at }));
}
