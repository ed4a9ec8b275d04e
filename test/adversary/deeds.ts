/** What the adversary does: each deed breaks something and heals it before it resolves. */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Crew } from '../chaos/crew.js';
import type { Loss } from '../chaos/losses.js';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import { findRun } from '../e2e/processScan.js';
import type { Random } from '../src/journal/random.js';
import type { PortGate } from './portGate.js';

export interface Victims {
  readonly scene: BridgeScene;
  readonly crew: Crew;
  readonly telegram: PortGate;
  readonly github: PortGate;
  /** The logs lie on a disk of their own, which can be filled. */
  readonly hasOwnDisk: boolean;
  note(loss: Loss): void;
}

type Deed = (victims: Victims, random: Random) => Promise<void>;

const LOST_MS = 1_000;
const GONE_WITHIN_MS = 5_000;
const CHUNK_BYTES = 1024 * 1024;
const MOST_CHUNKS = 256;

/** By name, as it is printed. */
export const DEEDS: Readonly<Record<string, Deed>> = {
  'kill bridge': async ({ crew }) => crew.signal('bridge', 'SIGKILL'),
  'kill standby': async ({ crew }) => crew.signal('watchdog', 'SIGKILL'),
  'kill both': async ({ crew }) => killBoth(crew),
  'kill an agent': async ({ scene }, random) => {
    const agents = livingAgents(scene);
    if (agents.length > 0) kill(random.pick(agents));
  },
  'stop bridge': stopOne('bridge'),
  'stop standby': stopOne('watchdog'),
  'stop an agent': async ({ scene }, random) => {
    const agents = livingAgents(scene);
    if (agents.length > 0) kill(random.pick(agents), 'SIGSTOP');
  },
  'kill redis': async ({ scene, note }, random) => {
    const at = Date.now();
    await scene.redis.kill();
    await pause(random.below(1_000));
    await scene.redis.start();
    note({ what: 'broken', at, until: Date.now() });
  },
  'stop redis': async ({ scene, note }, random) => {
    const at = Date.now();
    scene.redis.pause();
    await pause(500 + random.below(2_500));
    scene.redis.resume();
    note({ what: 'broken', at, until: Date.now() });
  },
  'roll redis back by a second': async ({ scene, note }) => {
    const at = Date.now();
    scene.redis.keepCopy();
    await pause(LOST_MS);
    await scene.redis.failOver();
    note({ what: 'rolled_back', at, until: Date.now() });
  },
  'let the host die': async ({ scene, crew, note }) => {
    const at = Date.now();
    scene.redis.keepCopy();
    await pause(LOST_MS);
    crew.isHeld = true;
    killBoth(crew);
    const end = performance.now() + GONE_WITHIN_MS;
    for (let left = livingAgents(scene); left.length > 0 && performance.now() < end; left = livingAgents(scene)) {
      for (const pid of left) kill(pid);
      await pause(20);
    }
    await scene.redis.failOver();
    note({ what: 'host_died', at, until: Date.now() });
    crew.isHeld = false;
  },
  FLUSHALL: async ({ scene, note }) => {
    const at = Date.now();
    await scene.redis.ask('FLUSHALL');
    note({ what: 'flushed', at, until: Date.now() });
  },
  'fill the disk': async ({ scene, hasOwnDisk, note }, random) => {
    if (!hasOwnDisk) return;
    const at = Date.now();
    const filler = join(scene.logs, 'filler');
    fill(filler);
    await pause(2_000 + random.below(4_000));
    rmSync(filler, { force: true });
    note({ what: 'broken', at, until: Date.now(), isDiskFull: true });
  },
  "close Telegram's port": closePort('telegram'),
  "close GitHub's port": closePort('github'),
};

/** @returns whether a disk of its own could be put there; only root may, and in most containers not even root */
export function mountDisk(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m,mode=0700', 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export function unmountDisk(folder: string): void {
  execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
}

function stopOne(role: 'bridge' | 'watchdog'): Deed {
  return async ({ crew }, random) => {
    crew.stoppedMs = 1_000 + random.below(6_000);
    crew.signal(role, 'SIGSTOP');
    await pause(crew.stoppedMs);
  };
}

function closePort(name: 'telegram' | 'github'): Deed {
  return async ({ [name]: gate, note }, random) => {
    const at = Date.now();
    gate.close();
    await pause(1_000 + random.below(4_000));
    await gate.open();
    note({ what: 'broken', at, until: Date.now() });
  };
}

function killBoth(crew: Crew): void {
  for (const role of ['bridge', 'watchdog'] as const) crew.signal(role, 'SIGKILL');
}

function livingAgents({ evidence }: BridgeScene): number[] {
  const runs = new Set(evidence.agents().map(({ run }) => run));
  return [...runs].flatMap((run) => findRun(run)).map(({ pid }) => pid);
}

function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It ended by itself meanwhile.
  }
}

/** Until nothing more goes in. */
function fill(file: string): void {
  try {
    for (let chunk = 0; chunk < MOST_CHUNKS; chunk += 1) writeFileSync(file, Buffer.alloc(CHUNK_BYTES), { flag: 'a' });
  } catch {
    // Full.
  }
}
