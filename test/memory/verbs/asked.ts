/** Verbs as a door asks for them, in a scratch home and a scratch workspace. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Memory } from '../../../memory/sessions/memory.js';
import type { SurroundingVariable } from '../../../memory/sessions/surroundings.js';
import { type AnyVerb, ask, type Door, type Outcome } from '../../../memory/verbs/verb.js';
import type { Origin } from '../../../memory/words.js';
import { WatchkeeperError } from '../../../src/errors.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { redactShapes } from '../../../src/log/redact.js';
import { type Clock, systemClock } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';

export interface Scratch {
  readonly home: string;
  readonly directory: string;
  /** @returns the memory of one call; an agent's, if no origin is given */
  memory(origin?: Origin, variables?: Partial<Record<SurroundingVariable, string>>): Memory;
  /** @returns the value of the outcome; of a refusal its code, its message and its details */
  asked(verb: AnyVerb, given: object, by?: Origin): Promise<Answer>;
  /** The same from another directory. */
  askedFrom(directory: string, verb: AnyVerb, given: object): Promise<Answer>;
  outcome(verb: AnyVerb, given: object, by?: Origin): Promise<Outcome>;
  /** @returns asks as a program that names a session only by its whole id */
  exactly(given: object): (verb: AnyVerb, more?: object) => Promise<Answer>;
}

/** Each verb has fields of its own; these are read by several tests. */
export interface Answer {
  readonly session_id: string;
  readonly message: string;
  readonly violations: readonly { readonly rule: string }[];
  readonly [field: string]: unknown;
}

export const DOOR: Door = {
  read: () => Promise.reject(new Error('no files')),
  startDetached: () => undefined,
  untilStopped: () => AbortSignal.abort(),
  isProgram: true,
  judge: async () => null,
  say: () => undefined,
};

interface Around {
  readonly clock?: Clock;
  readonly variables?: Partial<Record<SurroundingVariable, string>>;
}

export function scratch({ clock = systemClock, variables: always = {} }: Around = {}): Scratch {
  const folder = testFolder();
  const [home, directory] = [join(folder, 'home'), join(folder, 'work')];
  mkdirSync(directory, { recursive: true });
  const memoryIn = (
    place: string,
    origin: Origin = 'agent',
    variables: Partial<Record<SurroundingVariable, string>> = {},
    isExact = false,
  ) => {
    const surroundings = {
      directory: place,
      process: readProcessIdentity('host'),
      variables: {
        WATCHKEEPER_HOME: home,
        ...(process.env.PATH && { PATH: process.env.PATH }),
        ...always,
        ...variables,
      },
    };
    return new Memory({ surroundings, folder: null, clock, redact: redactShapes, origin, isExact });
  };
  const memory: Scratch['memory'] = (origin, variables) => memoryIn(directory, origin, variables);
  const outcome: Scratch['outcome'] = (verb, given, by) => ask(verb, memory(by), { ...given }, DOOR);
  const asked: Scratch['asked'] = (verb, given, by) => answerOf(outcome(verb, given, by));
  const askedFrom: Scratch['askedFrom'] = (place, verb, given) =>
    answerOf(ask(verb, memoryIn(place), { ...given }, DOOR));
  const exactly: Scratch['exactly'] = (given) => (verb, more) =>
    answerOf(ask(verb, memoryIn(directory, 'agent', {}, true), { ...given, ...more }, DOOR));
  return { home, directory, memory, asked, askedFrom, outcome, exactly };
}

function answerOf(outcome: Promise<Outcome>): Promise<Answer> {
  return outcome.then(
    ({ value }) => value as Answer,
    (error: unknown) => {
      if (!(error instanceof WatchkeeperError)) throw error;
      const details = ('details' in error ? error.details : {}) as Answer;
      return { ...details, code: error.code, message: error.message };
    },
  );
}
