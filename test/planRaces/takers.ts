/** One agent accepts a handoff while another one accepts it, its author takes it back, or its session goes to the archive. */
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { compiledProgram } from '../../src/host/program.js';
import type { Agent, Answer } from './agent.js';

export interface Taken {
  readonly races: number;
  /** With exactly one winner, who is on record. */
  readonly won: number;
  /** Of the agent; the other ones are those of the second agent, or of the person. */
  readonly byAgent: number;
}

const DOCUMENT = { learnings: ['a'], next: ['b'] };
/** About as long as the command takes to start: some of either kind are first. */
const LONGEST_HEAD_START_MS = 240;

/** @param agents without a session: each is known by its process alone */
export async function raceTakers(agents: readonly Agent[], races: number): Promise<Taken> {
  let [won, byAgent] = [0, 0];
  for (let race = 0; race < races; race += 1) {
    const asked = { id: await offered(agents[0], `Handoff ${race}`), as: 'follow' };
    const answers = await Promise.all(agents.map((agent) => agent.call('accept_handoff', asked)));
    if (answers.filter(({ isError }) => !isError).length === 1) won += 1;
    if (answers[0]?.isError === false) byAgent += 1;
  }
  return { races, won, byAgent };
}

export interface Person {
  readonly home: string;
  readonly directory: string;
}

/** A person takes the handoff back while the agent accepts it. */
export async function raceWithdrawal(agent: Agent, person: Person, races: number): Promise<Taken> {
  let [won, byAgent] = [0, 0];
  for (let race = 0; race < races; race += 1) {
    const id = await offered(agent, `Withdrawn ${race}`);
    const [answer, isWithdrawn] = await Promise.all([
      accepted(agent, id, (race / races) * LONGEST_HEAD_START_MS),
      succeeds(person, ['handoff', 'withdraw', id]),
    ]);
    const status = await statusOf(person, id);
    const isAgents = !answer.isError;
    if (isAgents !== isWithdrawn && status === (isAgents ? 'accepted' : 'withdrawn')) won += 1;
    if (isAgents) byAgent += 1;
  }
  return { races, won, byAgent };
}

/** The session that wrote the handoff goes to the archive meanwhile: both are done, and the handoff can be read. */
export async function raceArchive(agents: readonly [Agent, Agent], person: Person, races: number): Promise<Taken> {
  const [author, taker] = agents;
  let won = 0;
  for (let race = 0; race < races; race += 1) {
    const made = await author.call('create_session', {
      ...{ task: `Author ${race}`, phases: [{ id: 1, name: 'One' }], on_active: 'concurrent' },
    });
    const session = String(made.value.session_id);
    const id = await offered(author, `Archived ${race}`, session);
    const [answer, isArchived] = await Promise.all([
      accepted(taker, id, (race / races) * LONGEST_HEAD_START_MS),
      author.call('archive_session', { session_id: session, as: 'cancelled' }).then(({ isError }) => !isError),
    ]);
    if (!answer.isError && isArchived && (await statusOf(person, id)) === 'accepted') won += 1;
  }
  return { races, won, byAgent: won };
}

async function offered(agent: Agent | undefined, title: string, session_id?: string): Promise<string> {
  const made = await agent?.call('create_handoff', { title, ...DOCUMENT, ...(session_id && { session_id }) });
  return String(made?.value.handoff_id);
}

async function accepted(agent: Agent, id: string, afterMs: number): Promise<Answer> {
  await pause(afterMs);
  return agent.call('accept_handoff', { id, as: 'follow' });
}

async function statusOf(person: Person, id: string): Promise<unknown> {
  return JSON.parse((await run(person, ['handoff', 'show', id, '--json'])).stdout).status;
}

function succeeds(person: Person, words: readonly string[]): Promise<boolean> {
  return run(person, words).then(
    () => true,
    () => false,
  );
}

function run({ home, directory: cwd }: Person, words: readonly string[]) {
  const env = { PATH: process.env.PATH, HOME: home, WATCHKEEPER_HOME: home };
  return promisify(execFile)(process.execPath, [compiledProgram('bridge/cli/main'), ...words], { cwd, env });
}
