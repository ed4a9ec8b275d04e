import type { Finding } from '../../../src/jobs/findings.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import { proofOf, runIdOf, type Scene } from './scene.js';

/** @returns the second attempt, which waits; `session` runs, and its run is ended */
export async function revived(
  scene: Scene,
  session: AgentSession,
  findings: readonly Finding[] = [],
): Promise<AgentSession> {
  const { transitions, incidents, records } = scene.store;
  await transitions.release(session.session_id, proofOf(session, scene.clock.now()));
  const released = await records.session(session.session_id);
  if (released === null || released.run?.run_id !== runIdOf(session)) throw new Error('not released');
  const incident = {
    incident_id: 'incident1',
    session_id: session.session_id,
    project_key: session.project_key,
    rule: 'silence',
    findings,
    step: 'opened',
    acting: true,
    not_revived_because: null,
    attempt: 1,
    last_tool_call: null,
    tool_count: 0,
    revival_session_id: null,
    report: { state: 'pending', url: null, tries: 0, due_at: 0, last_error: null },
    opened_at: 0,
    detected_at: null,
    stopping_at: null,
    closed_at: null,
    outcome: null,
    last_action: 'detected',
    rev: 1,
  } as const;
  await incidents.open(released, incident, []);
  const held = await records.session(session.session_id);
  const done =
    held === null ? null : await incidents.revive(held, incident, { endReason: 'silent_for_15_minutes', guard: [] });
  if (done === null) throw new Error('not revived');
  return done.revival;
}
