/**
 * An agent that is killed leaves no record of its stop. So whenever one starts, every process of the earlier runs in its
 * lane is looked for in `/proc`; what is found alive then was alive beside it, because nothing that died comes back.
 */
import { appendFileSync, watch } from 'node:fs';
import type { BridgeScene } from '../e2e/bridgeScene.js';
import { type FoundProcess, findRun } from '../e2e/processScan.js';

export interface Overlap {
  readonly at: number;
  readonly session: string;
  readonly run: string;
  readonly earlier: { readonly session: string; readonly run: string };
  readonly alive: readonly FoundProcess[];
}

export class OverlapWatch {
  private readonly scene: BridgeScene;
  private readonly file: string;
  private readonly laneOf: (session: string) => string;
  private readonly watcher: ReturnType<typeof watch>;
  private seen = 0;

  /** @param file where overlaps are kept, one JSON object per line */
  constructor(scene: BridgeScene, file: string, laneOf: (session: string) => string) {
    this.scene = scene;
    this.file = file;
    this.laneOf = laneOf;
    this.watcher = watch(scene.folder, () => this.look());
  }

  stop(): void {
    this.watcher.close();
    this.look();
  }

  private look(): void {
    const starts = this.scene.evidence.agents().filter(({ event }) => event === 'start');
    for (const [index, started] of starts.entries()) {
      if (index < this.seen) continue;
      const lane = this.laneOf(started.session);
      const earlier = starts
        .slice(0, index)
        .filter(({ session, run }) => run !== started.run && this.laneOf(session) === lane);
      for (const { session, run } of earlier) {
        const alive = findRun(run);
        if (alive.length === 0) continue;
        const overlap: Overlap = {
          at: Date.now(),
          session: started.session,
          run: started.run,
          earlier: { session, run },
          alive,
        };
        appendFileSync(this.file, `${JSON.stringify(overlap)}\n`);
      }
    }
    this.seen = starts.length;
  }
}
