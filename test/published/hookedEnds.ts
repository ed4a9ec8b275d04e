/** Agents with the plugin that end in order on a busy machine: no hook is cancelled before the person's eyes, and each end is recorded. */
import { MINUTE, systemClock } from '../../src/time.js';
import { ClaudeTerminal } from '../e2e/claudeScreen.js';
import { eventually } from '../e2e/eventually.js';
import { processesOf, type WorklogLine, worklogsIn } from '../e2e/recorded.js';
import { withScope } from '../harness/scope.js';
import { keepBusy } from './kills.js';
import { asked, PLUGIN, print, publishedPlace, run } from './place.js';

const WITHIN_MS = 5 * MINUTE;
const AT_ONCE = 10;
const RECORDED_WITHIN_MS = MINUTE;
/** What Claude Code prints for a hook that it did not wait for, or that failed. */
const COMPLAINT = /hook (?:failed|cancelled)|cancelled/i;

/**
 * @param load how many busy loops compete with the agents
 * @returns whether nobody read of a hook, and every end was recorded
 */
export async function proveHookedEnds(program: string, rounds: number, load: number): Promise<boolean> {
  return withScope(async () => {
    for (let count = 0; count < load; count += 1) keepBusy();
    let [ended, complaints, missing, accused] = [0, 0, 0, 0];
    while (ended < rounds) {
      const count = Math.min(AT_ONCE, rounds - ended);
      const result = await withScope(() => endSome(program, count));
      ended += count;
      complaints += result.complaints;
      missing += result.missing;
      accused += result.accused;
      print(
        `ends with hooks and load ${load}: of ${ended}, ${complaints} with a complaint, ${missing} without a recorded end, ${accused} accused`,
      );
    }
    return complaints + missing + accused === 0;
  });
}

/** Half of them are windows, the others answer and end by themselves. */
async function endSome(program: string, count: number) {
  const place = await publishedPlace();
  const ends = Array.from({ length: count }, async (_, index) => {
    if (index % 2 === 0) {
      const { out, err } = await run(place, program, [...PLUGIN.split(' '), '-p', `GREET me ${index}`]);
      return out + err;
    }
    const window = new ClaudeTerminal(place, program, place.work, `${PLUGIN} 'GREET me ${index}'`, false);
    await eventually(() => window.screen.includes('Hellotoyou.'), {
      ...{ what: 'the answer', withinMs: WITHIN_MS },
      instead: () => window.screen.slice(-2_000),
    });
    window.press('/exit');
    await eventually(() => window.screen.includes('/exit'), { what: 'the typed word', withinMs: WITHIN_MS });
    window.press('\r');
    await window.ended;
    return window.screen;
  });
  const printed = await Promise.all(ends);
  const complaints = printed.filter((text) => COMPLAINT.test(text));
  for (const text of complaints) print(`  ${text.slice(-400)}`);
  // At once, as a person asks who has just closed a window.
  const reports = await asked<unknown[]>(place, 'track crash-detect');
  const isEnded = (log: readonly WorklogLine[]) =>
    processesOf(log).length === log.filter(({ event }) => event === 'run_ended').length;
  const missing = () => count - [...worklogsIn(place).values()].filter(isEnded).length;
  // The program of the hook may still be on its way.
  for (const end = systemClock.now() + RECORDED_WITHIN_MS; missing() > 0 && systemClock.now() < end; )
    await asked(place, 'work list --all');
  return { complaints: complaints.length, missing: missing(), accused: reports.length };
}
