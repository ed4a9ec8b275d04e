/**
 * `npm run prove -- plan-races`: many servers change one session at once, and no change is lost; two agents start one phase at once, and
 * one of them gets it. After the winner is killed, the loser gets it.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { proofOptions } from '../harness/proofOptions.js';
import { Agent, type Answer } from './agent.js';
import { raceArchive, raceTakers, raceWithdrawal } from './takers.js';

const values = proofOptions('plan-races', {
  servers: [16, 'how many change one session'],
  changes: [500, 'of each server'],
  races: [1000, 'for the start of a phase'],
  kill: [20, 'after so many races each, the winner is killed'],
});
const MOST_PHASES = 500;
/** A command of a person takes longer than the call of a tool. */
const SLOWER = 10;
const MOST_PRINTED = 10;
const LONGEST_PRINTED = 500;
const folder = mkdtempSync(join(tmpdir(), 'wk-plan-races-'));
let faults = 0;

function check(isRight: boolean, words: string): void {
  if (isRight) return;
  faults += 1;
  if (faults <= MOST_PRINTED) process.stdout.write(`  FAULT: ${words.slice(0, LONGEST_PRINTED)}\n`);
}

function place(name: string): { readonly home: string; readonly directory: string } {
  const [home, directory] = [join(folder, name, 'home'), join(folder, name, 'work')];
  for (const each of [home, directory]) mkdirSync(each, { recursive: true, mode: 0o700 });
  return { home, directory };
}

/** The same phase may be completed again and again: each time it gets another file. Other changes are notes and tokens. */
function changeOf(server: number, index: number): [tool: string, args: object] {
  switch (index % 3) {
    case 0:
      return ['record_tokens', { agent: `agent ${server}`, input: 1, step: '1' }];
    case 1:
      return ['add_note', { text: `note ${server}.${index}` }];
    default:
      return [
        'transition_phase',
        { completed_phase_id: 1, files_created: [`${server}/${index}`], no_context_reason: 'none' },
      ];
  }
}

/** The parts of the status that are read at different instants, or by different processes. */
const OF_NOW = [
  'freshness',
  'check',
  'session_state',
  'attention',
  'stuck',
  'liveness',
  'crashed',
  'next',
  'conflicts',
];

async function writers(servers: number, changes: number): Promise<void> {
  const { home, directory } = place('writers');
  const agents = await Promise.all(Array.from({ length: servers }, () => Agent.start(home, directory)));
  const [first] = agents;
  if (first === undefined) return;
  const phases = [
    { id: 1, name: 'One', agents: ['a'] },
    { id: 2, name: 'Two', agents: ['a'] },
  ];
  const { value } = await first.call('create_session', { task: 'Race', phases });
  await first.call('transition_phase', { next_phase_id: 1 });
  await first.call('transition_phase', { completed_phase_id: 1 });
  const path = join(String(value.path), 'worklog.jsonl');
  const before = linesOf(path).length;
  const began = performance.now();
  const refused = await Promise.all(agents.map((agent, server) => changesBy(agent, server, changes)));
  const seconds = (performance.now() - began) / 1_000;
  const lines = linesOf(path);
  const made = lines.length - before;
  const distinct = new Set(lines.map(({ id }) => id)).size;
  process.stdout.write(
    `${servers} servers × ${changes} changes: ${made} of ${servers * changes} lines, ${distinct} ids, ${refused.flat().length} refused, ${Math.round((servers * changes) / seconds)} a second\n`,
  );
  check(made === servers * changes && distinct === lines.length, 'a change is lost, or was written twice');
  for (const each of refused.flat()) check(false, JSON.stringify(each));
  const seen = await Promise.all(agents.map((agent) => agent.call('get_session_status', {})));
  const texts = new Set(
    seen.map(({ value }) => JSON.stringify(value, (key, part) => (OF_NOW.includes(key) ? null : part))),
  );
  check(texts.size === 1, `${texts.size} servers see different states`);
  const [status] = seen;
  const steps = (status?.value.steps ?? []) as {
    id: string;
    files: { created: string[] };
    tokens: { input: number };
  }[];
  const one = steps.find(({ id }) => id === '1');
  const per = (kind: number) =>
    servers * Array.from({ length: changes }, (_, index) => index % 3).filter((each) => each === kind).length;
  // A manifest has at most 2,000 files of a kind.
  check(one?.files.created.length === Math.min(per(2), 2_000), `${one?.files.created.length} files`);
  check(one?.tokens.input === per(0), `${one?.tokens.input} tokens instead of ${per(0)}`);
  process.stdout.write(`one order: ${texts.size === 1 ? 'all servers see one state' : 'NO'}\n`);
  await Promise.all(agents.map((agent) => agent.end(null)));
}

async function changesBy(agent: Agent, server: number, changes: number): Promise<Answer[]> {
  const refused: Answer[] = [];
  for (let index = 0; index < changes; index += 1) {
    const answer = await agent.call(...changeOf(server, index));
    if (answer.isError) refused.push(answer);
  }
  return refused;
}

function linesOf(path: string): { readonly id: string }[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

interface Sums {
  races: number;
  won: number;
  named: number;
  kills: number;
  takeovers: number;
}

async function starters(races: number, killEvery: number): Promise<void> {
  const { home, directory } = place('starters');
  const sums: Sums = { races: 0, won: 0, named: 0, kills: 0, takeovers: 0 };
  const agents = [await Agent.start(home, directory), await Agent.start(home, directory)] as [Agent, Agent];
  while (sums.races < races) {
    const count = Math.min(MOST_PHASES, races - sums.races);
    const phases = Array.from({ length: count }, (_, index) => ({ id: index + 1, name: `Phase ${index + 1}` }));
    const made = await agents[0].call('create_session', { task: 'Race', phases, on_active: 'concurrent' });
    const session_id = String(made.value.session_id);
    for (const { id } of phases)
      await race(agents, { session_id, phase: id, killEvery, start: () => Agent.start(home, directory) }, sums);
  }
  process.stdout.write(
    `${sums.races} races of two agents for a phase: ${sums.won} with one winner, ${sums.named} losers were told whom; ${sums.kills} winners killed, ${sums.takeovers} phases taken over\n`,
  );
  check(
    sums.won === sums.races && sums.named === sums.races,
    'a race without exactly one winner, or a loser who was not told',
  );
  check(sums.takeovers === sums.kills, 'a phase of a dead agent that the other one did not get');
  await Promise.all(agents.map((agent) => agent.end(null)));
}

interface Race {
  readonly session_id: string;
  readonly phase: number;
  readonly killEvery: number;
  start(): Promise<Agent>;
}

async function race(agents: [Agent, Agent], { session_id, phase, killEvery, start }: Race, sums: Sums): Promise<void> {
  sums.races += 1;
  const asked = { session_id, next_phase_id: phase };
  const answers = await Promise.all(agents.map((agent) => agent.call('transition_phase', asked)));
  const winner = answers.findIndex(({ isError }) => !isError);
  if (answers.filter(({ isError }) => !isError).length !== 1) return check(false, JSON.stringify(answers));
  sums.won += 1;
  const [won, lost] = winner === 0 ? [0, 1] : [1, 0];
  const { code, holder, alive } = (answers[lost]?.value ?? {}) as {
    code?: string;
    alive?: boolean;
    holder?: { process?: { pid: number } };
  };
  if (code === 'taken' && alive === true && holder?.process?.pid === agents[won]?.pid) sums.named += 1;
  else
    check(false, `the loser was told ${JSON.stringify(answers[lost])}, and process ${agents[won]?.pid} has the phase`);
  if (sums.races % killEvery !== 0) return;
  sums.kills += 1;
  await agents[won]?.end('SIGKILL');
  const again = await agents[lost]?.call('transition_phase', asked);
  if (again?.isError === false) sums.takeovers += 1;
  else check(false, `after the winner's death: ${JSON.stringify(again)}`);
  agents[won] = await start();
}

async function takers(races: number): Promise<void> {
  const { home, directory } = place('takers');
  const agents = [await Agent.start(home, directory), await Agent.start(home, directory)] as const;
  const person = { home, directory };
  const few = Math.ceil(races / SLOWER);
  const found = {
    'two agents for a handoff': await raceTakers(agents, races),
    'an agent and a person who takes the handoff back': await raceWithdrawal(agents[0], person, few),
    'an agent and the archiving of the session that wrote the handoff': await raceArchive(agents, person, few),
  };
  for (const [name, taken] of Object.entries(found)) {
    const { races: all, won, byAgent } = taken;
    process.stdout.write(`${all} races of ${name}: ${won} ended rightly, ${byAgent} for the first agent\n`);
    check(won === all, `a race of ${name} that did not end rightly`);
  }
  await Promise.all(agents.map((agent) => agent.end(null)));
}

await writers(values.servers, values.changes);
await starters(values.races, values.kill);
await takers(values.races);
rmSync(folder, { recursive: true, force: true });
process.exitCode = faults === 0 ? 0 : 1;
