/** Turns an agent program's lines into the contract's events. */
import { counted } from '../../../src/counted.js';
import type { SplitLine } from '../../../src/files/lines.js';
import type { JournalEvent } from '../../../src/journal/schema.js';
import type { Redact } from '../../../src/log/redact.js';
import { cutText } from '../../../src/log/shorten.js';
import { Newest } from '../../../src/newest.js';
import type { AgentFailure } from '../failures/causes.js';
import { type FailureWords, PROTOCOL_WORDS } from '../failures/explain.js';
import type { AgentEvent, AgentRequest } from './contract.js';
import type { CommandLine } from './findProgram.js';
import { type ProgramEvent, type ProgramLine, parseProgramLine } from './protocol.js';

/** How to read a program's output. One per run, because it may have state. */
export interface Dialect {
  line(text: string): ProgramLine[];
  /** Output has arrived on either stream, as a whole line or not. For programs whose lines carry no meaning. */
  heard?(): ProgramLine[];
  /** The program has exited by itself, and its lines contained no answer. */
  exited?(code: number): ProgramLine[];
  /** It names its conversation once that can be continued; until then the id that was chosen for it leads nowhere. */
  readonly namesConversation?: true;
  /** Where the words of its failure are looked up; those of a program that speaks the protocol if absent. */
  readonly failureWords?: FailureWords;
}

export const PROTOCOL: Dialect = { line: (text) => (text.trim() === '' ? [] : parseProgramLine(text)) };

export interface AgentProgram extends CommandLine {
  /** Its standard input; the prompt if absent. */
  readonly input?: string;
  /** For this one run; the protocol if absent. */
  readonly dialect?: Dialect;
  /** Chosen for the program, or continued by it; absent or null if it names its conversation itself, or has none. */
  readonly conversationId?: string | null;
}

/** In UTF-16 units: about thirty chat messages, more than a person reads there. */
export const LONGEST_ANSWER = 128 * 1024;
/** An argument of the program: it must not be an option, or hold anything that an argument cannot. */
const CONVERSATION_ID = /^[!-,.-~][ -~]{0,255}$/;
/** Results of calls beyond these must name their tool themselves; so must those of calls with very long names or ids. */
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
  /** Reported with the program's first output, because it may not exist before. */
  #conversationId: string | null;
  readonly #open = new Newest<string, OpenCall>(MOST_OPEN_CALLS);
  #owesTurn = true;
  #isHeard = false;
  #answer: string | null = null;
  #failure: AgentFailure | null = null;
  #garbage = 0;
  #dropped = 0;

  constructor({ dialect = PROTOCOL, conversationId = null }: AgentProgram, redact: Redact) {
    this.#dialect = dialect;
    this.#conversationId = dialect.namesConversation === true ? null : conversationId;
    this.#redact = redact;
  }

  get answer(): string | null {
    return this.#answer;
  }

  get failure(): AgentFailure | null {
    return this.#failure;
  }

  get failureWords(): FailureWords {
    return this.#dialect.failureWords ?? PROTOCOL_WORDS;
  }

  /** The turn has ended without an answer and no other one has begun: no activity is expected, so no rule applies. */
  get isTurnOver(): boolean {
    return !this.#owesTurn && this.#answer === null;
  }

  /** A clause for people about unreadable lines; empty if there are none. */
  get unreadable(): string {
    const parts = [];
    if (this.#garbage > 0) parts.push(`${counted(this.#garbage, 'line')} of its output could not be read`);
    if (this.#dropped > 0) parts.push(`${counted(this.#dropped, 'line')} of its output had to be dropped`);
    return parts.join(', ');
  }

  /** The bridge's own events at the start of a run: programs need not report it, and one that hangs at once could not. */
  begin(request: AgentRequest): AgentEvent[] {
    return [
      journal({ event: 'session_start', source: request.conversationId === null ? 'startup' : 'resume' }),
      // A second attempt's prompt repeats the first one's.
      journal(
        request.attempt === 1
          ? { event: 'user_prompt', origin: 'human', ...(request.prompt !== '' && { text: request.prompt }) }
          : { event: 'user_prompt', origin: 'machine' },
      ),
    ];
  }

  /** @returns the events of one line; none after the answer */
  read(line: SplitLine): AgentEvent[] {
    if (this.#answer !== null) return [];
    if (line.kind === 'line') return [...this.#newConversation(), ...this.#translate(this.#dialect.line(line.text))];
    this.#dropped += 1;
    const size = `${(line.bytes / BYTES_PER_MEBIBYTE).toFixed(1)} MiB`;
    return [{ type: 'note', text: `(a line of ${size} from the agent was dropped: it is too long)` }];
  }

  /** @returns the events for output of any kind; none after the answer. The first one proves that the program has begun */
  heard(): AgentEvent[] {
    if (this.#answer !== null) return [];
    const isFirst = !this.#isHeard;
    this.#isHeard = true;
    if (this.#dialect.heard !== undefined) return this.#translate(this.#dialect.heard());
    return isFirst ? [journal({ event: 'heartbeat', source: 'output' })] : [];
  }

  /** Whether output that does not complete a line matters, too. */
  get hearsEverything(): boolean {
    return this.#dialect.heard !== undefined;
  }

  /** Whether its next output on standard error matters: every one, or only the first sign that it lives. */
  get awaitsErrors(): boolean {
    return this.hearsEverything || !this.#isHeard;
  }

  /** The program has exited by itself: its whole output, or its exit code, may say how it ended. */
  exited(code: number): void {
    this.#translate(this.#dialect.exited?.(code) ?? []);
  }

  /** @returns the end of the turn, once, if the program gave its answer without reporting the end */
  finish(): AgentEvent[] {
    if (this.#answer === null || !this.#owesTurn) return [];
    this.#owesTurn = false;
    return [journal({ event: 'turn_end', reason: 'end_turn' })];
  }

  #newConversation(): AgentEvent[] {
    const conversationId = this.#conversationId;
    this.#conversationId = null;
    return conversationId === null ? [] : [{ type: 'conversation', conversationId }];
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
        case 'version':
          events.push({ type: 'version', version: line.version });
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
    return { ...event, tool_name, ...(batch !== undefined && { batch }) };
  }

  #remember(id: string, { tool_name, batch = '' }: OpenCall): void {
    if (id.length + tool_name.length + batch.length > LONGEST_NAMES) return;
    this.#open.set(id, { tool_name, ...(batch !== '' && { batch }) });
  }
}

/** Redacts only a text that is cut: a whole answer is redacted when it is delivered. */
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
