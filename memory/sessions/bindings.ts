/** Which session has a conversation, or an agent's process. Each has a log of its own, which decides. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { UnreachableError } from '../../src/errors.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Places } from '../home/places.js';
import type { LogKind } from '../logs/kind.js';
import type { LastRead } from '../logs/lastRead.js';
import { lineMaker, type NewLine, type Stamp } from '../logs/line.js';
import { Log } from '../logs/log.js';
import { withLog } from '../logs/scoped.js';

const processSchema = z.object({ host: z.string(), boot_id: z.string() });

export interface Binding {
  /** The session that has it, the line that says so, and the session that had it before. */
  bound: { readonly session_id: string; readonly line: string; readonly from: string | null } | null;
  /** Null if it is a conversation, or the process was not named. */
  process: z.output<typeof processSchema> | null;
}

const boundSchema = z.looseObject({
  session_id: z.string().check(z.minLength(1)),
  previous: z.optional(z.string()),
  process: z.optional(processSchema),
});
interface BoundTo {
  readonly session_id: string;
  readonly process?: ProcessIdentity | undefined;
}
export interface BindingEvents {
  readonly bound: BoundTo;
  /** `previous` is the id of the line that gave it to the former session. */
  readonly moved: BoundTo & { readonly previous: string };
}

const bindingKind: LogKind<Binding, BindingEvents> = {
  name: 'binding',
  begin: () => ({ bound: null, process: null }),
  apply(state, line) {
    if (line.event !== 'bound' && line.event !== 'moved') return null;
    const fields = boundSchema.safeParse(line);
    if (!fields.success) return { code: 'malformed', message: `"${line.event}": ${fields.error.issues[0]?.message}` };
    const { session_id, previous, process } = fields.data;
    // A move names the line that gave it: another move was first if that is no longer the last one.
    if ((state.bound?.line ?? undefined) !== previous)
      return { code: 'moved', message: `it belongs to session ${state.bound?.session_id ?? 'none'} meanwhile` };
    state.bound = { session_id, line: line.id, from: state.bound?.session_id ?? null };
    state.process = process ?? state.process;
    return null;
  },
  line: lineMaker<BindingEvents>(),
};

export interface BoundConversation {
  readonly provider: string;
  readonly conversation: string;
}
export type Bound = BoundConversation | { readonly process: ProcessIdentity };

export class Bindings {
  readonly #places: Places;
  readonly #stamp: Stamp;
  readonly #known: LastRead<Binding, BindingEvents> | null;

  /** @param known the logs that were read before, by their paths. Null if each look reads from the beginning */
  constructor(places: Places, stamp: Stamp, known: LastRead<Binding, BindingEvents> | null = null) {
    this.#places = places;
    this.#stamp = stamp;
    this.#known = known;
  }

  /** @returns the session that has it; null if none has */
  sessionOf(bound: Bound): string | null {
    return this.#read(bound)?.session_id ?? null;
  }

  /** @returns the session that had it before the present one; null if none had */
  formerOf(bound: Bound): string | null {
    return this.#read(bound)?.from ?? null;
  }

  /**
   * Gives it to a session, also if another one has it.
   * @returns the session that had it before, also if this one has had it for long; null if none had
   */
  bind(bound: Bound, sessionId: string): string | null {
    return this.#write(bound, (log) => {
      log.write(
        ({ bound: before }) => (before?.session_id === sessionId ? [] : [lineFor(bound, sessionId, before)]),
        this.#stamp,
        // No process outlives a power failure.
        { isDurable: !('process' in bound) },
      );
      return log.state.bound?.from ?? null;
    });
  }

  /**
   * Gives it to a session if no other process is faster.
   * @param from the session that has it now. Null if none has
   * @returns the session that has it then
   */
  take(bound: Bound, sessionId: string, from: string | null): string {
    return this.#write(bound, (log) => {
      log.write(
        ({ bound: before }) => ((before?.session_id ?? null) === from ? [lineFor(bound, sessionId, before)] : []),
        this.#stamp,
      );
      return log.state.bound?.session_id ?? sessionId;
    });
  }

  /** @returns whether a process was bound to it, which happens only once its log has lines */
  hasProcess(sessionId: string): boolean {
    return this.#ofProcesses().some((path) => bindingIn(path)?.bound?.session_id === sessionId);
  }

  /** Removes the bindings of processes of this host that a later boot has ended: none of them ever asks again. */
  forgetOtherBoots(here: ProcessIdentity): void {
    for (const path of this.#ofProcesses()) {
      const { host, boot_id } = bindingIn(path)?.process ?? here;
      if (host === here.host && boot_id !== here.boot_id && boot_id !== '' && here.boot_id !== '')
        rmSync(path, { force: true });
    }
  }

  #ofProcesses(): string[] {
    const folder = join(this.#places.root, 'bindings');
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names.filter((name) => name.startsWith('p_')).map((name) => join(folder, name));
  }

  #read(bound: Bound): Binding['bound'] {
    const path = this.#path(bound);
    const log = Log.read(path, bindingKind, this.#known?.get(path));
    if (log !== null) this.#known?.set(path, log);
    return log?.state.bound ?? null;
  }

  #write<Result>(bound: Bound, use: (log: Log<Binding, BindingEvents>) => Result): Result {
    const path = this.#path(bound);
    this.#places.make(dirname(path));
    return withLog(path, bindingKind, use, this.#known?.get(path));
  }

  #path(bound: Bound): string {
    return join(this.#places.root, 'bindings', `${keyOf(bound)}.jsonl`);
  }
}

function lineFor(bound: Bound, sessionId: string, before: Binding['bound']): NewLine<BindingEvents> {
  const fields = { session_id: sessionId, process: 'process' in bound ? bound.process : undefined };
  return before === null
    ? bindingKind.line('bound', fields)
    : bindingKind.line('moved', { ...fields, previous: before.line });
}

/** @returns null also if it cannot be read: it is left alone, and does not hide the others */
function bindingIn(path: string): Binding | null {
  try {
    return Log.read(path, bindingKind)?.state ?? null;
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    return null;
  }
}

/** Conversation ids are foreign text, so a digest names the file. */
function keyOf(bound: Bound): string {
  const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);
  if (!('process' in bound)) return `c_${digest(`${bound.provider} ${bound.conversation}`)}`;
  const { host, boot_id, pid_namespace, pid, pid_start } = bound.process;
  return `p_${digest([host, boot_id, pid_namespace, pid, pid_start].join(' '))}`;
}
