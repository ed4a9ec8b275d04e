/**
 * @returns the object with some of its methods replaced. All others run on the original, which alone has its private members.
 */
export function standIn<T extends object>(original: T, replaced: Partial<T>): T {
  return new Proxy(original, {
    get(target, name) {
      if (name in replaced) return Reflect.get(replaced, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
