import { resolve } from 'node:path';
import { UsageError } from '../../src/errors.js';
import { seenFile } from '../../src/files/seenFile.js';
import { isoTime } from '../../src/time.js';
import { wayOnFor } from '../brief/goOn.js';
import { Words } from '../brief/observedSections.js';
import { buildResumeContext } from '../brief/resumeContext.js';
import { transcriptBrief } from '../brief/transcriptBrief.js';
import { worklogKind } from '../fold/rules/kind.js';
import { lookAt } from '../look/look.js';
import { readTranscript } from '../observed/transcript.js';
import type { Memory } from '../sessions/memory.js';
import { placeNow } from '../show/directory.js';
import { flag, word } from './fields.js';
import { type Outcome, verb } from './verb.js';

/** No id of a session looks like one. */
const PATH = /[/\\]|\.jsonl$/;

export const resume = verb({
  name: 'resume',
  summary: 'how to go on, with a session or with any transcript;\n--ack after a week of rest',
  fields: { id: word('[ID|TRANSCRIPT]'), ack: flag('[--ack]') },
  run(memory, { id, ack, session }): Promise<Outcome> {
    const path = id === undefined ? null : resolve(memory.surroundings.directory, id);
    const stat = path === null ? undefined : seenFile(path);
    if (path !== null && stat?.isFile()) return resumeTranscript(memory, path);
    if (id !== undefined && PATH.test(id))
      throw new UsageError(`${id} ${stat === undefined ? 'does not exist' : 'is not a file'}; name a transcript`);
    return resumeSession(memory, id ?? session ?? null, ack);
  },
});

async function resumeTranscript(memory: Memory, path: string): Promise<Outcome> {
  const { redact } = memory.stamp;
  const read = await readTranscript(path, redact);
  const { refused } = read.diagnostics;
  if (refused !== null) throw new UsageError(`${path} cannot be read (${refused})`);
  if (read.format === null)
    throw new UsageError(
      `in ${path} nothing is recognised: it is no transcript of Claude Code or Codex, and no journal`,
    );
  const brief = transcriptBrief(read, {
    now: memory.clock.now(),
    directory: memory.surroundings.directory,
    redact,
  });
  return { lines: brief.context.split('\n'), value: { transcript: path, ...brief } };
}

async function resumeSession(memory: Memory, named: string | null, isAcknowledged: boolean): Promise<Outcome> {
  const { redact } = memory.stamp;
  const session = memory.which(named);
  if (isAcknowledged) memory.sessions.addFacts(session, [worklogKind.line('acknowledged', {})]);
  const { log, fold, last, condition, now } = await lookAt(memory, session);
  const { agent, freshness, check, left } = condition;
  if (check.critical) {
    const since =
      last === null ? 'nothing is known of its activity' : `it rested since ${isoTime(last)}, for ${check.hours} hours`;
    const lines = `${session.id}: ${since}. Much may have changed; ask whoever owns it, then: watchkeeper track resume ${session.id} --ack`;
    return { verdict: 'refused', lines, value: null };
  }
  const words = new Words(redact);
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
    redact,
  });
  return { lines: text.split('\n'), value: { session_id: session.id, freshness, check, context: text } };
}
