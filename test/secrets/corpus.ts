import { seededRandom } from '../src/journal/random.js';
import { HELD_OUT_SECRETS } from './heldOut.js';
import { HELD_OUT_LOOK_ALIKES, TUNED_LOOK_ALIKES } from './lookAlikes.js';
import { fill, type Sample } from './template.js';
import { TUNED_SECRETS } from './tuned.js';

export interface Corpus {
  readonly secrets: readonly Sample[];
  readonly lookAlikes: readonly Sample[];
}

/** Of each template, with other values. */
const SAMPLES_OF_EACH = 4;

/** @returns the corpus whose kinds the rules were tuned by */
export function tunedCorpus(seed: number): Corpus {
  return corpusOf(seed, TUNED_SECRETS, TUNED_LOOK_ALIKES);
}

/** @returns the corpus of other kinds */
export function heldOutCorpus(seed: number): Corpus {
  return corpusOf(seed, HELD_OUT_SECRETS, HELD_OUT_LOOK_ALIKES);
}

function corpusOf(seed: number, secrets: Readonly<Record<string, string>>, lookAlikes: readonly string[]): Corpus {
  const random = seededRandom(seed);
  const samples = (kind: string, template: string) =>
    Array.from({ length: SAMPLES_OF_EACH }, () => fill(kind, template, random));
  return {
    secrets: Object.entries(secrets).flatMap(([kind, template]) => samples(kind, template)),
    lookAlikes: lookAlikes.flatMap((template) => samples(template, template)),
  };
}
