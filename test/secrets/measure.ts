import type { Corpus } from './corpus.js';
import type { Sample } from './template.js';

export interface Measured {
  readonly leaks: readonly Sample[];
  readonly losses: readonly Sample[];
}

/** Shorter pieces of a secret open nothing. */
const LONGEST_HARMLESS = 7;

/**
 * @param show what a reader sees of a text
 * @param untouched what a reader would see of it without redaction
 * @returns secrets of which more than {@link LONGEST_HARMLESS} characters in a row can be read, and look-alikes that were changed
 */
export function measure(corpus: Corpus, show: (text: string) => string, untouched = (text: string) => text): Measured {
  return {
    leaks: corpus.secrets.filter(({ text, secrets }) =>
      secrets.some((secret) => isLegible(secret, show(text), text.replaceAll(secret, ''))),
    ),
    losses: corpus.lookAlikes.filter(({ text }) => show(text) !== untouched(text)),
  };
}

/** @param around the text without the secret: words that stand there as well say nothing of it */
function isLegible(secret: string, shown: string, around: string): boolean {
  return secret.split('\n').some((line) => {
    const length = Math.min(line.length, LONGEST_HARMLESS + 1);
    for (let at = 0; at + length <= line.length; at += 1) {
      const piece = line.slice(at, at + length);
      if (shown.includes(piece) && !around.includes(piece)) return true;
    }
    return false;
  });
}
