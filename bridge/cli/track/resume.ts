import { resolve } from 'node:path';
import { wayOnFor } from '../../../memory/brief/goOn.js';
import { Words } from '../../../memory/brief/observedSections.js';
import { buildResumeContext } from '../../../memory/brief/resumeContext.js';
import { transcriptBrief } from '../../../memory/brief/transcriptBrief.js';
import { lookAt } from '../../../memory/look/look.js';
import { readTranscript } from '../../../memory/observed/transcript.js';
import { placeNow } from '../../../memory/show/directory.js';
import { UsageError } from '../../../src/errors.js';
import { seenFile } from '../../../src/files/seenFile.js';
import { textOf } from '../../../src/journal/record.js';
import { isoTime } from '../../../src/time.js';
import type { ExitCode } from '../../command/command.js';
import { sayLines } from '../../command/print.js';
import { type Call, word } from '../../command/word.js';

/** No id of a session looks like one. */
const PATH = /[/\\]|\.jsonl$/;

export const resume = word({
  usage: 'resume [ID|TRANSCRIPT] [--ack]',
  summary: 'how to go on, with a session or with any transcript;\n      --ack after a week of rest',
  options: { ack: { type: 'boolean' } },
  words: 1,
  run(call) {
    const named = call.words[0] ?? null;
    const path = named === null ? null : resolve(call.memory.surroundings.directory, named);
    const stat = path === null ? undefined : seenFile(path);
    if (path !== null && stat?.isFile()) return resumeTranscript(path, call);
    if (named !== null && PATH.test(named))
      throw new UsageError(`${named} ${stat === undefined ? 'does not exist' : 'is not a file'}; name a transcript`);
    return resumeSession(named, call);
  },
});

async function resumeTranscript(path: string, { memory, print, context }: Call): Promise<ExitCode> {
  const read = await readTranscript(path, context.redact);
  const { refused } = read.diagnostics;
  if (refused !== null) throw new UsageError(`${path} cannot be read (${refused})`);
  if (read.format === null)
    throw new UsageError(
      `in ${path} nothing is recognised: it is no transcript of Claude Code or Codex, and no journal`,
    );
  const brief = transcriptBrief(read, {
    now: memory.clock.now(),
    directory: memory.surroundings.directory,
    redact: context.redact,
  });
  print(brief.context.split('\n'), { transcript: path, ...brief });
  return 0;
}

async function resumeSession(named: string | null, { memory, values, print, context }: Call): Promise<ExitCode> {
  const session = memory.which(named ?? textOf(values.session));
  if (values.ack) session.log.write(() => [{ event: 'acknowledged' }], memory.stamp, { isFact: true });
  const { log, fold, last, condition, now } = await lookAt(memory, session);
  const { agent, freshness, check, left } = condition;
  if (check.critical) {
    const since =
      last === null ? 'nothing is known of its activity' : `it rested since ${isoTime(last)}, for ${check.hours} hours`;
    sayLines(
      context.io,
      `${session.id}: ${since}. Much may have changed; ask whoever owns it, then: watchkeeper track resume ${session.id} --ack`,
    );
    return 1;
  }
  const words = new Words(context.redact);
  const workspace = memory.workspaceOf(log) ?? memory.workspace;
  const text = buildResumeContext(log, {
    level: 'root',
    now,
    root: workspace.root,
    here: memory.surroundings.process,
    crashed: agent === 'crashed',
    place: placeNow(memory, log, words),
    fold,
    left,
    settings: memory.settings,
    way: wayOnFor(memory, log),
    isBridges: memory.isBridges,
    pinned: memory.claims.read(workspace)?.notes ?? [],
    redact: context.redact,
  });
  print(text.split('\n'), { session_id: session.id, freshness, check, context: text });
  return 0;
}
