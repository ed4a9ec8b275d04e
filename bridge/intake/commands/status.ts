/** `/status`: what runs and what waits. */
import { waitText } from '../../../monitoring/incident/texts/chatTexts.js';
import { isOfProject, isWithin } from '../../../monitoring/terminals/directoryRules.js';
import type { LiveTerminal } from '../../../monitoring/terminals/liveTerminal.js';
import type { Project } from '../../../src/config/settings.js';
import type { AgentSession } from '../../../src/jobs/model.js';
import type { Store } from '../../../src/jobs/store.js';
import { describeDuration, SECOND, spokenDuration } from '../../../src/time.js';
import { excerptOf } from '../../chat/excerpt.js';
import type { ChatFoundation } from '../../chat/foundation.js';
import type { CommandPlace } from './commandText.js';
import { NOTHING_HERE, sessionsOf } from './sessionsHere.js';

const MOST_SHOWN = 20;
const MISSING_DIRECTORY = "Its project's folder is missing at the moment; it starts when the folder is back.";
const KEPT_DIRECTORY =
  'Its directory is still held by an earlier run that could not be ended. My operator can see what is left of it with `watchkeeper doctor`.';

export interface Sights {
  /** @returns what a session's agent is doing now, in one line. Null if that is unknown */
  describeActivity(sessionId: string): string | null;
  isMissing(directory: string): boolean;
  /** Agents that people run themselves. */
  readonly terminals: { readonly live: readonly LiveTerminal[] };
}

/** @throws ioredis' error if Redis is unreachable */
export async function status(
  { clock, redact, store }: ChatFoundation,
  { describeActivity, isMissing, terminals: { live } }: Sights,
  at: CommandPlace,
): Promise<string> {
  const now = clock.now();
  const { running, waiting, elsewhere, hidden } = await sessionsOf(store, at);
  const excerpt = (session: AgentSession) => excerptOf(session, redact);
  const reported = await onlyReported(store);
  const lines = running.map((session) => {
    const activity = inCode(describeActivity(session.session_id)) ?? 'working';
    const since = describeDuration(Math.max(now - (session.started_at ?? now), SECOND));
    const which = session.attempt === 2 ? ', second attempt' : '';
    return `Running for ${since}${which}: ${excerpt(session)}\n${activity}${stateNote(session, reported)}`;
  });
  const positions = await positionsOf(store, waiting);
  const blocked = new Set((await store.blockedLanes.all()).map(({ lane }) => lane));
  for (const session of waiting) {
    if (session.not_before !== null && session.not_before > now) {
      lines.push(`${waitText(session, session.not_before)}\n${excerpt(session)}`);
      continue;
    }
    const ahead = positions.get(session.session_id) ?? 0;
    const place = ahead === 0 ? `next in line${hidden.get(session.lane) ?? ''}` : `${ahead} before it`;
    const kept = blocked.has(session.lane) ? `\n${KEPT_DIRECTORY}` : '';
    const missing = isMissing(session.working_directory) ? `\n${MISSING_DIRECTORY}` : '';
    const waited = describeDuration(Math.max(now - session.created_at, SECOND));
    lines.push(`Waiting for ${waited}, ${place}: ${excerpt(session)}${kept}${missing}`);
  }
  if (lines.length === 0) lines.push(NOTHING_HERE);
  const left = lines.length - MOST_SHOWN;
  const more = left > 0 ? [`… and ${left} more`] : [];
  const terminals = terminalNote(live, at, now);
  return [...lines.slice(0, MOST_SHOWN), ...more, ...elsewhereNote(elsewhere), ...terminals].join('\n\n');
}

/** @returns the incidents that end nothing: an issue reports them, and the agent is left alone */
async function onlyReported({ records }: Store): Promise<ReadonlySet<string>> {
  const open = await records.openIncidents();
  return new Set(open.filter(({ acting }) => !acting).map(({ incident_id }) => incident_id));
}

async function positionsOf({ records }: Store, sessions: readonly AgentSession[]): Promise<Map<string, number>> {
  const positions = new Map<string, number>();
  for (const lane of new Set(sessions.map((session) => session.lane))) {
    for (const [index, id] of (await records.waitingIn(lane)).entries()) positions.set(id, index);
  }
  return positions;
}

/** A tool's words: in code, so that no chat turns them into links or mentions. */
function inCode(activity: string | null): string | null {
  return activity === null ? null : `\`${activity.replaceAll('`', "'")}\``;
}

function elsewhereNote(count: number): string[] {
  if (count === 0) return [];
  return [`In other topics of this chat ${count === 1 ? '1 message is' : `${count} messages are`} running or waiting.`];
}

function stateNote({ stop, incident_id }: AgentSession, onlyReported: ReadonlySet<string>): string {
  if (stop !== null) return ' · being stopped';
  if (incident_id === null) return '';
  const what = onlyReported.has(incident_id) ? 'I only report it, and leave the agent alone' : 'I am handling it';
  return ` · it has a problem; ${what}`;
}

interface ChatPlace {
  readonly project: Project;
  /** That of the chat or topic, a real path. */
  readonly directory: string;
}

/** @returns a line for the chat's own directory and one for the project's others, each only if an agent works there */
export function terminalNote(terminals: readonly LiveTerminal[], { project, directory }: ChatPlace, now: number) {
  const here: LiveTerminal[] = [];
  const others: LiveTerminal[] = [];
  for (const terminal of terminals) {
    if (terminal.directory === null) continue;
    if (isWithin(directory, terminal.directory)) here.push(terminal);
    else if (isOfProject(project, terminal.directory)) others.push(terminal);
  }
  const where = others.length === 1 ? 'another directory of this project' : 'other directories of this project';
  return [...sentence(here, 'this directory', now), ...sentence(others, where, now)];
}

function sentence(terminals: readonly LiveTerminal[], where: string, now: number): string[] {
  if (terminals.length === 0) return [];
  const who = terminals.length === 1 ? 'An agent in a terminal uses' : `${terminals.length} agents in terminals use`;
  return [`${who} ${where}.${trouble(terminals, now)}`];
}

function trouble(terminals: readonly LiveTerminal[], now: number): string {
  const stuck = terminals.flatMap(({ stuck }) => stuck?.since ?? []);
  if (stuck.length === 0) return '';
  const longest = spokenDuration(now - Math.min(...stuck));
  if (terminals.length === 1) return ` It has seemed stuck for ${longest}.`;
  if (stuck.length === 1) return ` One has seemed stuck for ${longest}.`;
  const all = terminals.length === 2 ? 'Both' : `All ${terminals.length}`;
  return ` ${stuck.length === terminals.length ? all : stuck.length} have seemed stuck, one of them for ${longest}.`;
}
