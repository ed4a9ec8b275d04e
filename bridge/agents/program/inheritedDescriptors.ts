/** Descriptors that this process inherited, as by `exec 9<FILE`, would be open in each agent: Node closes only its own. */
import { openSync, readdirSync, readFileSync } from 'node:fs';

const FIRST = 3;
const CLOSED_ON_EXEC = 0o2000000;

let nothing: number | null = null;

/** @returns `stdio` of a child, with /dev/null in place of each inherited descriptor */
export function withoutInherited<Streams extends readonly unknown[]>(streams: Streams): Streams {
  const open = inherited();
  if (open.length === 0) return streams;
  nothing ??= openSync('/dev/null', 'r+');
  // Node leaves an ignored descriptor as it is: the others are closed on exec, or not open.
  const shut = Array.from({ length: Math.max(...open) - FIRST + 1 }, (_, index) =>
    open.includes(FIRST + index) ? nothing : 'ignore',
  );
  // Node's types know a longer list only without saying which streams there are.
  return [...streams, ...shut] as unknown as Streams;
}

function inherited(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number).filter(isInherited);
  } catch {
    // No Linux.
    return [];
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? '0';
    return descriptor >= FIRST && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    // It was the folder's own descriptor, which is closed by now.
    return false;
  }
}
