/** Holds every claim against the files, and tells the outcome. */
import { describeError } from '../../src/errors.js';
import { CLAIMS, type Claim } from './claims.js';
import type { Narrator } from './narrator.js';
import type { Readings } from './readings.js';

export interface Checked extends Pick<Claim, 'says' | 'files'> {
  /** Empty: the claim holds. */
  readonly contradictions: readonly string[];
}

export function checkClaims(readings: Readings): Checked[] {
  return CLAIMS.map((claim) => ({
    says: claim.says,
    files: claim.files,
    contradictions: contradictionsOf(claim, readings),
  }));
}

/** @returns whether all hold */
export function tellClaims(claims: readonly Checked[], narrator: Narrator): boolean {
  narrator.heading('What is claimed, checked against the files that the demo left:');
  for (const { says, files, contradictions } of claims) {
    narrator.verdict(contradictions.length === 0, says);
    for (const contradiction of contradictions) narrator.line(`          but: ${contradiction} (${files.join(', ')})`);
  }
  return claims.every(({ contradictions }) => contradictions.length === 0);
}

/** A claim whose files are missing or damaged does not hold. */
function contradictionsOf(claim: Claim, readings: Readings): string[] {
  try {
    return claim.contradictions(readings);
  } catch (error) {
    return [`the evidence cannot be read: ${describeError(error)}`];
  }
}
