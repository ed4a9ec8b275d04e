/** Counts work instead of timing it: a busy machine changes no count. */

const METHODS = [
  'every',
  'filter',
  'find',
  'findIndex',
  'flatMap',
  'forEach',
  'map',
  'reduce',
  'some',
  'sort',
] as const;

type Method = (this: unknown[], ...args: unknown[]) => unknown;

/** @returns how many elements of arrays `work` passes over, by methods of arrays and by loops over their elements */
export function stepsOf(work: () => void): number {
  const methods = Array.prototype as unknown as Record<string | symbol, Method>;
  const names = [...METHODS, Symbol.iterator];
  const originals = names.map((name) => [name, Object.getOwnPropertyDescriptor(methods, name)] as const);
  let steps = 0;
  for (let at = 0; at < names.length; at += 1) {
    const name = names[at] ?? '';
    const original = methods[name];
    if (original === undefined) throw new Error(`arrays have no ${String(name)}`);
    const counting: Method = function counting(...args) {
      steps += this.length;
      return Reflect.apply(original, this, args);
    };
    Object.defineProperty(methods, name, { value: counting, configurable: true, writable: true });
  }
  try {
    work();
  } finally {
    for (let at = 0; at < originals.length; at += 1) {
      const [name, descriptor] = originals[at] ?? [];
      if (name !== undefined && descriptor !== undefined) Object.defineProperty(methods, name, descriptor);
    }
  }
  return steps;
}
