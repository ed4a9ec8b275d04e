/** One evil agent of each kind: what it got, row by row. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type BridgeScene, openScene } from '../e2e/bridgeScene.js';
import { Conversation } from '../e2e/conversation.js';
import {
  asOrdinaryUser,
  giveTo,
  giveToOrdinaryUser,
  isRoot,
  ORDINARY_USER,
  productStarter,
} from '../e2e/ordinaryUser.js';
import { ATTEMPTS, BAIT, LOGINS, NEEDED_FILES, OPEN_FILES, type Places, PRIVATE_FILES, sleepers } from './attempts.js';

/** The columns of the table. */
export const KINDS = ['none', 'bubblewrap', 'another user', 'root'] as const;
export type Kind = (typeof KINDS)[number];

/** What an agent must be able to do whatever keeps it in. */
const WORK: Readonly<Record<string, string>> = {
  'write in its project': 'echo x >mine',
  commit: 'git init -q && git add mine && git -c user.name=a -c user.email=a@b commit -qm work',
  'write in its home': 'echo x >"$HOME/.agent-was-here"',
  'write temporary files': 'mktemp',
};
const CHAT = 71;
const AGENT = 64_002;
/** Who runs the bridge; only with root another than the present user. */
const OPERATOR = ORDINARY_USER?.uid ?? 0;
export interface Haul {
  /** The attempts that succeeded, by their rows. */
  readonly got: ReadonlyMap<string, readonly string[]>;
  /** What the agent could not do and should. */
  readonly kept: readonly string[];
}

/** @returns why an agent of this kind cannot be tried by this user; null if it can */
export function whyNotTried(kind: Kind): string | null {
  return isRoot || kind === 'none' || kind === 'bubblewrap' ? null : 'it takes root';
}

/** Runs an agent that tries everything. */
export async function raid(kind: Kind): Promise<Haul> {
  const folder = mkdtempSync(join(tmpdir(), 'wk-reach-'));
  const agent = { kind: 'command', command: ['bash', '-c', '. ./tries', 'claude'], output: 'text' };
  const isolation = kind === 'bubblewrap' ? ('bubblewrap' as const) : ('none' as const);
  const projects = { yard: { chats: [{ id: CHAT }], agent, isolation }, garden: { chats: [{ id: CHAT + 1 }] } };
  const scene = await openScene({ redis: 'bridge', projects, folder, program: starterOf(kind, folder) });
  const around = await Around.open(kind);
  try {
    furnish(scene, kind);
    const bridge = await scene.startBridge(environmentOf(kind, folder));
    const places = { ...around.places(), operator: folder, logs: scene.logs, bridge: bridge.pid };
    writeFileSync(join(folder, 'work/yard/tries'), scriptOf(places));
    const asked = new Conversation(scene, 'yard', CHAT, 'try it');
    await asked.answered('that is all', 60_000);
    const said = readFileSync(join(folder, 'work/yard/haul'), 'utf8').split('\n');
    return haulOf(new Set(said), places, asked.session);
  } finally {
    around.close();
    await scene.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function scriptOf(places: Places): string {
  const variables = Object.entries(places).map(([name, value]) => `${name.toUpperCase()}=${quote(String(value))}`);
  const attempts = Object.entries(ATTEMPTS).flatMap(([row, tries]) =>
    tries.map(({ name, does }) => [`${row}: ${name}`, does]),
  );
  const tries = [...attempts, ...Object.entries(WORK)].map(
    ([name = '', does = '']) => `if (${does}) >/dev/null 2>&1; then echo ${quote(name)} >>haul; fi`,
  );
  return [...variables, ...tries, 'echo that is all'].join('\n');
}

function haulOf(said: ReadonlySet<string>, places: Places, session: string): Haul {
  const rows = Object.entries(ATTEMPTS).map(([row, tries]) => {
    const got = tries.filter(({ name, leaves }) => leaves?.(places, session) ?? said.has(`${row}: ${name}`));
    return [row, got.map(({ name }) => name)] as const;
  });
  return { got: new Map(rows), kept: Object.keys(WORK).filter((name) => !said.has(name)) };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** What starts the commands of the product: as the operator, as root, or as the container does. */
function starterOf(kind: Kind, folder: string): string {
  if (kind === 'another user') return resolve('deploy/container-entrypoint');
  return productStarter(folder, kind === 'root' ? [] : asOrdinaryUser());
}

function environmentOf(kind: Kind, folder: string): Record<string, string> {
  const secret = join(folder, 'github-token');
  const common = {
    XDG_STATE_HOME: '',
    GITHUB_TOKEN: '',
    GITHUB_TOKEN_FILE: secret,
    PATH: `${process.env.PATH}:${folder}/.local/bin`,
  };
  if (kind !== 'another user') return { ...common, HOME: folder };
  return {
    ...common,
    HOME: join(folder, 'home'),
    WATCHKEEPER_PROGRAM: resolve('bin/watchkeeper'),
    WATCHKEEPER_BRIDGE_USER: String(OPERATOR),
    WATCHKEEPER_AGENT_USER: `${AGENT}:${AGENT}`,
    WATCHKEEPER_SECRET_COPIES: join(folder, 'copies'),
  };
}

/** Gives the operator a home with all that people have there. */
function furnish(scene: BridgeScene, kind: Kind): void {
  const { folder } = scene;
  const memory = '.local/state/watchkeeper';
  const worklog = `${memory}/sessions/2026-01-01-mine/worklog.jsonl`;
  for (const path of [...PRIVATE_FILES, ...LOGINS, worklog, '.env']) put(folder, path, BAIT, 0o600);
  for (const path of [...OPEN_FILES, ...NEEDED_FILES, 'work/garden/README.md']) put(folder, path, `# ${BAIT}`, 0o644);
  put(folder, 'github-token', scene.github.token, 0o600);
  for (const path of ['.ssh', '.gnupg', '.local/share/keyrings', memory]) chmodSync(join(folder, path), 0o700);
  for (const path of ['.local/bin/of-the-operator']) chmodSync(join(folder, path), 0o755);
  mkdirSync(join(folder, 'code/other/.git/hooks'), { recursive: true });
  mkdirSync(join(folder, 'home'));
  if (!isRoot || kind === 'root') return;
  giveToOrdinaryUser(folder);
  for (const path of kind === 'another user' ? ['home', 'work/yard'] : []) giveTo(AGENT, join(folder, path));
}

function put(folder: string, path: string, text: string, mode: number): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), `${text}\n`, { mode });
}

/** What a host has besides: another process of the operator, servers, shared memory. */
class Around {
  readonly #mark = 100_000 + Math.floor(Math.random() * 900_000);
  readonly #folder = mkdtempSync(join(tmpdir(), 'wk-service-'));
  readonly #servers: Server[] = [];
  readonly #as: readonly string[];
  readonly #other: ChildProcess;
  readonly #segment: number;

  static async open(kind: Kind): Promise<Around> {
    const around = new Around(kind);
    const listen = (at: object) =>
      new Promise<void>((done) => around.#servers.push(createServer((socket) => socket.destroy()).listen(at, done)));
    await listen({ path: around.#socket });
    await listen({ path: `\0wk-reach-${around.#mark}` });
    await listen({ host: '127.0.0.1', port: 0 });
    if (isRoot && kind !== 'root')
      for (const path of [around.#folder, around.#socket]) chownSync(path, OPERATOR, OPERATOR);
    return around;
  }

  private constructor(kind: Kind) {
    this.#as = kind === 'root' ? ['env'] : asOrdinaryUser();
    const [program = 'env', ...args] = this.#as;
    this.#other = spawn(program, [...args, 'sleep', '600'], { env: { PATH: process.env.PATH, OF: 'the-operator' } });
    const made = execFileSync(program, [...args, 'ipcmk', '-M', '64', '-p', '0600'], { encoding: 'utf8' });
    this.#segment = Number(/\d+/.exec(made)?.[0]);
  }

  get #socket(): string {
    return join(this.#folder, 'socket');
  }

  places(): Omit<Places, 'operator' | 'logs' | 'bridge'> {
    const address = this.#servers[2]?.address();
    return {
      other: this.#other.pid ?? 0,
      socket: this.#socket,
      abstract: `wk-reach-${this.#mark}`,
      port: typeof address === 'object' && address !== null ? address.port : 0,
      segment: this.#segment,
      mark: this.#mark,
      node: process.execPath,
    };
  }

  close(): void {
    this.#other.kill('SIGKILL');
    for (const pid of sleepers(this.#mark)) process.kill(pid, 'SIGKILL');
    for (const server of this.#servers) server.close();
    const [program = 'env', ...args] = this.#as;
    execFileSync(program, [...args, 'ipcrm', '-m', String(this.#segment)]);
    for (const folder of ['/tmp', '/var/tmp', '/dev/shm'])
      rmSync(join(folder, `wk-reach-${this.#mark}`), { force: true });
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
