/** The end of a handoff's work: the handoff keeps it, and its author's next start reports it in one sentence. */
import { counted } from '../../src/counted.js';
import { firstAttemptId } from '../../src/ids.js';
import { checkoutOf } from '../git/checkout.js';
import type { GitVariables } from '../git/gitLine.js';
import { commitsSince } from '../git/history.js';
import type { Places } from '../home/places.js';
import type { Stamp } from '../logs/line.js';
import { Claims } from '../workspaces/claims.js';
import type { Workspace } from '../workspaces/workspace.js';
import { Handoffs } from './handoffs.js';
import { type Checkout, handoffKind, type TakenEnd } from './kind.js';

const MOST_COMMITS = 5;

/**
 * Keeps the end, and leaves a sentence for the next start in the directory where the handoff was written. Nothing if the end is known,
 * or another worker has it.
 * @param id of the handoff
 * @param taken its taker, and how that ended
 * @throws UnreachableError if the memory cannot be written
 */
export function noteOutcome(
  { places, stamp }: { readonly places: Places; readonly stamp: Stamp },
  variables: GitVariables,
  id: string,
  taken: Pick<TakenEnd, 'session_id' | 'ended'>,
): void {
  const handoffs = new Handoffs({ places, stamp });
  const { offer, answer = null, end = null } = handoffs.read(id)?.state ?? {};
  const by = answer?.kind === 'accepted' ? answer.session_id : null;
  if (!offer || end !== null || by === null || firstAttemptId(by) !== firstAttemptId(taken.session_id)) return;
  const { workspace, root, repository } = offer;
  const found = { ...taken, ...workOf(answer?.checkout ?? null, root, variables) };
  const place: Workspace =
    repository === null ? { id: workspace, root, kind: 'folder' } : { id: workspace, root, kind: 'git' };
  const title = JSON.stringify(offer.document.title);
  const sentence = `handoff ${title}: ${endWords(found)} (watchkeeper handoff show ${id})`;
  // First, so that a kill before the next line repeats the report and does not lose it; it is left once until a start reads it.
  new Claims(places, stamp, () => true).leaveReport(place, by, sentence);
  handoffs.end(id, handoffKind.line('ended', found));
}

function workOf(checkout: Checkout | null, writtenIn: string, variables: GitVariables) {
  const found = checkout === null ? null : commitsSince(checkout.root, variables, checkout.head, MOST_COMMITS);
  const branch = checkout === null ? null : (checkoutOf(checkout.root)?.branch ?? null);
  const root = checkout === null || checkout.root === writtenIn ? null : checkout.root;
  return { commits: found?.commits ?? [], commit_count: found?.count ?? null, branch, root };
}

/** @returns a clause: what its taker did */
export function endWords({ session_id, ended, commits, commit_count: count, branch, root }: TakenEnd): string {
  const more = (count ?? 0) - commits.length;
  const named = [...commits, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  // The author's checkout does not have those commits.
  const place = root === null ? '' : `, in ${root}`;
  const where = branch === null ? '' : ` on ${branch}`;
  const made =
    count === null ? '' : count === 0 ? '; no commit' : `; ${counted(count, 'commit')}${where} since${place}: ${named}`;
  return `session ${session_id} took it, and ${ended}${made}`;
}
