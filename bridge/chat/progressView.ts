import { type Step, stepPlace } from '../../memory/observed/step.js';
import { counted } from '../../src/counted.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { cutText } from '../../src/log/shorten.js';
import { withoutInvisible } from '../../src/log/visibleText.js';
import { clockTime, describeDuration, SECOND } from '../../src/time.js';

export interface Activity {
  /** The call in flight in a few words, `Bash: npm test`; null between calls. */
  readonly tool: string | null;
  /** The agent's last words to the person; null if it has said nothing yet. */
  readonly note: string | null;
  /** Null without a list of tasks, and if every one is settled. */
  readonly step: Step | null;
  readonly calls: number;
  /** Start of this activity, in milliseconds on the monotonic clock: people read how long it has lasted. */
  readonly startedAt: number;
  /** Whether the model's provider has refused the last request, and the agent will ask again; missing if it has not. */
  readonly isRefused?: boolean;
  /** Since when the model has been silent for long, in epoch milliseconds; null or missing if it has not. */
  readonly quietSince?: number | null;
}

/** Shows people that work continues. A display that fails is dropped; no run waits for it. One view serves many sessions. */
export interface ProgressView {
  /** A run begins. Called again for the next run of the same session. */
  begin(session: AgentSession): void;
  /** Remembers the newest activity; shown when its turn comes. */
  update(sessionId: string, activity: Activity): void;
  /** The run has ended. Awaited before the final message is stored, so that no late line overwrites the last one; never throws. */
  end(sessionId: string): Promise<void>;
  /** @returns the chat's message that shows the run's progress; null if there is none */
  messageOf(sessionId: string): string | null;
  /** @returns the present activity in one line, for `/status`; null if no run is shown */
  describe(sessionId: string): string | null;
}

const LONGEST_TOOL = 160;

/** @returns `Bash: npm test · 42 s · 12 calls`, without line breaks; people need no milliseconds */
export function activityLine({ tool, calls, startedAt, isRefused }: Activity, now: number): string {
  const doing = inOneLine(tool ?? (isRefused === true ? "Waiting for the model's provider" : 'Thinking'));
  const made = calls === 0 ? [] : [counted(calls, 'call')];
  return [cutText(doing, LONGEST_TOOL), describeDuration(Math.max(now - startedAt, SECOND)), ...made].join(' · ');
}

/** @returns `step 2 of 5: Write the tests`, without line breaks; null if no step is known */
export function stepLine({ step }: Activity): string | null {
  return step === null ? null : `${stepPlace(step)}: ${inOneLine(step.title)}`;
}

/** @returns `No word from the model since 09:14:05 UTC.`; null if it is not silent for long */
export function quietLine(activity: Activity): string | null {
  const since = quietClock(activity);
  return since === null ? null : `No word from the model since ${since}.`;
}

export function statusLine(activity: Activity, now: number): string {
  const since = quietClock(activity);
  const quiet = since === null ? null : `no word from the model since ${since}`;
  return [activityLine(activity, now), stepLine(activity), quiet].filter((part) => part !== null).join(' · ');
}

function quietClock({ quietSince = null }: Activity): string | null {
  return quietSince === null ? null : clockTime(quietSince);
}

function inOneLine(words: string): string {
  return withoutInvisible(words).replace(/\s+/g, ' ').trim();
}
