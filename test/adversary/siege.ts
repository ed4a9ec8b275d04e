/** Bridge, standby and a real Redis under an adversary; in the end everything is healed, and what people see is judged. */
import { appendFileSync, cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { countRuns } from '../chaos/attempts.js';
import { Crew } from '../chaos/crew.js';
import { findViolations, readHistory } from '../chaos/invariants.js';
import { watchIssues } from '../chaos/issueWatch.js';
import { isLostMessage, type Loss } from '../chaos/losses.js';
import { type Asked, appendLine, HARNESS_FILES } from '../chaos/records.js';
import { Stakes } from '../chaos/stakes.js';
import { openScene } from '../e2e/bridgeScene.js';
import { GOOD_SETTINGS } from '../e2e/redisServer.js';
import { freePort } from '../harness/freePort.js';
import { seededRandom } from '../src/journal/random.js';
import { agentProjects, chatsOf, KIND_OF, MANNERS } from './agents.js';
import { DEEDS, mountDisk, unmountDisk, type Victims } from './deeds.js';
import { PortGate } from './portGate.js';
import { livingDaemons, ShedWatch } from './shedWatch.js';

export interface SiegeOptions {
  /** An empty folder; all evidence stays in it. */
  readonly folder: string;
  readonly seed: number;
  readonly lengthMs: number;
  /** The adversary does nothing: messages alone. */
  readonly isCalm: boolean;
  readonly say: (line: string) => void;
  /** Ends it before its time. */
  readonly brokenOff: AbortSignal;
}

export interface SiegeResult {
  readonly messages: number;
  readonly deeds: number;
  /** Messages that were lost with the store, as the product says that they may. */
  readonly lost: number;
  /** How many messages had no run that was heard of, one, two, and so on. */
  readonly runCounts: readonly number[];
  readonly violations: readonly string[];
}

const LEASE_MS = 2_000;
const LEAST_PAUSE_MS = 1_500;
const LONGEST_PAUSE_MS = 6_000;
const ASK_EVERY_MS = 700;
const MOST_WAITING_IN_A_CHAT = 2;
const LOOK_EVERY_MS = 25;
const ENDED_WITHIN_MS = 120_000;
/** For last lines and closed incidents. */
const SETTLE_MS = 12_000;

/** @throws the signal's reason once all processes have ended */
export async function besiege(options: SiegeOptions): Promise<SiegeResult> {
  const { folder } = options;
  const logs = join(folder, 'logs');
  mkdirSync(logs, { recursive: true });
  const hasOwnDisk = mountDisk(logs);
  try {
    return await withinWalls(options, hasOwnDisk);
  } finally {
    if (hasOwnDisk) {
      cpSync(logs, `${logs}-kept`, { recursive: true });
      unmountDisk(logs);
      rmSync(logs, { recursive: true, force: true });
      renameSync(`${logs}-kept`, logs);
    }
  }
}

async function withinWalls(options: SiegeOptions, hasOwnDisk: boolean): Promise<SiegeResult> {
  const { folder, brokenOff } = options;
  const [telegramPort, githubPort] = [await freePort(), await freePort()];
  const scene = await openScene(sceneOptions(folder, telegramPort, githubPort));
  const telegram = new PortGate(telegramPort, scene.telegram.url);
  const github = new PortGate(githubPort, scene.github.url);
  await Promise.all([telegram.open(), github.open()]);
  const note = (loss: Loss) => appendLine(join(folder, HARNESS_FILES.losses), loss);
  const crew = new Crew(scene, { bridge: {}, watchdog: {} }, (at) => note({ what: 'broken', at, until: at }));
  const siege = new Siege({ scene, crew, telegram, github, hasOwnDisk, note }, options);
  let left: Awaited<ReturnType<typeof scene.stop>> = [];
  try {
    watchIssues(scene, join(folder, HARNESS_FILES.filedIssues));
    crew.muster();
    await siege.play();
    brokenOff.throwIfAborted();
  } finally {
    siege.end();
    crew.dismiss();
    left = await scene.stop();
    telegram.close();
    github.close();
  }
  appendFileSync(join(folder, HARNESS_FILES.left), `${JSON.stringify(left)}\n`);
  const history = { ...readHistory(folder), synced: null };
  const violations = [...siege.violations(), ...findViolations(history)];
  const runCounts = countRuns(history, history.asked);
  return { messages: siege.messages, deeds: siege.deeds, lost: siege.lost(), runCounts, violations };
}

class Siege {
  messages = 0;
  deeds = 0;
  private readonly victims: Victims;
  private readonly options: SiegeOptions;
  private readonly stakes: Stakes;
  private readonly losses: Loss[] = [];
  private readonly watch = new ShedWatch();
  private readonly looking: NodeJS.Timeout;

  constructor(victims: Victims, options: SiegeOptions) {
    this.victims = {
      ...victims,
      note: (loss) => {
        this.losses.push(loss);
        victims.note(loss);
      },
    };
    this.options = options;
    this.stakes = new Stakes(victims.scene);
    this.looking = setInterval(() => this.watch.look(victims.scene.evidence.agents()), LOOK_EVERY_MS);
  }

  async play(): Promise<void> {
    const { lengthMs, isCalm, say } = this.options;
    const end = performance.now() + lengthMs;
    await Promise.all([this.ask(end), ...(isCalm ? [] : [this.harm(end)])]);
    say('everything is healed');
    await this.until(() => this.open().length === 0, ENDED_WITHIN_MS);
    await pause(SETTLE_MS, undefined, { signal: this.options.brokenOff }).catch(() => undefined);
  }

  end(): void {
    clearInterval(this.looking);
  }

  lost(): number {
    return this.stakes.withoutEnd().filter((asked) => this.isLost(asked)).length;
  }

  violations(): string[] {
    const own = new Set(this.victims.scene.evidence.agents().map(({ run }) => run));
    const daemons = livingDaemons().filter(({ run }) => own.has(run));
    for (const { pid } of daemons) process.kill(pid, 'SIGKILL');
    return [
      ...this.watch.violations,
      ...daemons.map(({ run }) => `a process of run ${run} that shed its environment outlived everything`),
    ];
  }

  private async ask(end: number): Promise<void> {
    const { scene } = this.victims;
    const random = seededRandom(this.options.seed * 31 + 7);
    while (performance.now() < end && !this.options.brokenOff.aborted) {
      const manner = random.pick([...MANNERS, 'answers', 'sheds'] as const);
      const chat = random.pick(chatsOf(manner));
      const waiting = this.stakes.withoutEnd().filter((asked) => asked.chat === chat && !this.isLost(asked));
      if (waiting.length < MOST_WAITING_IN_A_CHAT) {
        const message = scene.telegram.say(chat, `${manner}, message ${this.messages}`);
        this.stakes.add({ at: Date.now(), round: 0, project: manner, chat, message, kind: KIND_OF[manner] });
        this.messages += 1;
      }
      await pause(ASK_EVERY_MS);
    }
  }

  private async harm(end: number): Promise<void> {
    const { say, brokenOff, seed } = this.options;
    const { crew, scene } = this.victims;
    const random = seededRandom(seed);
    let cards: string[] = [];
    await this.until(() => scene.telegram.polling, 30_000);
    while (performance.now() < end && !brokenOff.aborted) {
      await pause(LEAST_PAUSE_MS + random.below(LONGEST_PAUSE_MS - LEAST_PAUSE_MS));
      if (cards.length === 0) cards = random.shuffle(Object.keys(DEEDS));
      const name = cards.pop() ?? '';
      crew.awayMs = random.below(1_500);
      say(`${new Date().toISOString()} ${name}`);
      await DEEDS[name]?.(this.victims, random);
      this.deeds += 1;
    }
  }

  private open(): Asked[] {
    return this.stakes.withoutEnd().filter((asked) => !this.isLost(asked));
  }

  private isLost(asked: Asked): boolean {
    const { telegram, evidence } = this.victims.scene;
    return isLostMessage(asked, this.losses, telegram.transcript, evidence.agents());
  }

  private async until(look: () => boolean, withinMs: number): Promise<void> {
    const end = performance.now() + withinMs;
    while (!look() && performance.now() < end && !this.options.brokenOff.aborted) await pause(100);
  }
}

function sceneOptions(folder: string, telegramPort: number, githubPort: number): Parameters<typeof openScene>[0] {
  return {
    folder,
    redis: 'scene',
    projects: agentProjects(folder),
    redisSettings: [...GOOD_SETTINGS, '--appendfsync', 'everysec'],
    concurrency: 6,
    timings: {
      runLeaseMs: LEASE_MS,
      watchdogLeaseMs: LEASE_MS,
      killGraceMs: 400,
      drainMs: 300,
      reportWaitMs: 1_500,
      proofMs: 30_000,
      progressEveryMs: 400,
    },
    environment: {
      WATCHDOG_CRON: '*/5 * * * * *',
      TELEGRAM_API_ROOT: `http://127.0.0.1:${telegramPort}`,
      GITHUB_API_URL: `http://127.0.0.1:${githubPort}`,
    },
  };
}
