import { MINUTE } from '../../src/time.js';
import { type KeepResult, keepSession } from '../keeping/keep.js';
import { keepRound } from '../keeping/round.js';
import { MAYBE_ID } from './meant.js';
import { verb } from './verb.js';

/** It runs unattended: a file system that hangs must not leave it there for ever. */
const MOST_MS = 10 * MINUTE;

export const keep = verb({
  name: 'keep',
  summary:
    'copy what the transcripts of a session show; without ID: of all whose\nagents have ended, and put old things away. Starts and ends do it, too',
  fields: { id: MAYBE_ID },
  async run(memory, { id, session }) {
    const until = memory.clock.now() + MOST_MS;
    const name = id ?? session;
    if (name !== undefined) {
      const result = await keepSession(memory, memory.which(name), until);
      return { lines: sentenceOf(result), value: result };
    }
    const round = await keepRound(memory, until);
    const { kept, expired, archived, failures } = round;
    const lines = [
      ...kept.map((each) => `session ${each} is kept`),
      ...expired.map((each) => `the copy of session ${each} was too old`),
      ...archived.map((each) => `session ${each} is in the archive`),
    ];
    const nothing = failures.length === 0 ? 'nothing to do' : 'nothing was done';
    // The failure of a session is not reported twice: as left out, and as not kept.
    const isSaid = (left: string) => failures.some(({ message }) => message.startsWith(left));
    memory.leftOut.splice(0, memory.leftOut.length, ...memory.leftOut.filter((left) => !isSaid(left)));
    return {
      lines: lines.length === 0 ? nothing : lines,
      value: round,
      asides: failures.map(({ session_id, message }) => `${session_id ?? 'removed sessions'}: ${message}`),
      ...(failures.length > 0 && { verdict: 'partial' }),
    };
  },
});

function sentenceOf({ session_id, kept, lines, conversations, digests }: KeepResult): string {
  if (kept === 'nothing') return `session ${session_id} has no transcript and no files`;
  const said = kept === 'written' ? 'is kept' : 'was kept already';
  return `session ${session_id} ${said}: ${lines} lines of ${conversations} conversations, digests of ${digests} files`;
}
