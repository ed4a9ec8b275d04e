/** Dialogs that are left open for hours: no session is accused, and the wait is shown as soon as the program says so. */
import { setTimeout as pause } from 'node:timers/promises';
import { lookAt } from '../../memory/look/look.js';
import { judge } from '../../monitoring/terminals/judge.js';
import { HOUR, MINUTE, SECOND, systemClock } from '../../src/time.js';
import { ClaudeTerminal, type TerminalPlace } from '../e2e/claudeScreen.js';
import { eventually } from '../e2e/eventually.js';
import { ManualClock } from '../harness/clock.js';
import { withScope } from '../harness/scope.js';
import { asked, mcpFile, memoryOf, PLUGIN, print, publishedIn, publishedPlace, sessionOf } from './place.js';

const ESCAPE = '\u001b';
const WITHIN_MS = 30 * SECOND;
const TOLD_WITHIN_MS = 2 * SECOND;
/** After the dialog has opened. */
const LATER_MS = [11 * MINUTE, HOUR, 3 * HOUR, 5 * HOUR, 12 * HOUR, 24 * HOUR];
const DIALOGS = [
  ['a permission', 'PERMISSION first', ''],
  ['a question', 'QUESTION first', ''],
  ['a form of an MCP server', 'FORM first', ''],
  ["a sub-agent's permission", 'DELEGATE it', ''],
  ['a plan', 'PLAN first', '--permission-mode plan'],
] as const;

const MOST_ESCAPES = 10;
const ESCAPED_WITHIN_MS = 2 * SECOND;

interface OpenDialog {
  readonly kind: string;
  readonly waitingFor: string | null;
  /** From the program's word to the end of `track status`, which says so. */
  readonly toldAfterMs: number;
  readonly accused: readonly string[];
}

/** @returns whether all held */
export async function proveDialogs(program: string, rounds: number): Promise<boolean> {
  const dialogs: OpenDialog[] = [];
  for (let round = 1; round <= rounds; round += 1)
    for (const [kind, prompt, words] of DIALOGS) {
      const dialog = await withScope(() => openOne(program, { kind, prompt, words, isHooked: round % 2 === 0 }));
      dialogs.push(dialog);
      const { waitingFor, toldAfterMs, accused } = dialog;
      print(
        `${dialogs.length}  ${kind}${round % 2 === 0 ? '' : ', without hooks'}: "${waitingFor}", told after ${toldAfterMs} ms, ${accused.length === 0 ? 'not accused' : accused.join('; ')}`,
      );
    }
  const accused = dialogs.filter((one) => one.accused.length > 0).length;
  const late = dialogs.filter(({ toldAfterMs }) => toldAfterMs > TOLD_WITHIN_MS).length;
  const slowest = Math.max(...dialogs.map(({ toldAfterMs }) => toldAfterMs));
  print(
    `dialogs: ${accused} of ${dialogs.length} accused, ${late} told later than ${TOLD_WITHIN_MS} ms (slowest ${slowest} ms)`,
  );
  return accused === 0 && late === 0;
}

interface Scene {
  readonly kind: string;
  readonly prompt: string;
  readonly words: string;
  readonly isHooked: boolean;
}

async function openOne(program: string, { kind, prompt, words, isHooked }: Scene): Promise<OpenDialog> {
  const place = await publishedPlace();
  const options = `--strict-mcp-config --mcp-config '${mcpFile(place)}' ${words} ${isHooked ? PLUGIN : ''}`;
  const terminal = new ClaudeTerminal(place, program, place.work, options, false);
  if (!isHooked) {
    // A reader takes such a session in once a hook would have reported it.
    await terminal.type('GREET me');
    await terminal.shows('Hello to you.');
    const greeted = await eventually(() => publishedIn(place)[0], { what: 'its publication' });
    await recorded(place, greeted.conversation);
  }
  await terminal.type(prompt);
  const dialog = await eventually(
    () => publishedIn(place).find(({ status, waiting_for }) => status === 'waiting' && waiting_for !== 'dialog open'),
    { what: `the dialog of ${kind}`, withinMs: WITHIN_MS, instead: () => terminal.screen.slice(-2_000) },
  );
  const id = await recorded(place, dialog.conversation);
  const status = await asked<{ attention: string; waits: { kind: string }[] }>(place, `track status --session ${id}`);
  const toldAfterMs = systemClock.now() - dialog.status_at;
  const isTold = status.attention === 'waiting' && status.waits.some((wait) => wait.kind === dialog.waiting_for);
  const accused = isTold ? await accusedLater(place, id) : [`told as ${JSON.stringify(status.attention)}`];
  const isOpen = () => publishedIn(place).some(({ status }) => status === 'waiting');
  // A key that comes before the dialog is drawn interrupts the turn, and leaves the dialog open.
  for (let tries = 0; tries < MOST_ESCAPES && isOpen(); tries += 1) {
    terminal.press(ESCAPE);
    await pause(ESCAPED_WITHIN_MS);
  }
  if (isOpen()) throw new Error(`the dialog of ${kind} does not end:\n${terminal.screen.slice(-2_000)}`);
  const endedAt = systemClock.now();
  let after = 'waiting';
  // The program writes the end into its transcript up to half a second later.
  while (after === 'waiting' && systemClock.now() - endedAt < TOLD_WITHIN_MS)
    after = (await asked<{ attention: string }>(place, `track status --session ${id}`)).attention;
  if (after === 'waiting') accused.push('still told as waiting');
  return { kind, waitingFor: dialog.waiting_for, toldAfterMs, accused };
}

/** Without hooks a reader takes the session in, which it leaves to a hook for the first half a minute. */
async function recorded(place: TerminalPlace, conversation: string): Promise<string> {
  for (const end = systemClock.now() + 2 * WITHIN_MS; systemClock.now() < end; await pause(SECOND / 4)) {
    const id = sessionOf(place, conversation);
    if (id !== null) return id;
    await asked(place, 'work list --all');
  }
  throw new Error(`no session has the conversation ${conversation}`);
}

/** @returns what the session is accused of, at each of the later instants */
async function accusedLater(place: TerminalPlace, id: string): Promise<string[]> {
  const accused: string[] = [];
  for (const ms of LATER_MS) {
    const memory = memoryOf(place, new ManualClock(systemClock.now() + ms));
    const session = memory.sessions.read(id);
    if (session === null) return ['its session is gone'];
    const { condition } = await lookAt(memory, session, { judge });
    const { agent, stuck, broken } = condition;
    if (agent !== 'waiting' || stuck !== null || broken.length > 0)
      accused.push(`after ${ms / MINUTE} min: ${agent}, ${[stuck?.rule, ...broken.map(({ rule }) => rule)].join(' ')}`);
  }
  return accused;
}
