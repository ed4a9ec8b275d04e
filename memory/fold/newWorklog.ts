/** The state of a session before the first line of its worklog. */
import type { Worklog } from './worklog.js';

export function newWorklog(): Worklog {
  return {
    session_id: null,
    facts: null,
    lifecycle: 'planned',
    end: null,
    archived: null,
    created_at: null,
    last_activity: null,
    resumed_at: null,
    acknowledged_at: null,
    told: null,
    given: new Map(),
    wasAsked: false,
    ping: null,
    runs: [],
    conversations: [],
    present: null,
    steps: new Map(),
    files: new Map(),
    notes: [],
    log: [],
    errors: [],
    tokens: new Map(),
    children: new Map(),
    checkpoints: new Map(),
    waits: new Map(),
    permission_asked_at: null,
    notices: [],
    kept: null,
    digests: new Map(),
    recent: [],
    refused: 0,
    more: {},
  };
}
