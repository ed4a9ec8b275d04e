import type { SagaContext } from '../../../../monitoring/incident/sagaContext.js';
import type { SagaScene } from './sagaScene.js';

/** A process that dies at its n-th effect, just after it had happened (or just before it would have). */
export class Mortal {
  /** The methods of its effects, in their order. */
  readonly done: string[] = [];
  dead = false;
  readonly #diesAt: number;
  readonly #when: 'before' | 'after';

  constructor(diesAt: number, when: 'before' | 'after') {
    this.#diesAt = diesAt;
    this.#when = when;
  }

  wrap<T extends object>(part: T, methods: readonly string[]): T {
    return new Proxy(part, {
      get: (target, name, receiver) => {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== 'function') return value;
        if (!methods.includes(String(name))) return value.bind(target);
        return async (...args: unknown[]) => {
          if (this.dead) throw new Error('dead');
          const isLast = this.done.push(String(name)) === this.#diesAt;
          if (isLast && this.#when === 'before') this.dead = true;
          if (this.dead) throw new Error('dead');
          const result: unknown = await value.apply(target, args);
          if (isLast) this.dead = true;
          if (this.dead) throw new Error('dead');
          return result;
        };
      },
    });
  }

  context(scene: SagaScene): Partial<SagaContext> {
    const { store } = scene;
    const moves = ['openAbout', 'save', 'requestStop', 'revive', 'fail', 'cancel', 'free', 'close'];
    return {
      store: {
        ...store,
        incidents: this.wrap(store.incidents, moves),
        transitions: this.wrap(store.transitions, ['release']),
      },
      events: this.wrap(scene.events, ['logCriticalEvent']),
      chat: this.wrap(scene.chat, ['deliver', 'showProgress']),
      queue: this.wrap(scene.queue, ['pump']),
      reporter: this.wrap(scene.reporter, ['report', 'noteOutcome']),
    };
  }
}
