/** Background sessions: they are started, killed, left alone by their daemon, and taken up again by the next one. */
import { worklogKind } from '../../memory/fold/rules/kind.js';
import { lookAt } from '../../memory/look/look.js';
import { startConversation } from '../../memory/programs/conversationStart.js';
import { startContext } from '../../memory/programs/sessionContext.js';
import type { PublishedState } from '../../src/agents/agentProgram.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { MINUTE } from '../../src/time.js';
import type { TerminalPlace } from '../e2e/claudeScreen.js';
import { eventually } from '../e2e/eventually.js';
import { killAtOnce } from '../e2e/recorded.js';
import { afterThisTest, withScope } from '../harness/scope.js';
import { asked, memoryOf, PLUGIN, print, publishedIn, publishedPlace, run, sessionOf } from './place.js';

const WITHIN_MS = 2 * MINUTE;

interface Round {
  /** Living sessions that were called crashed. */
  readonly falseCrashes: readonly string[];
  /** Killed ones that were not. */
  readonly missed: readonly string[];
  /** Work that another agent was given while its own one lived, or was about to be started again. */
  readonly twice: readonly string[];
  /** Processes that were taken for an agent, and are none. */
  readonly wrong: readonly string[];
}

/** @returns whether all held */
export async function proveBackground(program: string, rounds: number): Promise<boolean> {
  const sum = { falseCrashes: 0, missed: 0, twice: 0, wrong: 0 };
  const faults: string[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const result = await withScope(() => playRound(program, round));
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) {
      sum[key] += result[key].length;
      faults.push(...result[key].map((fault) => `round ${round}: ${key}: ${fault}`));
    }
    print(
      `background: ${round} rounds: ${sum.falseCrashes} false crashes, ${sum.missed} missed, ${sum.twice} handed to two, ${sum.wrong} wrong processes`,
    );
  }
  for (const fault of faults) print(`  ${fault}`);
  return faults.length === 0;
}

class Play {
  readonly place: TerminalPlace;
  readonly #program: string;
  readonly falseCrashes: string[] = [];
  readonly missed: string[] = [];
  readonly twice: string[] = [];
  readonly wrong: string[] = [];

  constructor(place: TerminalPlace, program: string) {
    this.place = place;
    this.#program = program;
  }

  claude(words: string): Promise<unknown> {
    return run(this.place, 'sh', ['-c', `exec '${this.#program}' ${words}`]);
  }

  /** @returns the published state of a new background session that is at work */
  async begin(prompt: string): Promise<PublishedState> {
    const before = new Set(publishedIn(this.place).map(({ conversation }) => conversation));
    await this.claude(`${PLUGIN} --bg '${prompt}'`);
    return this.until(`a worker that is busy with ${prompt}`, () =>
      publishedIn(this.place).find(({ conversation, status }) => !before.has(conversation) && status === 'busy'),
    );
  }

  until<T>(what: string, look: () => T | null | undefined | false): Promise<T> {
    const instead = () => JSON.stringify(publishedIn(this.place));
    return eventually(look, { what, withinMs: WITHIN_MS, instead });
  }

  async idOf({ conversation }: PublishedState): Promise<string> {
    return this.until('its session', () => sessionOf(this.place, conversation));
  }

  /** The run of a session belongs to the worker that publishes its conversation, and it lives. */
  async expectAlive(state: PublishedState, when: string): Promise<void> {
    const id = await this.idOf(state);
    const run = memoryOf(this.place).look(id)?.log.state.runs.at(-1);
    if (run?.process.pid !== state.pid) this.wrong.push(`${when}: ${run?.process.pid} instead of ${state.pid}`);
    const { liveness, crashed } = await this.row(id);
    if (liveness !== 'alive' || crashed) this.falseCrashes.push(`${when}: ${liveness}`);
    if ((await this.crashed()).includes(id)) this.falseCrashes.push(`${when}: crash-detect names it`);
    if (await this.isHanded(id)) this.twice.push(`${when}: given to the next agent`);
  }

  /** @param isStartedAgain whether its daemon lives */
  async expectCrashed(state: PublishedState, isStartedAgain: boolean): Promise<void> {
    const id = await this.idOf(state);
    const when = isStartedAgain ? 'killed below its daemon' : 'killed without a daemon';
    if (!(await this.row(id)).crashed && !(await this.lives(id))) this.missed.push(`${when}: work list`);
    if (!(await this.crashed()).includes(id) && !(await this.lives(id))) this.missed.push(`${when}: crash-detect`);
    const isHanded = await this.isHanded(id);
    if (isHanded && isStartedAgain) this.twice.push(`${when}: given to the next agent`);
    if (!(isHanded || isStartedAgain || (await this.lives(id)))) this.missed.push(`${when}: the next agent`);
  }

  async row(id: string): Promise<{ liveness: string; crashed: boolean }> {
    const rows = await asked<{ session_id: string; liveness: string; crashed: boolean }[]>(
      this.place,
      'work list --all',
    );
    const row = rows.find(({ session_id }) => session_id === id);
    if (row === undefined) throw new Error(`${id} is not listed`);
    return row;
  }

  async crashed(): Promise<string[]> {
    const reports = await asked<{ session_id: string; kind: string }[]>(this.place, 'track crash-detect');
    return reports.filter(({ kind }) => kind === 'crashed').map(({ session_id }) => session_id);
  }

  async lives(id: string): Promise<boolean> {
    const memory = memoryOf(this.place);
    const session = memory.sessions.read(id);
    return session !== null && (await lookAt(memory, session)).condition.liveness === 'alive';
  }

  /** Whether an agent that begins now is given the session to resume. What it writes is taken back. */
  async isHanded(id: string): Promise<boolean> {
    const memory = memoryOf(this.place);
    const agent = readProcessIdentity(memory.surroundings.process.host);
    const launch = { provider: 'claude', conversation: `next-${id}`, source: 'startup', transcript: null } as const;
    const started = startConversation(memory, { ...launch, agent, launchedIn: null });
    const given = await startContext(memory, started, { ...launch, agent, launchedIn: null }).finally(() =>
      started.session.log.close(),
    );
    memory.sessions.addFacts(started.session.id, [worklogKind.line('run_ended', { process: agent, reason: 'other' })]);
    return given.text.includes(`work continue ${id}`) || given.text.includes(`Session ${id}:`);
  }
}

/** Even rounds kill a worker below its daemon, odd ones without any. */
async function playRound(program: string, round: number): Promise<Round> {
  const place = await publishedPlace();
  const play = new Play(place, program);
  afterThisTest(async () => {
    await play.claude('daemon stop --any');
  });
  const first = await play.begin('WORK on one');
  const second = await play.begin('WORK on two');
  for (const state of [first, second]) await play.expectAlive(state, 'begun');
  if (round % 2 === 0) {
    await killAtOnce(second.pid);
    await play.expectCrashed(second, true);
    await expectBack(play, second);
  }
  await play.claude('daemon stop --any --keep-workers');
  await play.expectAlive(first, 'without a daemon');
  if (round % 2 === 1) {
    await killAtOnce(second.pid);
    await play.expectCrashed(second, false);
  }
  const third = await play.begin('WORK on three');
  for (const state of [first, third]) await play.expectAlive(state, 'with the next daemon');
  if (round % 2 === 1) await expectBack(play, second);
  return play;
}

/** The daemon starts the worker again, in the same conversation. */
async function expectBack(play: Play, { pid, conversation }: PublishedState): Promise<void> {
  const back = await play.until('the worker that is started again', () =>
    publishedIn(play.place).find((state) => state.conversation === conversation && state.pid !== pid),
  );
  await play.until('its run', () => isRecorded(play, back));
  await play.expectAlive(back, 'started again');
}

function isRecorded({ place }: Play, { conversation, pid }: PublishedState): boolean {
  const id = sessionOf(place, conversation);
  const runs = id === null ? [] : (memoryOf(place).look(id)?.log.state.runs ?? []);
  return runs.some(({ process }) => process.pid === pid);
}
