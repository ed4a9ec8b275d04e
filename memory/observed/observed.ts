/** The work of an agent, folded from the lines of its journal, of a kept copy, or of its program's transcript. */
import { instantOf } from '../../src/journal/normalise.js';
import { type JournalRecord, textOf } from '../../src/journal/record.js';
import { addTo, type More } from '../fold/bounds.js';
import type { Tokens } from '../fold/worklog.js';
import { type AbandonedTurn, abandonedTurn, left, namedIn, restAfter, unlessStopped } from './abandonedTurn.js';
import { Agents, MAIN } from './agents.js';
import { type Action, commandOf, type ObservedError, type OpenCall } from './calls.js';
import { type Commit, takeCommits } from './commits.js';
import { type Refusal, takeFault } from './faults.js';
import { type ObservedFile, takeFiles } from './files.js';
import type { SubAgentsFile } from './inHand.js';
import { OpenCalls } from './openCalls.js';
import { OpenWaits } from './openWaits.js';
import { forgetPassed, passOrders, takeOrder, type WaitingOrder } from './orders.js';
import { type Prompt, takePrompt } from './prompt.js';
import { notePoint, type Point, type Rewind, rewind } from './rewinding.js';
import { ShellWork } from './shellWork.js';
import { Todos, takePlan } from './todos.js';
import { contextOf, takeUsage } from './usage.js';

export class Observed {
  /** @returns one name for all spellings of a path; paths stay as they are if it is missing */
  nameOf: (path: string) => string = (path) => path;
  readonly more: More = {};
  readonly todos = new Todos(this.more);
  readonly agents = new Agents();
  readonly files = new Map<string, ObservedFile>();
  readonly errors: ObservedError[] = [];
  readonly refusals: Refusal[] = [];
  readonly tokens = new Map<string, Tokens>();
  readonly actions: Action[] = [];
  firstTool: string | null = null;
  /** The first prompt of a person; of a program, if no person has asked anything. */
  firstPrompt: string | null = null;
  lastPrompt: string | null = null;
  isPersonHeard = false;
  prompts = 0;
  /** The words of the last ones of these, with their instants. */
  readonly asked: Prompt[] = [];
  readonly commits: Commit[] = [];
  lastWords: string | null = null;
  /** Whether the agent has answered the last prompt. If not, its last words are older. */
  hasSpoken = false;
  firstActivity: number | null = null;
  lastActivity: number | null = null;
  /** Whether the main agent owes an answer. */
  isTurnOpen = false;
  /** Why its last turn ended, in the journal's word. */
  lastTurnEnd: string | null = null;
  /** The words of the error with which it ended. Null if it has none. */
  lastError: string | null = null;
  /** A person stopped its last turn after its first call, or before it had resumed work that was broken off, and asked nothing since. */
  isStopped = false;
  /** Since when it owes none; null while it does, and before its first turn. */
  idleAt: number | null = null;
  /** Files that were touched since the last end of a turn. */
  readonly touched = new Set<string>();
  /** The last files that sub-agents touched, whether these are still at work or not. */
  touchedBySubAgents: SubAgentsFile[] = [];
  readonly shell = new ShellWork();
  /** Turns that were cut off, and that no later turn has resumed. */
  leftTurns: readonly AbandonedTurn[] = [];
  /** Their files that were read, or named in a command, since the last end of a turn. */
  looked: string[] = [];
  /** Orders that wait to be handed over, in their order. */
  readonly orders: WaitingOrder[] = [];
  /** How often a person took the conversation back. */
  readonly rewinds: Rewind[] = [];
  compactions = 0;
  compactedAt: number | null = null;
  /** Since the last prompt. */
  isCompacted = false;
  contextTokens: number | null = null;
  blocked = 0;
  rejected = 0;
  lines = 0;
  /** Lines of its transcripts that could not be read, and long ones that were read without the rest of their texts. */
  unread = 0;
  cut = 0;
  /** The start of each open wait, by its kind. */
  readonly waits = new Map<string, number>();
  readonly #waiting = new OpenWaits(this.waits);
  readonly #points: Point[] = [];
  #conversation: string | null = null;
  #cut: Parameters<typeof unlessStopped>[1] = null;
  /** Since the last end of a turn. */
  #hasCalled = false;
  /** Work with calls was stopped or cut off, and no turn has been answered since. */
  #isBrokenOff = false;
  readonly #calls = new OpenCalls();
  /** The tokens of each message, as last counted. */
  readonly #messages = new Map<string, Tokens>();

  /** Takes the next line; lines without an instant, and unknown ones, change nothing. */
  take(record: JournalRecord): void {
    const at = instantOf(record.timestamp);
    const event = textOf(record.event);
    if (at === null || event === null) return;
    this.lines += 1;
    this.#follow(textOf(record.session_id));
    const agent = textOf(record.agent_id) ?? MAIN;
    this.agents.see(record, event);
    this.#waiting.take(record, event, at);
    this.firstActivity ??= at;
    if (event !== 'heartbeat') this.lastActivity = Math.max(this.lastActivity ?? 0, at);
    switch (event) {
      case 'user_prompt':
        this.#prompt(record, agent, at);
        break;
      case 'assistant_message':
        if (agent === MAIN) this.#say(record.stop_reason, textOf(record.text));
        break;
      case 'pre_tool_use':
        this.#call(record, agent, at);
        break;
      case 'post_tool_use':
        this.#result(record, agent, at);
        break;
      case 'turn_end':
      case 'session_end':
        // A run that is ended before its answer leaves its turn as it was.
        if (event === 'turn_end' || record.reason === 'answered') this.#endTurn(agent, textOf(record.reason), at);
        break;
      case 'compaction':
        this.compactions += 1;
        this.compactedAt = at;
        this.isCompacted = true;
        break;
      case 'plan':
        takePlan(this.todos, record, { isMain: agent === MAIN, at });
        break;
      case 'files':
        takeFiles(this, record, at);
        break;
      case 'order':
        takeOrder(this.orders, record, at);
        break;
      case 'rewound':
        this.#isBrokenOff = false;
        rewind(this.#points, this, { prompts: Number(record.prompts) || 0, at });
        break;
      case 'usage':
        takeUsage(this.tokens, this.#messages, { record, agent });
        if (agent === MAIN) this.contextTokens = contextOf(record);
        break;
    }
  }

  /** @returns orders of a person that the agent never got, in their order */
  get waitingOrders(): readonly WaitingOrder[] {
    return this.orders.filter(({ isPersons }) => isPersons);
  }

  /** @returns calls without a result, oldest first */
  openCalls(): OpenCall[] {
    return this.#calls.list();
  }

  /** Conversations come one after the other: the end of a turn in the next one says nothing about an open turn of an earlier one. */
  #follow(conversation: string | null): void {
    if (conversation === null || conversation === this.#conversation) return;
    const before = this.#conversation;
    this.#conversation = conversation;
    if (before === null || !this.isTurnOpen) return;
    this.leftTurns = left(this.leftTurns, abandonedTurn(before, this.lastActivity ?? 0, this));
    this.#calls.clear();
    this.#closeTurn();
  }

  #prompt(record: JournalRecord, agent: string, at: number): void {
    if (agent !== MAIN) return;
    notePoint(this.#points, this, textOf(record.text));
    this.prompts += 1;
    this.#beginTurn();
    this.isCompacted = false;
    this.hasSpoken = false;
    passOrders(this.orders, record);
    takePrompt(this, record, at);
  }

  #say(stop: unknown, text: string | null): void {
    this.lastError = stop === 'error' ? text : null;
    if (stop === 'error' || text === null) return;
    this.lastWords = text;
    this.hasSpoken = true;
    this.isStopped = false;
  }

  #beginTurn(): void {
    this.isTurnOpen = true;
    this.lastError = null;
    this.isStopped = false;
    this.idleAt = null;
  }

  #endTurn(agent: string, reason: string | null, at: number): void {
    const isCut = agent === MAIN && reason === 'cut_off';
    const cut = isCut ? abandonedTurn(this.#conversation ?? '', this.actions.at(-1)?.at ?? at, this) : null;
    this.#calls.endAll(agent);
    if (agent !== MAIN) return;
    const hasWork = this.#hasCalled || this.#isBrokenOff;
    this.#isBrokenOff = hasWork && (isCut || reason === 'interrupted');
    // The end of a session says nothing of a turn that had ended.
    if (this.isTurnOpen) {
      this.lastTurnEnd = reason;
      this.idleAt = at;
      this.isStopped = reason === 'interrupted' && hasWork;
    }
    forgetPassed(this.orders);
    const written = cut === null ? this.shell.finish() : [];
    if (this.#hasCalled) {
      const conversation = cut === null ? this.#conversation : null;
      const later = { conversation, touched: new Set([...this.touched, ...written]), looked: this.looked };
      this.leftTurns = this.leftTurns.flatMap((turn) => restAfter(turn, later));
    }
    if (cut !== null && cut.files.length > 0) this.leftTurns = left(this.leftTurns, cut);
    this.#cut = cut === null ? this.#cut : { turn: cut, at };
    if (reason === 'interrupted') this.leftTurns = unlessStopped(this.leftTurns, this.#cut, at);
    this.#closeTurn();
  }

  #closeTurn(): void {
    this.isTurnOpen = false;
    this.#hasCalled = false;
    this.touched.clear();
    this.shell.clear();
    this.looked = [];
    this.#waiting.clear();
  }

  #call(record: JournalRecord, agent: string, at: number): void {
    this.firstTool ??= textOf(record.tool_name) ?? 'unknown';
    if (agent === MAIN) this.#beginTurn();
    this.#hasCalled ||= agent === MAIN;
    this.looked.push(...namedIn(commandOf(record.tool_input), this.leftTurns));
    const action = this.#calls.begin(record, { agent, at }, this.nameOf);
    addTo(this.actions, action, { more: {}, name: 'actions' });
  }

  #result(record: JournalRecord, agent: string, at: number): void {
    const ended = this.#calls.end(record);
    const { tool, words, command, outcome, output, isFault } = ended;
    this.shell.take(record, ended, at);
    if (outcome === 'ok') takeCommits(this, command, { output, at });
    if (isFault) takeFault(this, record, { agent, tool, call: words, outcome, at });
  }
}
