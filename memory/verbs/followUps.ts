import type { OpenSession } from '../sessions/sessions.js';
import type { Viewer } from '../sessions/views.js';
import type { FollowUp } from './verb.js';

/** @returns what the door does for a session whose work is over */
export function putAway(session: OpenSession): FollowUp[] {
  return [
    { do: 'stop_monitor', session },
    { do: 'keep', session },
  ];
}

/** @returns the sentences on this directory's sessions that were left after the last one began here */
export function reportsHere({ claims, workspace }: Viewer): readonly string[] {
  return claims.read(workspace)?.reports ?? [];
}
