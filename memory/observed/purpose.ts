/** The purpose of a session. One that began by itself has no declared purpose: its first prompt takes the place. */

import type { ProgramFolders } from '../../src/agents/agentProgram.js';
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { Redact } from '../../src/log/redact.js';
import { shorten } from '../../src/log/shorten.js';
import { presentConversation, Runs } from '../fold/runs.js';
import { LOST_BEGINNING } from '../fold/state.js';
import type { Worklog } from '../fold/worklog.js';
import { Observed } from './observed.js';
import { recordsOf, sharesOf } from './shares.js';
import { observedTrimmer } from './trimmer.js';

/** In characters. */
const LONGEST_PROMPT = 200;

/**
 * @param fold what was observed of the session. Null if nothing was
 * @returns its purpose in its own words; empty if nothing was asked yet, or the prompt is unknown
 */
export function purposeOf({ facts }: Pick<Worklog, 'facts'>, fold: Pick<Observed, 'firstPrompt'> | null): string {
  const asked = shorten(fold?.firstPrompt ?? '', LONGEST_PROMPT);
  return facts?.purpose || asked || (facts === null ? LOST_BEGINNING : '');
}

/**
 * @param here the identity of a process of this host. With it, only a prompt to the crashed agent counts, if one crashed
 * @returns the last prompt of its agent, unless that is its purpose. Null if nothing else is known
 */
export function lastAskedOf(
  log: Pick<Worklog, 'facts' | 'lifecycle' | 'runs' | 'conversations'>,
  fold: Pick<Observed, 'firstPrompt' | 'lastPrompt'> | null,
  here: ProcessIdentity | null = null,
): string | null {
  const runs = here === null ? null : new Runs(log, here);
  const own = runs?.isLost ? presentConversation(log, runs) : null;
  // The last prompt is that of the last conversation.
  if (own !== null && own !== log.conversations.findLast(({ moved_at }) => moved_at === null)) return null;
  const asked = shorten(fold?.lastPrompt ?? '', LONGEST_PROMPT);
  return asked === '' || asked === purposeOf(log, fold) ? null : asked;
}

/** @param folders null if there are none, or they are not to be used */
export async function readPurpose(log: Worklog, folders: ProgramFolders | null, redact: Redact): Promise<string> {
  return purposeOf(log, { firstPrompt: folders === null ? null : await readFirstPrompt(log, folders, redact) });
}

/** Reads the transcripts of a session as far as its first prompt. @returns null if there is none */
export async function readFirstPrompt(
  log: Pick<Worklog, 'conversations' | 'end'>,
  folders: ProgramFolders,
  redact: Redact,
): Promise<string | null> {
  const fold = new Observed();
  for (const share of sharesOf(log, '', folders)) {
    for await (const { records } of recordsOf(share, observedTrimmer(redact))) {
      for (const record of records) fold.take(record);
      if (fold.firstPrompt !== null) return fold.firstPrompt;
    }
  }
  return null;
}
