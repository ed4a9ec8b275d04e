/** @returns a getter of what `make` makes when it is first asked for: a program that lives shortly does not wait for what it never uses */
export function lazily<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
