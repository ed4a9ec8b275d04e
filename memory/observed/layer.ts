/** A map that goes on from another one without copying it: what a session has ever done may be much. */
export class Layer<Value> {
  readonly #below: Layer<Value> | null;
  readonly #own = new Map<string, Value>();

  /** @param below is not changed; it must not change any more either */
  constructor(below: Layer<Value> | null = null) {
    this.#below = below;
  }

  get(key: string): Value | undefined {
    return this.#own.get(key) ?? this.#below?.get(key);
  }

  set(key: string, value: Value): void {
    this.#own.set(key, value);
  }
}
