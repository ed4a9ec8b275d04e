/** What is known on the disk at the instant at which an issue is filed, and how many are filed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import { FILES } from '../e2e/evidence.js';
import type { SeenRequest } from '../peers/github/proxy.js';
import { type ClockShift, shownAt } from './clocks.js';
import { isForgottenIssue, isKeptEvent, type Loss } from './losses.js';
import { appendLine } from './records.js';

/** An issue that was asked for. */
export interface FiledIssue {
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly title: string;
  /** Sessions that its text names and that no line among the critical events named at that instant. */
  readonly unknown: readonly string[];
}

const HOUR_MS = 3_600_000;

/**
 * Looks at every new issue when its request arrives.
 * @param file where they are kept, one JSON object per line
 */
export function watchIssues({ github, folder }: BridgeScene, file: string): void {
  const events = join(folder, FILES.criticalEvents);
  const look = () => {
    const request = github.requests.at(-1);
    if (request === undefined) return false;
    const { title, body } = textsOf(request);
    const told = textOf(events);
    const named = [...body.matchAll(/^- Session: `?(tg_[\w-]+)/gm)].map(([, session = '']) => session);
    const unknown = named.filter((session) => !told.includes(`"session_id":"${session}"`));
    appendLine(file, { at: Date.now(), title, unknown } satisfies FiledIssue);
    return false;
  };
  // A fault that never falls: it is asked about each request before the others are.
  github.inject({ kind: 'hang', method: 'POST', path: /\/issues$/, when: look, times: Number.POSITIVE_INFINITY });
}

/** @returns issues that were filed before their critical event was on the disk */
export function eventOrderViolations(filed: readonly FiledIssue[], losses: readonly Loss[]): string[] {
  return filed
    .filter(({ at, unknown }) => unknown.length > 0 && !isKeptEvent(at, losses))
    .map(
      ({ title, unknown }) => `the issue "${title}" was filed before a critical event told of ${unknown.join(', ')}`,
    );
}

/** @returns projects that got a second new issue within an hour of the product's clock, or a second roll-up issue */
export function capViolations(
  writes: readonly SeenRequest[],
  losses: readonly Loss[],
  clocks: readonly ClockShift[],
): string[] {
  const created = writes
    .filter(({ method, path, status }) => method === 'POST' && /\/issues$/.test(path) && status === 201)
    .map((request) => ({ at: Date.parse(request.time), title: textsOf(request).title }));
  const isRollUp = (title: string) => /(: several faults| \(collected\))$/.test(title);
  const isWithinAnHour = (first: number, second: number) => shownAt(second, clocks) - shownAt(first, clocks) < HOUR_MS;
  return created.flatMap((second, index) =>
    created
      .slice(0, index)
      .filter((first) => projectOf(first.title) === projectOf(second.title) && isWithinAnHour(first.at, second.at))
      .filter((first) => isRollUp(first.title) === isRollUp(second.title))
      .filter((first) => !isForgottenIssue(first.at, losses))
      .map(
        (first) =>
          `${projectOf(second.title)} got a second new issue within an hour: "${first.title}", "${second.title}"`,
      ),
  );
}

function textsOf({ body }: SeenRequest): { title: string; body: string } {
  const { title, body: text } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  return { title: String(title ?? ''), body: String(text ?? '') };
}

/** `[Watchdog] p3: crash` is of p3. */
function projectOf(title: string): string {
  return /\] (.+): /.exec(title)?.[1] ?? title;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
