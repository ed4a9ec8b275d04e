import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { buildResumeContext } from '../../../memory/brief/resumeContext.js';
import { transcriptBrief } from '../../../memory/brief/transcriptBrief.js';
import { isCrashed } from '../../../memory/fold/crash.js';
import { freshnessOf, isStateStale } from '../../../memory/fold/freshness.js';
import { readTranscript } from '../../../memory/observed/transcript.js';
import { UsageError } from '../../../src/errors.js';
import { textOf } from '../../../src/journal/record.js';
import { isoTime } from '../../../src/time.js';
import type { ExitCode } from '../../command/command.js';
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
    const stat = path === null ? undefined : statSync(path, { throwIfNoEntry: false });
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
  const brief = transcriptBrief(read, { now: memory.clock.now(), directory: memory.surroundings.directory });
  print(brief.context, { transcript: path, ...brief });
  return 0;
}

function resumeSession(named: string | null, { memory, values, print, context }: Call): ExitCode {
  const session = memory.which(named ?? textOf(values.session));
  const { state } = session.log;
  const now = memory.clock.now();
  if (values.ack) session.log.write(() => [{ event: 'acknowledged' }], memory.stamp, { isFact: true });
  const last = Math.max(state.last_activity ?? 0, state.acknowledged_at ?? 0) || null;
  const check = isStateStale(last, now, memory.settings.freshness);
  if (check.critical) {
    const since =
      last === null ? 'nothing is known of its activity' : `it rested since ${isoTime(last)}, for ${check.hours} hours`;
    context.io.stderr(
      `${session.id}: ${since}. Much may have changed; ask whoever owns it, then: track resume ${session.id} --ack\n`,
    );
    return 1;
  }
  const { process } = memory.surroundings;
  const text = buildResumeContext(state, {
    level: 'root',
    now,
    root: memory.workspace.root,
    here: process,
    crashed: isCrashed(state, process),
    settings: memory.settings,
    pinned: memory.claims.read(memory.workspace)?.notes ?? [],
  });
  print(text, {
    session_id: session.id,
    freshness: freshnessOf(last, now, memory.settings.freshness),
    check,
    context: text,
  });
  return 0;
}
