/** One round: messages, sink faults, one fault of a process, and the wait for every message's end. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { trippedLine } from '../../src/failpoints.js';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import { findRun } from '../e2e/processScan.js';
import { chatsOf, projectOf, ROUNDS_PER_SCENE } from './cast.js';
import type { Crew } from './crew.js';
import { endsOf } from './ends.js';
import type { Kind, RoundPlan } from './plan.js';
import { type Asked, appendLine, HARNESS_FILES, type RoundResult } from './records.js';
import { injectSinkFault } from './sinkFaults.js';

/** A message that has no end by then is lost. */
const LONGEST_ROUND_MS = 90_000;
const FAULT_WITHIN_MS = 12_000;
const LONGEST_START_MS = 30_000;
const LONGEST_CALMING_MS = 2_500;
const LOOK_EVERY_MS = 25;

export async function playRound(scene: BridgeScene, crew: Crew, plan: RoundPlan): Promise<RoundResult> {
  const begun = performance.now();
  const { fault } = plan;
  crew.awayMs = plan.awayMs;
  // Or those who are armed trip over what an earlier round has left.
  await until(() => !hasOpenIncident(scene), begun + LONGEST_CALMING_MS);
  const trippedBefore = crew.tripped.length;
  await crew.arm(fault.kind === 'failpoint' ? `${fault.name}:${fault.action}:${fault.nth}` : null);
  await until(() => scene.telegram.polling, performance.now() + LONGEST_START_MS);
  const sinkFaults = plan.sinkFaults.map((name) => injectSinkFault(scene, name));
  const round = new Round(scene, plan);
  await round.ask();
  const meddling = round.meddle(crew);
  const { fell, effective } = await (fault.kind === 'failpoint'
    ? round.untilTripped(crew, trippedBefore)
    : round.strike(crew));
  await meddling;
  await until(() => round.unended().length === 0, begun + LONGEST_ROUND_MS);
  const sinkFaultsUsed = sinkFaults.filter(({ used }) => used > 0).length;
  for (const each of sinkFaults) each.remove();
  const tookMs = Math.round(performance.now() - begun);
  const tripped = crew.tripped.slice(trippedBefore);
  return { round: plan.round, plan, fell, effective, tripped, sinkFaultsUsed, tookMs, unended: round.unended() };
}

class Round {
  private readonly scene: BridgeScene;
  private readonly plan: RoundPlan;
  private readonly asked: Asked[] = [];

  constructor(scene: BridgeScene, plan: RoundPlan) {
    this.scene = scene;
    this.plan = plan;
  }

  /** A failpoint may lie at the very beginning of a message; what it can hit then is the run of the other lane. */
  async ask(): Promise<void> {
    const [first, second] = this.plan.lanes;
    this.askIn(1, second);
    if (this.plan.fault.kind === 'failpoint') await until(() => this.hasLiveRun());
    this.askIn(0, first);
  }

  private askIn(lane: 0 | 1, kinds: readonly Kind[]): void {
    const place = this.plan.round % ROUNDS_PER_SCENE;
    const chat = chatsOf(place)[lane];
    for (const kind of kinds) {
      const message = this.scene.telegram.say(chat, `${kind} work of round ${this.plan.round}`);
      const asked = { at: Date.now(), round: this.plan.round, project: projectOf(place), chat, message, kind };
      this.asked.push(asked);
      appendLine(join(this.scene.folder, HARNESS_FILES.asked), asked);
    }
  }

  /** What people and operators do meanwhile. */
  async meddle(crew: Crew): Promise<void> {
    const first = this.asked.find(({ chat }) => chat === chatsOf(this.plan.round % ROUNDS_PER_SCENE)[0]);
    if (first === undefined || !(this.plan.isCancelled || this.plan.isRestarted)) return;
    if (!(await until(() => this.liveRuns(first).length > 0))) return;
    if (this.plan.isCancelled) this.scene.telegram.say(first.chat, '/cancel', { replyTo: first.message });
    else crew.signal('bridge', 'SIGTERM');
  }

  /** Sends the signal when there is something to hit. */
  async strike(crew: Crew): Promise<{ fell: boolean; effective: boolean }> {
    const { fault, when, delayMs } = this.plan;
    if (fault.kind !== 'signal') return { fell: false, effective: false };
    const seen = when === 'run' ? () => this.hasLiveRun() : () => this.hasOpenIncident();
    await until(seen);
    await pause(delayMs);
    const effective = this.isAtStake();
    switch (fault.target) {
      case 'bridge':
        crew.signal('bridge', fault.signal);
        return { fell: true, effective };
      case 'standby':
        crew.signal('watchdog', fault.signal);
        return { fell: true, effective };
      case 'reaper':
        return { fell: kill(crew.reaperPid(), fault.signal), effective };
      case 'agent': {
        const pid = this.asked.flatMap((asked) => this.liveRuns(asked))[0]?.pid ?? null;
        return { fell: kill(pid, fault.signal), effective: effective && pid !== null };
      }
      case 'redis':
        await this.scene.redis.kill();
        await pause(this.plan.awayMs);
        await this.scene.redis.start();
        return { fell: true, effective };
      default:
        return fault.target satisfies never;
    }
  }

  async untilTripped(crew: Crew, before: number): Promise<{ fell: boolean; effective: boolean }> {
    const { fault } = this.plan;
    if (fault.kind !== 'failpoint') return { fell: false, effective: false };
    const words = trippedLine(fault.name, fault.action);
    let wasAtStake = false;
    const hasTripped = () => {
      const tripped = crew.tripped.slice(before).some((said) => said.endsWith(words));
      // What was at stake a moment before, for the killed one takes its runs along.
      if (!tripped) wasAtStake = this.isAtStake();
      return tripped || this.unended().length === 0;
    };
    await until(hasTripped);
    const fell = crew.tripped.slice(before).some((said) => said.endsWith(words));
    return { fell, effective: fell && (wasAtStake || this.isAtStake()) };
  }

  unended(): string[] {
    const transcript = this.scene.telegram.transcript;
    return this.asked.filter((asked) => endsOf(transcript, asked).length === 0).map(sessionOf);
  }

  /** A run lives until its end is stored and told, also where its agent has gone already. */
  private isAtStake(): boolean {
    return this.hasBegunRun() || this.hasOpenIncident();
  }

  private hasBegunRun(): boolean {
    const begun = new Set(this.scene.evidence.agents().map(({ session }) => session.replace(/_r1$/, '')));
    return this.unended().some((session) => begun.has(session));
  }

  private hasLiveRun(): boolean {
    return this.asked.some((asked) => this.liveRuns(asked).length > 0);
  }

  private liveRuns(asked: Asked): { readonly pid: number }[] {
    const agents = this.scene.evidence.agents();
    const stopped = new Set(agents.filter(({ event }) => event === 'stop').map(({ run }) => run));
    const session = sessionOf(asked);
    const ours = agents.filter((record) => record.session === session || record.session === `${session}_r1`);
    return ours.filter(({ event, run }) => event === 'start' && !stopped.has(run) && findRun(run).length > 0);
  }

  private hasOpenIncident(): boolean {
    const sessions = new Set(this.asked.map(sessionOf).flatMap((session) => [session, `${session}_r1`]));
    return hasOpenIncident(this.scene, (session) => sessions.has(session));
  }
}

function hasOpenIncident(scene: BridgeScene, isMeant: (session: string) => boolean = () => true): boolean {
  const events = scene.evidence.criticalEvents().filter(({ session_id }) => isMeant(session_id ?? ''));
  const over = new Set(events.filter(({ final }) => final).map(({ incident_id }) => incident_id));
  return events.some(({ incident_id }) => !over.has(incident_id));
}

/** @returns whether it was seen in time */
async function until(look: () => boolean, end = performance.now() + FAULT_WITHIN_MS): Promise<boolean> {
  while (!look()) {
    if (performance.now() > end) return false;
    await pause(LOOK_EVERY_MS);
  }
  return true;
}

export function sessionOf({ project, chat, message }: Pick<Asked, 'project' | 'chat' | 'message'>): string {
  return `tg_${project}_${chat}_${message}`;
}

function kill(pid: number | null, signal: NodeJS.Signals): boolean {
  if (pid === null) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
