/** Turns what an agent program says, line by line, into the contract's events. */
import { counted } from '../../../src/counted.js';
import type { JournalEvent } from '../../../src/journal/schema.js';
import { createRedactor, type Redact } from '../../../src/log/redact.js';
import { cutText } from '../../../src/log/shorten.js';
import type { AgentEvent, AgentRequest } from './contract.js';
import type { SplitLine } from './lineSplitter.js';
import { type ProgramEvent, type ProgramFailure, type ProgramLine, parseProgramLine } from './protocol.js';

/** What a program's output means. One for each run: it may remember what it has read. */
export interface Dialect {
  /** @param text one line, without its line end */
  line(text: string): ProgramLine[];
  /** Something has arrived, on either output, a whole line or not. For output whose lines say nothing by themselves. */
  heard?(): ProgramLine[];
  /** The program has exited by itself, and no answer was found in its lines. */
  exited?(code: number): ProgramLine[];
}

/** The protocol (protocol.ts). */
export const PROTOCOL: Dialect = { line: (text) => (text.trim() === '' ? [] : parseProgramLine(text)) };

/** In UTF-16 units: some thirty messages of a chat, which is more than anybody reads there. */
export const LONGEST_ANSWER = 128 * 1024;
/** It becomes an argument of the program: no option, nothing that an argument cannot hold, and not of any length. */
const CONVERSATION_ID = /^[!-,.-~][ -~]{0,255}$/;
/** Results of calls beyond these must name their tool themselves; so must those of calls with endless names and ids. */
const MOST_OPEN_CALLS = 10_000;
const LONGEST_NAMES = 1_000;
const BYTES_PER_MEBIBYTE = 1024 * 1024;

interface OpenCall {
  readonly tool_name: string;
  readonly batch?: string;
}

export class ProgramStream {
  readonly #dialect: Dialect;
  readonly #redact: Redact;
  readonly #open = new Map<string, OpenCall>();
  #owesTurn = true;
  #answer: string | null = null;
  #failure: ProgramFailure | null = null;
  #garbage = 0;
  #dropped = 0;

  constructor(dialect: Dialect = PROTOCOL, redact: Redact = createRedactor([])) {
    this.#dialect = dialect;
    this.#redact = redact;
  }

  /** The final answer, once it was given. */
  get answer(): string | null {
    return this.#answer;
  }

  /** The program's own word on why it will not answer. */
  get failure(): ProgramFailure | null {
    return this.#failure;
  }

  /** The turn has ended without an answer, and nothing has begun another one: nobody owes anything, so no rule looks. */
  get isTurnOver(): boolean {
    return !this.#owesTurn && this.#answer === null;
  }

  /** A clause for people on what could not be read; empty where everything could. */
  get unreadable(): string {
    const parts = [];
    if (this.#garbage > 0) parts.push(`${counted(this.#garbage, 'line')} of its output could not be read`);
    if (this.#dropped > 0) parts.push(`${counted(this.#dropped, 'line')} of its output had to be dropped`);
    return parts.join(', ');
  }

  /** The bridge's own words on a run that begins: no program has to tell them, nor could one that hangs at once. */
  begin(request: AgentRequest): AgentEvent[] {
    return [
      journal({ event: 'session_start', source: request.conversationId === null ? 'startup' : 'resume' }),
      journal({ event: 'user_prompt', origin: request.attempt === 1 ? 'human' : 'machine' }),
    ];
  }

  /** @returns the events of one line; none after the answer */
  read(line: SplitLine): AgentEvent[] {
    if (this.#answer !== null) return [];
    if (line.kind === 'line') return this.#translate(this.#dialect.line(line.text));
    this.#dropped += 1;
    const size = `${(line.bytes / BYTES_PER_MEBIBYTE).toFixed(1)} MiB`;
    return [{ type: 'note', text: `(a line of ${size} from the agent was dropped: it is too long)` }];
  }

  /** @returns the events of output that arrived, whatever it is; none after the answer */
  heard(): AgentEvent[] {
    return this.#answer === null ? this.#translate(this.#dialect.heard?.() ?? []) : [];
  }

  /** Whether also output that makes no line is of interest. */
  get hearsEverything(): boolean {
    return this.#dialect.heard !== undefined;
  }

  /** The program has exited by itself: its whole output, or its code, may say how it ended. */
  exited(code: number): void {
    this.#translate(this.#dialect.exited?.(code) ?? []);
  }

  /** @returns the end of the turn where the program gave its answer without telling it; once */
  finish(): AgentEvent[] {
    if (this.#answer === null || !this.#owesTurn) return [];
    this.#owesTurn = false;
    return [journal({ event: 'turn_end', reason: 'end_turn' })];
  }

  #translate(lines: readonly ProgramLine[]): AgentEvent[] {
    const events: AgentEvent[] = [];
    for (const line of lines) {
      switch (line.kind) {
        case 'journal':
          events.push(journal(this.#complete(line.event)));
          break;
        case 'conversation':
          if (!CONVERSATION_ID.test(line.conversationId)) this.#garbage += 1;
          else events.push({ type: 'conversation', conversationId: line.conversationId });
          break;
        case 'note':
          events.push({ type: 'note', text: line.text });
          break;
        case 'answer':
          this.#answer = cutAnswer(line.text, this.#redact);
          break;
        case 'failure':
          this.#failure = line;
          break;
        case 'garbage':
          this.#garbage += 1;
          break;
        case 'ignored':
          break;
        default:
          line satisfies never;
      }
    }
    return events;
  }

  #complete(event: ProgramEvent): JournalEvent {
    if (event.agent_id === undefined) {
      if (event.event === 'turn_end') this.#owesTurn = false;
      if (event.event === 'user_prompt') this.#owesTurn = true;
    }
    if (event.event === 'pre_tool_use') this.#remember(event.tool_use_id, event);
    if (event.event !== 'post_tool_use') return event;
    const call = this.#open.get(event.tool_use_id);
    this.#open.delete(event.tool_use_id);
    const batch = event.batch ?? call?.batch;
    const tool_name = event.tool_name ?? call?.tool_name ?? 'unknown';
    return { ...event, tool_name, ...(batch === undefined ? {} : { batch }) };
  }

  #remember(id: string, { tool_name, batch = '' }: OpenCall): void {
    if (id.length + tool_name.length + batch.length > LONGEST_NAMES) return;
    this.#open.set(id, { tool_name, ...(batch === '' ? {} : { batch }) });
    if (this.#open.size <= MOST_OPEN_CALLS) return;
    for (const oldest of this.#open.keys()) {
      this.#open.delete(oldest);
      break;
    }
  }
}

/** Only what is cut is redacted here: a whole answer is when it is delivered. */
function cutAnswer(text: string, redact: Redact): string {
  if (text.length <= LONGEST_ANSWER) return text;
  const clean = redact(text);
  const kept = cutText(clean, LONGEST_ANSWER);
  const left = clean.length - kept.length;
  return left === 0 ? clean : `${kept}\n\n[… ${left} more characters are left out]`;
}

function journal(line: JournalEvent): AgentEvent {
  return { type: 'journal', line };
}
