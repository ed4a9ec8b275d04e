/**
 * One round: messages, sink faults, one fault of a process. The next one may begin when the fault has fallen; the messages
 * of this one end beside it.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fingerprintOf, issueTitle } from '../../monitoring/incident/issue/issueMarker.js';
import { WATCHDOG_LABEL } from '../../monitoring/incident/issue/issueSink.js';
import { trippedLine } from '../../src/failpoints.js';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import { lanesOf } from './cast.js';
import { type Crew, ROLES } from './crew.js';
import { forget, kill, leaveAlone, playClock, removeJournals, until } from './hostFaults.js';
import { forgetsAll, isLostMessage, type Loss } from './losses.js';
import type { Kind, RoundPlan, StoreLoss, Target } from './plan.js';
import { type Asked, HARNESS_FILES, type RoundResult, readLines } from './records.js';
import { injectSinkFault } from './sinkFaults.js';
import { type Stakes, sessionOf } from './stakes.js';

/** A message that has no end by then is lost; the pauses behind a fault of a sink are part of it. */
const LONGEST_ROUND_MS = 120_000;
const FAULT_WITHIN_MS = 25_000;
const LONGEST_START_MS = 30_000;
/** What has no end by then may be lost with the store. */
const LOST_AFTER_MS = 15_000;
/** As much as `appendfsync everysec` may lose. */
const LOST_MS = 1_000;
/** Long enough for a bridge to notice that its files are gone. */
const UNTIL_KILLED_MS = 400;
const SHORTEST_BAN_S = 5;
/** Of as many lengths, a second apart. */
const BANS = 6;

interface Blow {
  /** The fault fell. */
  readonly fell: boolean;
  /** It hit a live run or an open incident. */
  readonly effective: boolean;
}

export class Round {
  private readonly scene: BridgeScene;
  private readonly crew: Crew;
  private readonly stakes: Stakes;
  private readonly plan: RoundPlan;
  private readonly asked: Asked[] = [];

  constructor(scene: BridgeScene, crew: Crew, stakes: Stakes, plan: RoundPlan) {
    this.scene = scene;
    this.crew = crew;
    this.stakes = stakes;
    this.plan = plan;
  }

  /**
   * Resolves when the fault has fallen, or cannot fall any more.
   * @returns what resolves when every message of the round has its end
   */
  async play(): Promise<() => Promise<RoundResult>> {
    const begun = performance.now();
    const { crew, scene, plan } = this;
    crew.awayMs = plan.awayMs;
    crew.stoppedMs = plan.stoppedMs;
    await until(() => scene.telegram.polling, LONGEST_START_MS);
    const lanes = lanesOf(plan);
    if (plan.isIssueKnown) await openIssue(scene, lanes[0].project);
    const chats = lanes.map(({ chat }) => chat);
    const bannedS = SHORTEST_BAN_S + (plan.round % BANS);
    const sinkFaults = plan.sinkFaults.map((name) => injectSinkFault(scene, name, chats, bannedS));
    const blow = await (plan.fault.kind === 'failpoint' ? this.trip(plan.fault) : this.strike());
    const tripped = crew.tripped.splice(0);
    const fellAfterMs = Math.round(performance.now() - begun);
    return async () => {
      if ('loss' in plan.fault || 'lossWhenTripped' in plan.fault)
        await until(() => this.unended().length === 0, LOST_AFTER_MS);
      await until(() => this.unended().every((each) => this.isLost(each)), plan.patienceMs ?? LONGEST_ROUND_MS);
      const sinkFaultsUsed = sinkFaults.filter(({ used }) => used > 0).length;
      for (const each of sinkFaults) each.remove();
      const tookMs = Math.round(performance.now() - begun);
      const unended = this.unended()
        .filter((each) => !this.isLost(each))
        .map(sessionOf);
      return { round: plan.round, plan, ...blow, tripped, sinkFaultsUsed, fellAfterMs, tookMs, unended };
    };
  }

  /** A failpoint may lie at the very beginning of a message; what it can hit then is a run of the other lane. */
  private async trip(fault: RoundPlan['fault'] & { kind: 'failpoint' }): Promise<Blow> {
    const { crew, stakes, plan } = this;
    const words = trippedLine(fault.name, fault.action);
    const hasTripped = () => crew.tripped.includes(words);
    this.ask(1);
    await until(() => stakes.liveAgents(this.asked).length > 0, FAULT_WITHIN_MS);
    const arm = () => {
      crew.tripped.length = 0;
      crew.arm(`${fault.name}:${fault.action}:${fault.nth}:${plan.round}`);
    };
    if (fault.loss === undefined) arm();
    this.ask(0);
    const meddling = this.meddle();
    if (fault.loss !== undefined) await this.forgetAtWork(fault.loss, arm);
    let wasAtStake = false;
    if (fault.lossWhenTripped !== undefined && (await until(hasTripped, FAULT_WITHIN_MS))) {
      wasAtStake = stakes.isAnything();
      await forget(this.scene, crew, fault.lossWhenTripped, async () => undefined);
    }
    const look = () => {
      // What was at stake a moment before, for the killed one takes its runs along.
      if (!hasTripped()) wasAtStake = stakes.isAnything();
      // What the store has forgotten is passed on behalf of messages that may have their answers.
      return hasTripped() || (fault.loss === undefined && !wasAtStake);
    };
    await until(look, fault.loss === undefined ? FAULT_WITHIN_MS : LONGEST_START_MS + FAULT_WITHIN_MS);
    if (hasTripped() && fault.action === 'stop' && plan.stoppedMs === null) {
      await until(() => !crew.isAnyoneStopped, FAULT_WITHIN_MS);
    }
    crew.arm(null);
    await meddling;
    return { fell: hasTripped(), effective: hasTripped() && wasAtStake };
  }

  /** Strikes when there is something to hit. */
  private async strike(): Promise<Blow> {
    const { stakes, plan } = this;
    this.ask(1);
    this.ask(0);
    const meddling = this.meddle();
    const isAgent = plan.fault.kind === 'signal' && plan.fault.target === 'agent';
    const isTime = () =>
      plan.when === 'incident' && !isAgent
        ? stakes.hasOpenIncident(this.asked)
        : stakes.liveAgents(this.asked).length > 0;
    await until(isTime, FAULT_WITHIN_MS);
    if (!isAgent) await pause(plan.delayMs);
    const effective = stakes.isAnything();
    const struck = new Set(stakes.liveAgents(this.asked));
    const fell = await this.break(plan.fault);
    for (let blow = 1; blow < (plan.blows ?? 1); blow += 1) await this.strikeAgain(struck);
    await meddling;
    return { fell, effective: fell && effective };
  }

  /** @param struck agents that lived at an earlier blow; those of this one are added */
  private async strikeAgain(struck: Set<number>): Promise<void> {
    const { stakes, plan, asked } = this;
    const fresh = () => stakes.liveAgents(asked).filter((pid) => !struck.has(pid));
    await until(() => fresh().length > 0 || this.unended().length === 0, FAULT_WITHIN_MS);
    if (fresh().length === 0) return;
    await pause(plan.delayMs);
    for (const pid of fresh()) struck.add(pid);
    await this.break(plan.fault);
  }

  /** @returns whether there was anything to break */
  private async break(fault: RoundPlan['fault']): Promise<boolean> {
    const { scene, crew } = this;
    switch (fault.kind) {
      case 'failpoint':
        return false;
      case 'signal':
        return this.send(fault.target, fault.signal);
      case 'absence':
        await leaveAlone(scene, crew);
        return true;
      case 'frozen':
        await crew.freeze(fault.forMs);
        return true;
      case 'no_journals':
        removeJournals(scene);
        await pause(UNTIL_KILLED_MS);
        crew.signal('bridge', 'SIGKILL');
        return true;
      case 'clock':
        await playClock(scene, crew, fault, () => this.stakes.hasOpenIncident(this.asked));
        return true;
      case 'store':
        await forget(scene, crew, fault.loss, () => pause(forgetsAll(fault.loss) ? 0 : LOST_MS));
        return true;
      default:
        return fault satisfies never;
    }
  }

  private async send(target: Target, signal: NodeJS.Signals): Promise<boolean> {
    const { crew, stakes, plan, scene } = this;
    switch (target) {
      case 'bridge':
        crew.signal('bridge', signal);
        return true;
      case 'standby':
        crew.signal('watchdog', signal);
        return true;
      case 'both':
        for (const role of ROLES) crew.signal(role, signal);
        return true;
      case 'reaper':
        return kill(crew.reaperPid(), signal);
      case 'agent':
        return kill(stakes.liveAgents(this.asked)[0] ?? null, signal);
      case 'redis':
        await scene.redis.kill();
        await pause(plan.awayMs);
        await scene.redis.start();
        return true;
      default:
        return target satisfies never;
    }
  }

  /**
   * What both lanes work on is known to the store, and the next answer is forgotten.
   * @param arm called as late as it can be: what an earlier round left may pass the same place
   */
  private async forgetAtWork(loss: StoreLoss, arm: () => void): Promise<void> {
    const { asked, stakes, scene, crew } = this;
    const latest = asked.filter(({ chat }) => chat !== asked[0]?.chat);
    await until(() => stakes.liveAgents(latest).length > 0, FAULT_WITHIN_MS);
    await forget(scene, crew, loss, async () => {
      if (!forgetsAll(loss)) await this.answerBehindCopy();
      arm();
    });
  }

  /**
   * Keeps a copy of the store while an agent works, and waits for the answer of that one. Of an agent that has gone, the answer
   * may be stored although its chat does not show it yet.
   */
  private async answerBehindCopy(): Promise<void> {
    const { asked, stakes, scene } = this;
    const isAtWork = (each: Asked) => stakes.liveAgents([each]).length > 0;
    let atWork: readonly Asked[] = [];
    const isCopied = () => {
      const before = asked.filter(isAtWork);
      scene.redis.keepCopy();
      atWork = before.filter(isAtWork);
      return atWork.length > 0;
    };
    await until(isCopied, FAULT_WITHIN_MS);
    await until(() => atWork.some((each) => !this.unended().includes(each)), FAULT_WITHIN_MS);
  }

  private ask(lane: 0 | 1): void {
    const { round, lanes, agents = ['scripted', 'scripted'] } = this.plan;
    const { project, chat } = lanesOf(this.plan)[lane];
    for (const kind of lanes[lane] as readonly Kind[]) {
      const message = this.scene.telegram.say(chat, `${kind} ${agents[lane]} work of round ${round}`);
      const asked = { at: Date.now(), round, project, chat, message, kind };
      this.asked.push(asked);
      this.stakes.add(asked);
    }
  }

  /** What people and operators do meanwhile. */
  private async meddle(): Promise<void> {
    const { isCancelled, isRestarted } = this.plan;
    const first = this.asked.find(({ chat }) => chat === lanesOf(this.plan)[0].chat);
    if (first === undefined || !(isCancelled || isRestarted)) return;
    const isThere = () => this.stakes.liveAgents([first]).length > 0;
    if (!(await until(isThere, FAULT_WITHIN_MS))) return;
    if (isCancelled) this.scene.telegram.say(first.chat, '/cancel', { replyTo: first.message });
    if (isRestarted) this.crew.signal('bridge', 'SIGTERM');
  }

  /** A message that a bridge has not had the time to accept may look as if it had been, in the second that was lost. */
  private isLost(asked: Asked): boolean {
    if (Date.now() - asked.at < LOST_AFTER_MS) return false;
    const { folder, telegram, evidence } = this.scene;
    const losses = readLines<Loss>(join(folder, HARNESS_FILES.losses));
    return isLostMessage(asked, losses, telegram.transcript, evidence.agents());
  }

  private unended(): Asked[] {
    const { round } = this.plan;
    return this.stakes.withoutEnd().filter((asked) => asked.round === round);
  }
}

/** As an earlier Watchkeeper left it, whose store was lost. */
async function openIssue(scene: BridgeScene, project: string): Promise<void> {
  const body = `<!-- watchkeeper v1 ${fingerprintOf(project, 'crash')} -->\n\nan earlier text`;
  await scene.github.openIssue({ title: issueTitle(project, 'crash'), body, labels: [WATCHDOG_LABEL], as: 'product' });
}
