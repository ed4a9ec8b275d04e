/**
 * Everything of a version that others count on, seen from outside in one scene: what it says on `--help`, the shapes of its
 * JSON, the files that it leaves, its keys and records in Redis.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BridgeScene, openScene } from '../e2e/bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from '../e2e/conversation.js';
import type { Program } from '../e2e/program.js';
import type { Scenario } from '../e2e/sceneFiles.js';
import { shapeOf, withoutIds } from './shape.js';

const PROJECT = 'yard';
const [FAILS, WORKS, HANGS] = [1, 2, 3];
const WITHIN_MS = 120_000;
const SLOW_MS = 600_000;
const SCENARIOS: readonly Scenario[] = [
  { when: { message: '^crash' }, steps: [{ do: 'exit', code: 1, stderr: 'the registry answered 503' }] },
  {
    when: { message: '^hang' },
    steps: [{ do: 'call', tool: 'bash', input: { command: 'migrate up' }, takes_ms: SLOW_MS }],
  },
  {
    steps: [
      { do: 'say', text: 'I look first.' },
      { do: 'call', tool: 'bash', input: { command: 'npm test' }, output: '12 passed', takes_ms: 100 },
      { do: 'answer', text: 'landed' },
    ],
  },
];

/**
 * @param folder an empty one with a short path, for the scene
 * @param main the compiled command line of the version
 * @returns its lines, sorted, each once
 */
export async function recordSurface(folder: string, main: string): Promise<string[]> {
  const chats = [{ id: FAILS }, { id: WORKS, directory: 'two' }, { id: HANGS, directory: 'three' }];
  const scene = await openScene({ redis: 'scene', folder, projects: { [PROJECT]: { chats, scenarios: SCENARIOS } } });
  try {
    const bridge = await scene.startBridge({}, main);
    const [failed, answered, running] = await askAll(scene);
    const sessions = [failed.session, failed.revival, answered.session, running.session];
    const said = [
      ...(await helps(scene, main)),
      ...(await commands(scene, main, sessions)),
      ...(await redisAtRest(scene)),
      ...logLines(scene.logs),
    ];
    await bridge.stop(WITHIN_MS);
    return [...new Set(said)].sort();
  } finally {
    await scene.stop();
  }
}

/** One fails for good, one is answered, one runs, one waits behind that. */
async function askAll(scene: BridgeScene): Promise<readonly [Conversation, Conversation, Conversation]> {
  const failed = new Conversation(scene, PROJECT, FAILS, 'crash');
  const answered = new Conversation(scene, PROJECT, WORKS, 'work');
  const running = new Conversation(scene, PROJECT, HANGS, 'hang');
  await running.firstCall();
  const waiting = new Conversation(scene, PROJECT, HANGS, 'later');
  await answered.answered('landed', WITHIN_MS);
  await failed.answered(FAILURE_PARAGRAPH, WITHIN_MS);
  await failed.closing(failed.revival);
  await scene.until('the message that waits', () => scene.store.records.session(waiting.session));
  return [failed, answered, running];
}

async function helps(scene: BridgeScene, main: string): Promise<string[]> {
  const overview = (await run(scene, main, ['help'])).stdout;
  const names = [...overview.matchAll(/^ {2}(\w+) {2}/gm)].map(([, name = '']) => name);
  const texts = await Promise.all(names.map(async (name) => [name, (await run(scene, main, ['help', name])).stdout]));
  return [['', overview], ...texts].flatMap(([name, text = '']) =>
    text.split('\n').map((line, at) => `help ${name} ${String(at).padStart(3, '0')}: ${line}`),
  );
}

async function commands(scene: BridgeScene, main: string, sessions: readonly string[]): Promise<string[]> {
  const journals = join(scene.logs, 'sessions');
  const lines = [
    ['sessions'],
    ['sessions', '--all'],
    ...sessions.map((id) => ['session', id]),
    ['incidents'],
    ['events'],
    ['events', '--collapse'],
    ['doctor'],
    ['assess', journals],
    ['assess', journals, '--replay'],
    ['backtest', journals],
    ['watchdog', '--once', '--dry-run'],
    ['enqueue', '--project', PROJECT, '--chat', String(WORKS), '--text', 'work'],
    ['cancel', sessions.at(-1) ?? ''],
    ['events', 'ack', `${await anIncident(scene, main)}.detected`, '--consumer', 'reader'],
    ['daydream'],
    ['events', 'archive'],
  ];
  const found: string[] = [];
  for (const line of lines) {
    const { stdout, exit } = await run(scene, main, [...line, '--json']);
    const name = line
      .filter((word) => !word.includes('/'))
      .map(withoutIds)
      .join(' ');
    found.push(`json ${name}: exit code ${exit?.code}`);
    for (const document of documentsIn(stdout)) found.push(...prefixed(`json ${name}`, shapeOf(document)));
  }
  return found;
}

async function anIncident(scene: BridgeScene, main: string): Promise<string> {
  const [first] = documentsIn((await run(scene, main, ['events', '--json'])).stdout) as { incident_id?: string }[];
  return first?.incident_id ?? 'none';
}

/** @returns the documents of a text that is one, or has one per line */
function documentsIn(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
  }
}

async function redisAtRest(scene: BridgeScene): Promise<string[]> {
  const { records } = scene.store;
  const left = async () => (await Promise.all([records.sessionIds('active'), records.sessionIds('pending')])).flat();
  await scene.until('the end of every session', async () => (await left()).length === 0, WITHIN_MS);
  return redisLines(scene);
}

/** Each key with its type, and the shape of what it holds. */
async function redisLines({ store, redis }: BridgeScene): Promise<string[]> {
  const found: string[] = [];
  for (const key of await store.redis.keys('*')) {
    const type = await store.redis.type(key);
    const name = `redis ${withoutIds(key)}`;
    found.push(`${name}: ${type}`);
    const isOurs = !key.startsWith(store.keys.bullPrefix);
    if (type === 'hash' && isOurs) {
      for (const [field, text] of Object.entries(await store.redis.hgetall(key))) {
        found.push(...prefixed(`${name} ${withoutIds(field)}`, shapeOf(parsed(text))));
      }
    }
    if (type === 'string' && isOurs)
      found.push(...prefixed(name, shapeOf(parsed(String(await redis.ask('GET', key))))));
  }
  return found;
}

/** Each file, and of those with JSON lines the shape of each kind of line. */
function logLines(logs: string): string[] {
  const files = readdirSync(logs, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.flatMap(({ parentPath, name }) => {
    const path = join(parentPath, name);
    const shown = `file ${withoutIds(path.slice(logs.length + 1))}`;
    if (!/\.jsonl?$/.test(name)) return [shown];
    return [
      shown,
      ...documentsIn(readFileSync(path, 'utf8')).flatMap((line) => prefixed(kindOf(shown, line), shapeOf(line))),
    ];
  });
}

function kindOf(file: string, line: unknown): string {
  const { event } = line as { event?: unknown };
  return typeof event === 'string' ? `${file} (${event})` : file;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function prefixed(prefix: string, lines: readonly string[]): string[] {
  return lines.map((line) => `${prefix} ${line}`);
}

async function run(scene: BridgeScene, main: string, args: readonly string[]): Promise<Program> {
  const program = scene.start(args, {}, main);
  await program.exited;
  return program;
}
