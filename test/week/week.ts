/** Keeps what happened to each session of the week beside what is said of it, and says where they differ. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { compiledProgram } from '../../src/host/program.js';
import { askClaude, ClaudeTerminal, nextOf } from '../e2e/claudeScreen.js';
import { eventually } from '../e2e/eventually.js';
import { contextsIn, killAtOnce, processesOf, transcriptsIn, worklogsIn } from '../e2e/recorded.js';
import { publishedIn } from '../published/place.js';
import type { WeekPlace } from './place.js';

const MAIN = compiledProgram('bridge/cli/main');
const WITHIN_MS = 60_000;
const ASKED = 'where do we stand';

/** What the next agent and its person should hear, written down before. */
export interface Morning {
  /** The session whose record the agent gets; null: none. */
  readonly first: string | null;
  /** Words that the agent must read. */
  readonly words?: readonly string[];
  /** Words that it must not read. */
  readonly not?: readonly string[];
  /** What `work list` shows, in its order, each with words of its line. */
  readonly list: readonly (readonly [label: string, ...words: string[]])[];
}

export class Week {
  readonly #place: WeekPlace;
  readonly #program: string;
  readonly #ids = new Map<string, string>();
  #faults = 0;

  constructor(place: WeekPlace, program: string) {
    this.#place = place;
    this.#program = program;
  }

  get faults(): number {
    return this.#faults;
  }

  /** Opens a window, and types its first order. */
  async window(label: string, order: string, words = ''): Promise<ClaudeTerminal> {
    const terminal = new ClaudeTerminal(this.#place, this.#program, this.#place.work, words);
    await this.named(label, () => terminal.type(order));
    return terminal;
  }

  /** Calls `work`, in which one session begins, and remembers it by a label. */
  async named<Result>(label: string, work: () => Promise<Result> | Result): Promise<Result> {
    const before = new Set(worklogsIn(this.#place).keys());
    const result = await work();
    const isNew = () => [...worklogsIn(this.#place).keys()].find((id) => !before.has(id));
    this.#ids.set(label, await eventually(isNew, { what: `the session "${label}"`, withinMs: WITHIN_MS }));
    print(`${label}: session ${this.#id(label)}`);
    return result;
  }

  /** @param call of which the transcript must tell before: an agent writes it some time after the call has begun */
  async untilAtWork(file: string, call = file): Promise<void> {
    const { work } = this.#place;
    const isThere = () => existsSync(join(work, file)) && transcriptsIn(this.#place).includes(call);
    await eventually(isThere, { what: `the call that makes ${file}`, withinMs: WITHIN_MS });
  }

  /** A window that was closed reports its end a little later. */
  async untilReported(label: string): Promise<void> {
    const isReported = () =>
      worklogsIn(this.#place)
        .get(this.#id(label))
        ?.some(({ event }) => event === 'run_ended');
    await eventually(isReported, { what: `the end of "${label}"`, withinMs: WITHIN_MS });
  }

  /** A program publishes a dialog a moment after it has drawn it. */
  async untilWaiting(): Promise<void> {
    const isPublished = () => publishedIn(this.#place).some(({ status }) => status === 'waiting');
    await eventually(isPublished, { what: 'the published dialog', withinMs: WITHIN_MS });
  }

  kill(label: string): Promise<void> {
    return killAtOnce(processesOf(worklogsIn(this.#place).get(this.#id(label))).at(-1));
  }

  run(words: string): string {
    const { work, environment } = this.#place;
    const words_ = words.replace(/\{(.+?)\}/g, (_, label: string) => this.#id(label));
    const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, ...words_.split(' ')], {
      cwd: work,
      env: environment,
      encoding: 'utf8',
    });
    print(`$ watchkeeper ${words_}${status === 0 ? '' : `   (exit code ${status})`}\n${indented(stdout + stderr)}`);
    return stdout;
  }

  /** The next day begins: what a person reads, and what an agent is told that is asked only where things stand. */
  async morning(day: string, expected: Morning): Promise<void> {
    print(`\n==== ${day}`);
    this.#checkList(day, this.run('work list'), expected);
    await askClaude(this.#place, this.#program, ASKED).ended;
    const { peer } = this.#place;
    const seen = peer.requests.findLast(({ request }) => nextOf({ [ASKED]: [] }, request) !== null);
    this.checkTold(day, seen === undefined ? [] : contextsIn(seen.request), expected);
  }

  checkTold(day: string, contexts: readonly string[], { first, words = [], not = [] }: Omit<Morning, 'list'>): void {
    const text = contexts.join('\n');
    print(`the next agent is told (${text.length} characters):\n${indented(text === '' ? '(nothing)' : text)}`);
    const id = /^Session (\S+?)(?::|$)/m.exec(text)?.[1] ?? null;
    const told = [...this.#ids].find(([, known]) => known === id)?.[0] ?? id;
    this.#check(`${day}: told first`, told, first);
    for (const word of words) this.#check(`${day}: told "${word}"`, text.includes(word), true);
    for (const word of not) this.#check(`${day}: not told "${word}"`, text.includes(word), false);
  }

  #checkList(day: string, printed: string, { list }: Morning): void {
    const lines = printed.split('\n');
    const shown = [...this.#ids].flatMap(([label, id]) => {
      const at = lines.findIndex((line) => line.includes(id));
      return at === -1 ? [] : [{ label, at, text: lines.slice(at, at + 3).join(' ') }];
    });
    const labels = shown.sort((one, other) => one.at - other.at).map(({ label }) => label);
    this.#check(`${day}: listed`, labels.join(', '), list.map(([label]) => label).join(', '));
    for (const [label, ...words] of list)
      for (const word of words)
        this.#check(
          `${day}: ${label} listed with "${word}"`,
          shown.find((one) => one.label === label)?.text.includes(word) ?? false,
          true,
        );
  }

  #check(what: string, is: unknown, expected: unknown): void {
    const holds = is === expected;
    if (!holds) this.#faults += 1;
    print(
      `${holds ? 'ok   ' : 'FALSE'} ${what}${typeof is === 'boolean' ? '' : `: ${is}`}${holds ? '' : ` (not ${expected})`}`,
    );
  }

  #id(label: string): string {
    const id = this.#ids.get(label);
    if (id === undefined) throw new Error(`no session is called "${label}"`);
    return id;
  }
}

const indented = (text: string) => text.trimEnd().replace(/^/gm, '    ');

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
