/** Faults that a test orders in advance; the first one that applies to a request is used up by it. */

export interface InjectedFault {
  /** How many requests it has hit so far. */
  readonly used: number;
  /** How many more it will hit. */
  readonly left: number;
  remove(): void;
}

interface Planned<Fault, Request> {
  readonly fault: Fault;
  readonly applies: (request: Request) => boolean;
  used: number;
  left: number;
}

export class FaultPlan<Fault, Request> {
  readonly #planned: Planned<Fault, Request>[] = [];

  /** @param times how many matching requests are hit; `Infinity` until removed */
  add(fault: Fault, applies: (request: Request) => boolean, times: number): InjectedFault {
    const planned = { fault, applies, used: 0, left: times };
    this.#planned.push(planned);
    return {
      get used() {
        return planned.used;
      },
      get left() {
        return planned.left;
      },
      remove: () => {
        planned.left = 0;
      },
    };
  }

  /** @returns the fault that hits this request, or null */
  take(request: Request): Fault | null {
    const planned = this.#planned.find((candidate) => candidate.left > 0 && candidate.applies(request));
    if (!planned) return null;
    planned.left -= 1;
    planned.used += 1;
    return planned.fault;
  }
}
