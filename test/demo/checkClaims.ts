/** Holds every claim against the files, tells the outcome, and says where to look. */
import { join, relative } from 'node:path';
import { describeError } from '../../src/errors.js';
import { FILES } from '../e2e/evidence.js';
import { CLAIMS, type Claim } from './claims.js';
import type { Narrator } from './narrator.js';
import { Readings } from './readings.js';

/**
 * @returns whether all claims hold; stops at the first that does not
 */
export function checkClaims(folder: string, narrator: Narrator): boolean {
  const readings = new Readings(folder);
  const shown = relative(process.cwd(), folder) || '.';
  narrator.heading(`What is claimed, checked against the files in ${shown}/:\n`);
  for (const claim of CLAIMS) {
    const contradictions = contradictionsOf(claim, readings);
    const isTrue = contradictions.length === 0;
    narrator.line(`  ${isTrue ? 'holds' : 'DOES NOT HOLD'}  ${claim.says}`);
    narrator.line(`         ${claim.files.map((file) => join(shown, file)).join('  ')}`);
    if (isTrue) continue;
    for (const contradiction of contradictions) narrator.line(`         but: ${contradiction}`);
    narrator.heading('The demo FAILED.');
    return false;
  }
  narrator.heading(`Every claim holds. The bridge's own words: ${join(shown, FILES.bridgeLog)}`);
  return true;
}

/** A claim whose files are missing or damaged does not hold. */
function contradictionsOf(claim: Claim, readings: Readings): string[] {
  try {
    return claim.contradictions(readings);
  } catch (error) {
    return [`the evidence cannot be read: ${describeError(error)}`];
  }
}
