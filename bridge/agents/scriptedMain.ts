/**
 * The scripted agent's program. Usage: `scriptedMain.js --session ID --run ID --attempt N [--conversation ID] [--scenario PATH
 * --place N]`, the prompt on standard input, the protocol (protocol.ts) on standard output.
 *
 * It reads two environment variables: `SCRIPTED_RECORD`, a file to which it appends when it started and stopped, and
 * `SCRIPTED_STATE`, the folder of its conversations. If it is killed, as any agent may be, its stop is not recorded.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nullIfAbsent } from '../../src/errors.js';
import { contentDigest } from '../../src/journal/digest.js';
import { jsonFile } from '../../src/json.js';
import { systemClock } from '../../src/time.js';
import type { ScenarioFile, Step } from './scenario.js';
import { DEFAULT_STEPS, ScenarioPlayer } from './scenarioPlayer.js';

const STDIN = 0;
const STDOUT = 1;
/** The folder of the conversations, below the working directory. */
const FOLDER = '.watchkeeper-scripted';
const SAFE_NAME = /^[A-Za-z0-9_-]{1,100}$/;

/** The memory of a conversation, so that "turn 3 of this conversation" can be proven. */
interface Conversation {
  readonly conversation_id: string;
  readonly turns: readonly { readonly session: string; readonly run: string }[];
}

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

/** Checked by the process that started this program. */
function readSteps(): readonly Step[] {
  if (given.scenario === undefined) return DEFAULT_STEPS;
  const file: ScenarioFile = JSON.parse(readFileSync(given.scenario, 'utf8'));
  return file.scenarios[Number(given.place)]?.steps ?? DEFAULT_STEPS;
}

/** The words that we add for a second attempt are below the message; a chat need not read them again. */
function firstLine(prompt: string): string {
  const [first = '', ...rest] = prompt.trim().split('\n');
  return rest.length === 0 ? first : `${first.trimEnd()} […]`;
}

/** Only one run at a time may work in a directory; the lanes ensure that. @returns the turn's number, from 1 */
function addTurn(conversationId: string, session: string, run: string): number {
  const folder = environment.SCRIPTED_STATE ?? FOLDER;
  const path = join(folder, `${SAFE_NAME.test(conversationId) ? conversationId : contentDigest(conversationId)}.json`);
  const turns = [...readTurns(path), { session, run }];
  const conversation: Conversation = { conversation_id: conversationId, turns };
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${path}.new`, jsonFile(conversation));
  renameSync(`${path}.new`, path);
  return turns.length;
}

function readTurns(path: string): Conversation['turns'] {
  try {
    const { turns }: Conversation = JSON.parse(readFileSync(path, 'utf8'));
    return turns;
  } catch (error) {
    return nullIfAbsent(error) ?? [];
  }
}

const prompt = readFileSync(STDIN, 'utf8');
record('start');
const { session, run, attempt, conversation = randomUUID() } = given;
const turn = String(addTurn(conversation, session, run));
writeSync(STDOUT, `${JSON.stringify({ event: 'conversation', conversation_id: conversation })}\n`);

const words = { prompt, first_line: firstLine(prompt), attempt, turn, conversation, session, run };
const player = new ScenarioPlayer(words, () => record('stop'));
process.on('SIGTERM', () => player.onSigterm());
await player.play(readSteps());
player.exit(0);
