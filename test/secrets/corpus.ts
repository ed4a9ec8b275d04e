import { seededRandom } from '../src/journal/random.js';
import { ATTACKS, KNOWN_TO_PASS } from './attacks.js';
import { HELD_OUT_SECRETS } from './heldOut.js';
import { HELD_OUT_LOOK_ALIKES, LOOK_ALIKES_OF_ATTACKS, TUNED_LOOK_ALIKES } from './lookAlikes.js';
import { fill, type Sample } from './template.js';
import { TUNED_SECRETS } from './tuned.js';

export interface Corpus {
  readonly secrets: readonly Sample[];
  readonly lookAlikes: readonly Sample[];
}

/** Of each template, with other values. */
export const SAMPLES_OF_EACH = 4;

const made = new Map<string, Corpus>();

/** Makes it once: every output is measured with it. */
function once(name: string, seed: number, make: () => Corpus): Corpus {
  const key = `${name} ${seed}`;
  const corpus = made.get(key) ?? make();
  made.set(key, corpus);
  return corpus;
}

/** @returns the corpus whose kinds the rules were tuned by */
export function tunedCorpus(seed: number): Corpus {
  const make = () =>
    corpusOf(seed, { ...TUNED_SECRETS, ...ATTACKS }, [...TUNED_LOOK_ALIKES, ...LOOK_ALIKES_OF_ATTACKS]);
  return once('tuned', seed, make);
}

/** @returns a small part of the tuned corpus, for tests that carry each secret through a whole program */
export function smallCorpus(seed: number): Corpus {
  return corpusOf(seed, TUNED_SECRETS, TUNED_LOOK_ALIKES);
}

/** @returns the corpus of other kinds */
export function heldOutCorpus(seed: number): Corpus {
  return once('held out', seed, () => corpusOf(seed, HELD_OUT_SECRETS, HELD_OUT_LOOK_ALIKES));
}

/** @returns the kinds that are known to be legible */
export function passingCorpus(seed: number): Corpus {
  return corpusOf(seed, KNOWN_TO_PASS, []);
}

function corpusOf(seed: number, secrets: Readonly<Record<string, string>>, lookAlikes: readonly string[]): Corpus {
  const random = seededRandom(seed);
  // Every second password is of another habit.
  const samples = (kind: string, template: string) =>
    Array.from({ length: SAMPLES_OF_EACH }, (_, index) =>
      fill(kind, index % 2 === 0 ? template : template.replaceAll('{p}', '{q}'), random),
    );
  return {
    secrets: Object.entries(secrets).flatMap(([kind, template]) => samples(kind, template)),
    lookAlikes: lookAlikes.flatMap((template) => samples(template, template)),
  };
}
