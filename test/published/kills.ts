/** Agents of which no hook reports anything: each killed one is named, and none that ended in order. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { lookAt } from '../../memory/look/look.js';
import { takePublished } from '../../memory/programs/takePublished.js';
import type { PublishedState } from '../../src/agents/agentProgram.js';
import { MINUTE, SECOND, systemClock } from '../../src/time.js';
import { ClaudeTerminal, type TerminalPlace } from '../e2e/claudeScreen.js';
import { eventually } from '../e2e/eventually.js';
import { killAtOnce } from '../e2e/recorded.js';
import { ManualClock } from '../harness/clock.js';
import { afterThisTest, withScope } from '../harness/scope.js';
import { asked, memoryOf, print, publishedIn, publishedPlace, run, sessionOf } from './place.js';

const WITHIN_MS = 5 * MINUTE;
/** A window without the plugin is what one is that is older than the plugin. */
const WORDS = ['--bare', ''] as const;
const AT_ONCE = 4;

/** @returns whether all were named */
export async function proveKills(program: string, rounds: number): Promise<boolean> {
  let named = 0;
  let others = 0;
  for (let first = 0; first < rounds; first += AT_ONCE) {
    const count = Math.min(AT_ONCE, rounds - first);
    const result = await withScope(() => killSome(program, { first, count }));
    named += result.named;
    others += result.others;
    print(`kills: ${named} of ${first + count} named, ${others} others named`);
  }
  return named === rounds && others === 0;
}

async function killSome(program: string, { first, count }: { readonly first: number; readonly count: number }) {
  const place = await publishedPlace();
  const terminals: ClaudeTerminal[] = [];
  for (let index = 0; index < count; index += 1)
    terminals.push(
      new ClaudeTerminal(place, program, place.work, `${WORDS[(first + index) % 2]} 'WORK on ${index}'`, false),
    );
  const busy = await eventually(() => atWork(place, count), {
    ...{ what: `${count} agents at work`, withinMs: WITHIN_MS },
    instead: () => terminals.map(({ screen }) => screen.slice(-800)).join('\n'),
  });
  for (const { pid } of busy) await killAtOnce(pid);
  const reports = await asked<{ session_id: string }[]>(place, 'track crash-detect');
  const found = reports.map(({ session_id }) => session_id);
  const wanted = busy.map(({ conversation }) => sessionOf(place, conversation));
  for (const [index, id] of wanted.entries())
    if (id === null || !found.includes(id))
      print(`  not named: ${await stateOf(place, id)}, ${JSON.stringify(busy[index])}`);
  const named = wanted.filter((id) => id !== null && found.includes(id)).length;
  return { named, others: found.filter((id) => !wanted.includes(id)).length };
}

/** @returns how a session that was not named is, and whether anything of it was written */
async function stateOf(place: TerminalPlace, id: string | null): Promise<string> {
  const memory = memoryOf(place);
  const session = id === null ? null : memory.sessions.read(id);
  if (session === null) return 'no session';
  const { condition, fold } = await lookAt(memory, session);
  return `session ${id}: ${condition.agent}, transcript ${fold === null ? 'missing' : `seen, turn ${fold.isTurnOpen ? 'open' : 'over'}`}`;
}

/** @returns so many agents whose call is running; null if there are fewer */
function atWork(place: TerminalPlace, count: number): PublishedState[] | null {
  const busy = publishedIn(place).filter(({ status }) => status === 'busy');
  const running = readdirSync(place.work).filter((name) => name.startsWith('busy-'));
  return busy.length >= count && running.length >= count ? busy : null;
}

/**
 * @param load how many busy loops compete with the agents
 * @returns whether none was accused
 */
export async function proveEnds(program: string, rounds: number, load: number): Promise<boolean> {
  return withScope(async () => {
    for (let count = 0; count < load; count += 1) keepBusy();
    let [ended, accused, seen] = [0, 0, 0];
    while (ended < rounds) {
      const count = Math.min(AT_ONCE, rounds - ended);
      const result = await withScope(() => endSome(program, count, ended));
      ended += count;
      accused += result.accused;
      seen += result.seen;
      const under = load === 0 ? '' : ` with load ${load}`;
      print(`orderly ends${under}: ${accused} of ${ended} accused (${seen} of them were known while they lived)`);
    }
    return accused === 0;
  });
}

/** Each answers, and ends by itself. Half of them are seen by a reader before. */
async function endSome(program: string, count: number, first: number) {
  const place = await publishedPlace();
  const ends = Array.from({ length: count }, (_, index) => {
    const bare = (first + index) % 2 === 0 ? ['--bare'] : [];
    return run(place, program, [...bare, '-p', `GREET me ${index}`]);
  });
  let isOver = false;
  const all = Promise.all(ends).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    // As a reader half a minute later sees them: by then it does not wait for a hook any more.
    takePublished(memoryOf(place, new ManualClock(systemClock.now() + MINUTE)));
    await systemClock.sleep(SECOND / 10);
  }
  const failed = (await all).find(({ code }) => code !== 0);
  if (failed !== undefined) throw new Error(`an agent failed: ${failed.err}${failed.out}`);
  const rows = await asked<{ crashed: boolean }[]>(place, 'work list --all');
  const reports = await asked<unknown[]>(place, 'track crash-detect');
  for (const report of reports) print(`  accused: ${JSON.stringify(report)}, ${JSON.stringify(publishedIn(place))}`);
  return { accused: Math.max(rows.filter(({ crashed }) => crashed).length, reports.length), seen: rows.length };
}

/** A busy loop, until the scope is over. */
export function keepBusy(): void {
  const child: ChildProcess = spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' });
  afterThisTest(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });
}
