/** The open waits of a session's agents. */
import { type JournalRecord, textOf } from '../../src/journal/record.js';
import { MAIN } from './agents.js';

/** Their ends are seldom recorded: an agent that continues shows that a person has answered. (Judgement rules, 9.) */
const OF_PERSONS: ReadonlySet<string | null> = new Set(['user', 'permission']);
const DEEDS: ReadonlySet<string> = new Set(['assistant_message', 'pre_tool_use', 'post_tool_use']);

interface Wait {
  readonly kind: string;
  readonly agent: string;
  /** The call that waits. Null if it is unknown. */
  readonly call: string | null;
  readonly at: number;
}

export class OpenWaits {
  readonly #since: Map<string, number>;
  #waits: readonly Wait[] = [];

  /** @param since gets the start of the oldest open wait of each kind */
  constructor(since: Map<string, number>) {
    this.#since = since;
  }

  /** Takes each line. */
  take(record: JournalRecord, event: string, at: number): void {
    const [kind, call] = [textOf(record.kind) ?? '', textOf(record.tool_use_id)];
    const agent = textOf(record.agent_id) ?? MAIN;
    if (event === 'wait_start') this.#begin({ kind, agent, call, at });
    else if (event === 'wait_end')
      this.#end((wait) => wait.kind === kind && (call === null || wait.call === null || wait.call === call));
    else if (this.#waits.length > 0 && DEEDS.has(event))
      this.#end((wait) => OF_PERSONS.has(wait.kind) && isAnsweredBy(wait, { agent, call, event }));
  }

  clear(): void {
    this.#end(() => true);
  }

  /** A wait that is announced again continues. */
  #begin(wait: Wait): void {
    const { kind, agent, call } = wait;
    if (this.#waits.some((open) => open.kind === kind && open.agent === agent && open.call === call)) return;
    this.#set([...this.#waits, wait]);
  }

  #end(isOver: (wait: Wait) => boolean): void {
    this.#set(this.#waits.filter((wait) => !isOver(wait)));
  }

  #set(waits: readonly Wait[]): void {
    this.#waits = waits;
    this.#since.clear();
    for (const { kind, at } of waits) if (!this.#since.has(kind)) this.#since.set(kind, at);
  }
}

/** A call has one result, whichever agent's line has it. Without a call, any deed of the agent that waits is the answer. */
function isAnsweredBy(wait: Wait, deed: Pick<Wait, 'agent' | 'call'> & { readonly event: string }): boolean {
  if (wait.call !== null) return deed.event === 'post_tool_use' && deed.call === wait.call;
  return deed.agent === wait.agent;
}
