/** What is at stake in a scene: messages without an end, agents that live, incidents that are open. */
import { join } from 'node:path';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import { findRun } from '../e2e/processScan.js';
import { endsOf } from './ends.js';
import { type Asked, appendLine, HARNESS_FILES } from './records.js';

export class Stakes {
  private readonly scene: BridgeScene;
  private unended: Asked[] = [];

  constructor(scene: BridgeScene) {
    this.scene = scene;
  }

  add(asked: Asked): void {
    this.unended.push(asked);
    appendLine(join(this.scene.folder, HARNESS_FILES.asked), asked);
  }

  withoutEnd(): readonly Asked[] {
    const { transcript } = this.scene.telegram;
    this.unended = this.unended.filter((asked) => endsOf(transcript, asked).length === 0);
    return this.unended;
  }

  /** A run lives until its end is stored and told, also where its agent has gone already. */
  isAnything(): boolean {
    const begun = new Set(this.scene.evidence.agents().map(({ session }) => session.replace(/_r1$/, '')));
    return this.withoutEnd().some((asked) => begun.has(sessionOf(asked))) || this.hasOpenIncident();
  }

  /** @returns the processes of the agents that work on these messages */
  liveAgents(asked: readonly Asked[]): number[] {
    const agents = this.scene.evidence.agents();
    const stopped = new Set(agents.filter(({ event }) => event === 'stop').map(({ run }) => run));
    const sessions = new Set(asked.map(sessionOf).flatMap((session) => [session, `${session}_r1`]));
    return agents
      .filter(({ event, run, session }) => event === 'start' && sessions.has(session) && !stopped.has(run))
      .filter(({ run }) => findRun(run).length > 0)
      .map(({ pid }) => pid);
  }

  /** @param asked only incidents of these messages */
  hasOpenIncident(asked?: readonly Asked[]): boolean {
    const sessions = asked && new Set(asked.map(sessionOf).flatMap((session) => [session, `${session}_r1`]));
    const events = this.scene.evidence
      .criticalEvents()
      .filter(({ session_id }) => sessions === undefined || sessions.has(session_id ?? ''));
    const over = new Set(events.filter(({ final }) => final).map(({ incident_id }) => incident_id));
    return events.some(({ incident_id }) => !over.has(incident_id));
  }
}

export function sessionOf({ project, chat, message }: Pick<Asked, 'project' | 'chat' | 'message'>): string {
  return `tg_${project}_${chat}_${message}`;
}
