/** One change from a version to another and back, with messages in every state. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import { openScene } from '../e2e/bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from '../e2e/conversation.js';
import type { Program } from '../e2e/program.js';
import type { Scenario } from '../e2e/sceneFiles.js';

export interface Version {
  readonly name: string;
  /** Its compiled command line. */
  readonly main: string;
  /** Whether its configuration has only what the first versions know. */
  readonly isPlain: boolean;
}

export interface Change {
  readonly from: Version;
  readonly to: Version;
  /** How the bridge of the one is ended before that of the other is started. */
  readonly signal: 'SIGTERM' | 'SIGKILL';
}

export interface UpgradeResult {
  readonly from: string;
  readonly to: string;
  readonly signal: string;
  readonly messages: number;
  readonly outcome: string;
  /** What was not answered, or more than once; a sentence each. */
  readonly lost: readonly string[];
}

const PROJECT = 'ferry';
const PLAIN = 'former.config.json';
const [BUSY, IDLE] = [1, 2];
const RUNS_MS = 3_000;
const WITHIN_MS = 60_000;
const REFUSED = 2;
const SCENARIOS: readonly Scenario[] = [
  {
    when: { message: '^slow' },
    steps: [
      { do: 'call', tool: 'bash', input: { command: 'load' }, takes_ms: RUNS_MS },
      { do: 'answer', text: 'landed: {{first_line}}' },
    ],
  },
  { steps: [{ do: 'answer', text: 'landed: {{first_line}}' }] },
];

/** @param folder an empty one, for the scene */
export async function upgradeRound(folder: string, { from, to, signal }: Change): Promise<UpgradeResult> {
  const chats = [{ id: BUSY }, { id: IDLE, directory: 'two' }];
  const scene = await openScene({ redis: 'scene', folder, projects: { [PROJECT]: { chats, scenarios: SCENARIOS } } });
  try {
    writePlainConfiguration(folder);
    const asked: Asked[] = [];
    let isRefused = false;
    let bridge = await scene.startBridge(environmentOf(from), from.main);
    for (const next of [to, from]) {
      asked.push(...(await askAll(scene, next.name)));
      await end(bridge, signal);
      const other = await startOther(scene, next);
      if (other === null) isRefused = true;
      bridge = other ?? (await scene.startBridge(environmentOf(from), from.main));
    }
    const lost = (await Promise.all(asked.map((each) => fate(scene, each)))).filter((words) => words !== null);
    const answered = isRefused ? 'refused in words, then every message answered once' : 'every message answered once';
    const outcome = lost.length === 0 ? answered : `${lost.length} LOST OR DOUBLED`;
    return { from: from.name, to: to.name, signal, messages: asked.length, outcome, lost };
  } finally {
    await scene.stop();
  }
}

/** What a newer version may be told of a project is refused by an older one, in words: an operator takes it out first. */
function writePlainConfiguration(folder: string): void {
  const { projects, timings } = JSON.parse(readFileSync(join(folder, 'watchkeeper.config.json'), 'utf8'));
  const { directory, chats, senders, repository, agent } = projects[PROJECT];
  const plain = { projects: { [PROJECT]: { directory, chats, senders, repository, agent } }, timings };
  writeFileSync(join(folder, PLAIN), JSON.stringify(plain));
}

function environmentOf({ isPlain }: Version): Record<string, string> {
  return isPlain ? { WATCHKEEPER_CONFIG: PLAIN } : {};
}

interface Asked {
  readonly text: string;
  readonly conversation: Conversation;
}

/** One is answered, one runs, two wait behind it. */
async function askAll(scene: BridgeScene, before: string): Promise<Asked[]> {
  const ask = (chat: number, text: string) => ({ text, conversation: new Conversation(scene, PROJECT, chat, text) });
  const answered = ask(IDLE, `quick before ${before}`);
  await answered.conversation.answered(`landed: ${answered.text}`, WITHIN_MS);
  const running = ask(BUSY, `slow before ${before}`);
  await running.conversation.start();
  const waiting = ['one', 'two'].map((number) => ask(BUSY, `waiting ${number} before ${before}`));
  await scene.until('the messages that wait', async () => {
    const sessions = await Promise.all(waiting.map((each) => scene.store.records.session(each.conversation.session)));
    return sessions.every((session) => session !== null);
  });
  return [answered, running, ...waiting];
}

async function end(bridge: Program, signal: Change['signal']): Promise<void> {
  if (signal === 'SIGKILL') await bridge.kill();
  else await bridge.stop(WITHIN_MS);
}

/** @returns the bridge; null where it refuses with exit code 2 and words */
async function startOther(scene: BridgeScene, version: Version): Promise<Program | null> {
  const { name, main } = version;
  const callsBefore = scene.telegram.calls.length;
  const bridge = scene.start(['bridge'], environmentOf(version), main);
  await scene.until(
    `the bridge of ${name}, or its refusal`,
    () => bridge.exit !== null || scene.telegram.calls.slice(callsBefore).some(({ method }) => method === 'getUpdates'),
    WITHIN_MS,
  );
  if (bridge.exit === null) return bridge;
  if (bridge.exit.code === REFUSED && /Watchkeeper wrote the records/.test(bridge.stderr)) return null;
  throw new Error(`the bridge of ${name} ended with ${bridge.exit.code}:\n${bridge.lastWords()}`);
}

/** @returns what went wrong with the message; null where it was answered once */
async function fate(scene: BridgeScene, { text, conversation }: Asked): Promise<string | null> {
  const answers = () => conversation.repliesWith(`landed: ${text}`).length;
  const isAnswered = await scene
    .until(`the answer to "${text}"`, () => answers() > 0, WITHIN_MS)
    .then(
      () => true,
      () => false,
    );
  if (!isAnswered) return `"${text}" was not answered`;
  if (answers() > 1) return `"${text}" was answered ${answers()} times`;
  return conversation.repliesWith(FAILURE_PARAGRAPH).length > 0 ? `"${text}" was called a failure as well` : null;
}
