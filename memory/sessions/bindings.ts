/** Which session has a conversation, or an agent's process. Each has a log of its own, which decides. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { UnreachableError } from '../../src/errors.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Places } from '../home/places.js';
import type { LogKind } from '../logs/kind.js';
import type { Stamp } from '../logs/line.js';
import { Log } from '../logs/log.js';

const processSchema = z.object({ host: z.string(), boot_id: z.string() });

interface Binding {
  /** The session, and the line that gave it. */
  bound: { readonly session_id: string; readonly line: string } | null;
  /** Null: it is a conversation, or nobody has said which process it is. */
  process: z.output<typeof processSchema> | null;
}

const boundSchema = z.looseObject({
  session_id: z.string().min(1),
  previous: z.string().optional(),
  process: processSchema.optional(),
});

const bindingKind: LogKind<Binding> = {
  name: 'binding',
  begin: () => ({ bound: null, process: null }),
  apply(state, line) {
    if (line.event !== 'bound' && line.event !== 'moved') return null;
    const fields = boundSchema.safeParse(line);
    if (!fields.success) return { code: 'malformed', message: `"${line.event}": ${fields.error.issues[0]?.message}` };
    const { session_id, previous, process } = fields.data;
    // Who moves it names the line that gave it: another move was first if that is no longer the last one.
    if ((state.bound?.line ?? undefined) !== previous)
      return { code: 'moved', message: `it belongs to session ${state.bound?.session_id ?? 'none'} meanwhile` };
    state.bound = { session_id, line: line.id };
    state.process = process ?? state.process;
    return null;
  },
};

export interface BoundConversation {
  readonly provider: string;
  readonly conversation: string;
}
export type Bound = BoundConversation | { readonly process: ProcessIdentity };

export class Bindings {
  readonly #places: Places;
  readonly #stamp: Stamp;

  constructor(places: Places, stamp: Stamp) {
    this.#places = places;
    this.#stamp = stamp;
  }

  /** @returns the session that has it; null if none has */
  sessionOf(bound: Bound): string | null {
    const log = Log.read(this.#path(bound), bindingKind);
    log?.close();
    return log?.state.bound?.session_id ?? null;
  }

  /**
   * Gives it to a session, whichever had it before.
   * @returns the session that had it; null if none had
   */
  bind(bound: Bound, sessionId: string): string | null {
    const path = this.#path(bound);
    this.#places.make(dirname(path));
    const log = Log.begin(path, bindingKind) ?? Log.open(path, bindingKind);
    if (log === null) throw new UnreachableError(`${path} was removed while it was used; repeat the command`);
    try {
      let before: string | null = null;
      log.write((state) => {
        before = state.bound?.session_id ?? null;
        if (before === sessionId) return [];
        const line = { session_id: sessionId, ...('process' in bound && { process: bound.process }) };
        if (state.bound === null) return [{ event: 'bound', ...line }];
        return [{ event: 'moved', ...line, previous: state.bound.line }];
      }, this.#stamp);
      return before;
    } finally {
      log.close();
    }
  }

  /** Removes the bindings of processes of this host that a later boot has ended: none of them ever asks again. */
  forgetOtherBoots(here: ProcessIdentity): void {
    const folder = join(this.#places.root, 'bindings');
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      if (!name.startsWith('p_')) continue;
      const { host, boot_id } = processIn(join(folder, name)) ?? here;
      if (host === here.host && boot_id !== here.boot_id && boot_id !== '' && here.boot_id !== '')
        rmSync(join(folder, name), { force: true });
    }
  }

  #path(bound: Bound): string {
    return join(this.#places.root, 'bindings', `${keyOf(bound)}.jsonl`);
  }
}

/** @returns null also if it cannot be read: it is left alone, and keeps nobody from the others */
function processIn(path: string): Binding['process'] {
  try {
    const log = Log.read(path, bindingKind);
    log?.close();
    return log?.state.process ?? null;
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    return null;
  }
}

/** Conversation ids are foreign text, so a digest names the file. */
function keyOf(bound: Bound): string {
  const [kind, text] =
    'process' in bound
      ? [
          'p',
          [
            bound.process.host,
            bound.process.boot_id,
            bound.process.pid_namespace,
            bound.process.pid,
            bound.process.pid_start,
          ].join(' '),
        ]
      : ['c', `${bound.provider} ${bound.conversation}`];
  return `${kind}_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}
