import { resolve } from 'node:path';
import { UsageError } from '../../src/errors.js';
import { type Sight, sightOf } from '../../src/files/seenFile.js';
import { localTime } from '../../src/time.js';
import type { Changing } from '../brief/changesSince.js';
import { contextFor } from '../brief/resumeContext.js';
import { type Resuming, wayToResume } from '../brief/resuming.js';
import { transcriptBrief } from '../brief/transcriptBrief.js';
import { viewOf } from '../brief/view.js';
import { worklogKind } from '../fold/rules/kind.js';
import { lookAt } from '../look/look.js';
import { readTranscript } from '../observed/transcript.js';
import type { Viewer } from '../sessions/views.js';
import { flag, word } from './fields.js';
import { type MeantHere, meantHere } from './meantHere.js';
import { type Outcome, verb } from './verb.js';

/** No id of a session looks like one. */
const PATH = /[/\\]|\.jsonl$/;

export const resume = verb({
  name: 'resume',
  summary: 'how to go on, with a session or with any transcript;\n--ack after a week of rest',
  fields: { id: word('[ID|TRANSCRIPT]'), ack: flag('[--ack]') },
  async run(memory, { id, ack, session }): Promise<Outcome> {
    const path = id === undefined ? null : resolve(memory.surroundings.directory, id);
    const sight = path === null ? 'none' : sightOf(path);
    if (path !== null && typeof sight !== 'string' && sight.isFile()) return resumeTranscript(memory, path);
    if (id !== undefined && PATH.test(id)) throw new UsageError(`${id} ${whyNone(sight)}; name a transcript`);
    return resumeSession(memory, await meantHere(memory, { id, session }, { isWork: true }), ack);
  },
});

function whyNone(sight: Sight): string {
  if (sight === 'unknown') return 'cannot be looked at';
  return sight === 'none' ? 'does not exist' : 'is not a file';
}

/** A caller's view of the session to be resumed. */
type Resumable = Resuming & Changing;

async function resumeTranscript({ clock, stamp, surroundings }: Viewer, path: string): Promise<Outcome> {
  const { redact } = stamp;
  const read = await readTranscript(path, redact);
  const { refused } = read.diagnostics;
  if (refused !== null) throw new UsageError(`${path} cannot be read (${refused})`);
  if (read.format === null)
    throw new UsageError(
      `in ${path} nothing is recognised: it is no transcript of Claude Code or Codex, and no journal`,
    );
  const brief = transcriptBrief(read, {
    now: clock.now(),
    directory: surroundings.directory,
    redact,
  });
  return { lines: brief.context.split('\n'), value: { transcript: path, ...brief } };
}

async function resumeSession(
  memory: Resumable,
  { session, asides }: MeantHere,
  isAcknowledged: boolean,
): Promise<Outcome> {
  if (isAcknowledged) memory.sessions.addFacts(session, [worklogKind.line('acknowledged', {})]);
  const look = await lookAt(memory, session);
  const { last } = look;
  const { freshness, check } = look.condition;
  if (check.critical) {
    const since =
      last === null
        ? 'nothing is known of its activity'
        : `it rested since ${localTime(last)}, for ${check.hours} hours`;
    const lines = `${session.id}: ${since}. Much may have changed; ask whoever owns it, then: watchkeeper track resume ${session.id} --ack`;
    return { verdict: 'refused', lines, value: null, asides };
  }
  const text = contextFor(viewOf(memory, look), 'root', { way: wayToResume(memory, look.log) });
  return { lines: text.split('\n'), value: { session_id: session.id, freshness, check, context: text }, asides };
}
