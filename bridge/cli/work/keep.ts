import { type KeepResult, keepSession } from '../../../memory/keeping/keep.js';
import { keepRound } from '../../../memory/keeping/round.js';
import { MINUTE } from '../../../src/time.js';
import type { ExitCode } from '../../command/command.js';
import { sayLines } from '../../command/print.js';
import { word } from '../../command/word.js';

/** It runs unattended: a file system that hangs must not leave it there for ever. */
const MOST_MS = 10 * MINUTE;

export const keep = word({
  usage: 'keep [ID]',
  summary:
    'copy what the transcripts of a session show; without ID: of all whose\n      agents have ended, and put old things away. Starts and ends do it, too',
  options: {},
  words: 1,
  async run({ memory, values, words: [named], print, context }): Promise<ExitCode> {
    const until = memory.clock.now() + MOST_MS;
    const name = named ?? values.session;
    if (name !== undefined) {
      const result = await keepSession(memory, memory.which(name), until);
      print(sentenceOf(result), result);
      return 0;
    }
    const round = await keepRound(memory, until);
    const { kept, expired, archived, failures } = round;
    const lines = [
      ...kept.map((id) => `session ${id} is kept`),
      ...expired.map((id) => `the copy of session ${id} was too old`),
      ...archived.map((id) => `session ${id} is in the archive`),
    ];
    const nothing = failures.length === 0 ? 'nothing to do' : 'nothing was done';
    print(lines.length === 0 ? nothing : lines, round);
    for (const { session_id, message } of failures)
      sayLines(context.io, `${session_id ?? 'removed sessions'}: ${message}`);
    // What could not be opened could not be looked at either.
    const isSaid = (left: string) => failures.some(({ message }) => message.startsWith(left));
    memory.leftOut.splice(0, memory.leftOut.length, ...memory.leftOut.filter((left) => !isSaid(left)));
    return failures.length === 0 ? 0 : 3;
  },
});

function sentenceOf({ session_id, kept, lines, conversations, digests }: KeepResult): string {
  if (kept === 'nothing') return `session ${session_id} has no transcript and no files`;
  const said = kept === 'written' ? 'is kept' : 'was kept already';
  return `session ${session_id} ${said}: ${lines} lines of ${conversations} conversations, digests of ${digests} files`;
}
