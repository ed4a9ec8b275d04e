/**
 * The scripted agent's program. Usage: `scriptedMain.js --session ID --run ID --attempt N [--conversation ID] [--scenario PATH
 * --place N]`, the prompt on standard input, the protocol (protocol.ts) on standard output.
 *
 * It reads two environment variables: `SCRIPTED_RECORD`, a file to which it appends when it started and stopped, and
 * `SCRIPTED_STATE`, the folder of its conversations. If it is killed, as any agent may be, its stop is not recorded.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/time.js';
import type { ScenarioFile, Step } from './scenario.js';
import { DEFAULT_STEPS, ScenarioPlayer } from './scenarioPlayer.js';
import { addTurn } from './scriptedConversation.js';

const STDIN = 0;
const STDOUT = 1;

const text = { type: 'string' } as const;
const { values: given } = parseArgs({
  options: {
    session: { ...text, default: '' },
    run: { ...text, default: '' },
    attempt: { ...text, default: '1' },
    conversation: text,
    scenario: text,
    place: { ...text, default: '0' },
  },
});
const environment = process.env;

function record(event: 'start' | 'stop'): void {
  if (environment.SCRIPTED_RECORD === undefined) return;
  const { session, run, attempt } = given;
  const line = { at: systemClock.now(), event, session, run, pid: process.pid, attempt: Number(attempt) };
  appendFileSync(environment.SCRIPTED_RECORD, `${JSON.stringify(line)}\n`);
}

function exit(code: number): never {
  record('stop');
  process.exit(code);
}

/** Checked by the process that started this program. */
function readSteps(): readonly Step[] {
  if (given.scenario === undefined) return DEFAULT_STEPS;
  const file: ScenarioFile = JSON.parse(readFileSync(given.scenario, 'utf8'));
  return file.scenarios[Number(given.place)]?.steps ?? DEFAULT_STEPS;
}

/** What we add for a second attempt is below the message; a chat need not read it again. */
function firstLine(prompt: string): string {
  const [first = '', ...rest] = prompt.trim().split('\n');
  return rest.length === 0 ? first : `${first.trimEnd()} […]`;
}

const prompt = readFileSync(STDIN, 'utf8');
record('start');
const conversation = given.conversation ?? randomUUID();
const turn = addTurn(conversation, given.session, given.run, environment.SCRIPTED_STATE);
writeSync(STDOUT, `${JSON.stringify({ event: 'conversation', conversation_id: conversation })}\n`);

const { session, run, attempt } = given;
const player = new ScenarioPlayer({
  clock: systemClock,
  words: { prompt, first_line: firstLine(prompt), attempt, turn: String(turn), conversation, session, run },
  environment,
  onCrash: () => record('stop'),
  exit,
});
process.on('SIGTERM', () => player.onSigterm());
await player.play(readSteps());
exit(0);
