/** The report on a session whose agent crashed, or was cut off. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import { oneLine } from '../../src/log/visibleText.js';
import { isoTime, localTime } from '../../src/time.js';
import type { AgentCondition } from '../condition/condition.js';
import type { DoubtfulFile } from '../condition/filesInDoubt.js';
import { INTERRUPTED, isInterrupted } from '../condition/words.js';
import { MOST_RECENT } from '../fold/recent.js';
import { Runs } from '../fold/runs.js';
import type { Worklog } from '../fold/worklog.js';
import { type Look, lookAt } from '../look/look.js';
import type { Weighed } from '../look/marks.js';
import type { SettledFile } from '../look/settledSince.js';
import { weighedHere } from '../look/unfinished.js';
import { agentWords, outcomeWords } from '../observed/calls.js';
import { lastAskedOf, purposeOf } from '../observed/purpose.js';
import { stepsOf } from '../observed/step.js';
import type { LeftProcess } from '../sessions/leftProcesses.js';
import type { OpenSession } from '../sessions/sessions.js';
import { placeNow } from '../show/directory.js';
import { ago, leftLine, section, stepLine } from '../show/status.js';
import type { Section } from './budget.js';
import { doubtOf, settledOf, settledWords } from './fileSections.js';
import { entries, leftOf, ordersOf, type Words } from './observedSections.js';
import { proofOf } from './proof.js';
import { type Resuming, type WayToResume, wayToResume } from './resuming.js';

/** For people. */
const MOST_FILES_NAMED = 50;

/** Used for a session without a transcript. */
export const UNRECORDED = 'nothing of it was recorded, because its program kept no transcript, or that is gone.';
const UNSEEN = `unknown: ${UNRECORDED}`;

export interface CrashReport {
  readonly session_id: string;
  /** `cut_off`: its program reported its end, in the middle of a turn. */
  readonly kind: keyof typeof INTERRUPTED;
  readonly purpose: string;
  /** Null if only its purpose is known. */
  readonly last_asked: string | null;
  /** Orders that its agent never got. */
  readonly waiting: readonly { readonly at: number; readonly text: string | null }[];
  /** How its directory has changed, in a clause. Null if it has not. */
  readonly place: string | null;
  readonly proof: string;
  /** When its end was written, UTC epoch milliseconds. Null if it was not. */
  readonly ended_at: number | null;
  readonly created_at: number | null;
  readonly last_activity: number | null;
  readonly steps: readonly string[];
  /** Processes of its agent that still run; redacted. */
  readonly left: readonly LeftProcess[];
  readonly files: readonly DoubtfulFile[];
  /** Files that others have finished since. */
  readonly settled: readonly SettledFile[];
  readonly recent: readonly { readonly at: number; readonly words: string }[];
  readonly advice: readonly string[];
}

/** @returns null if its agent neither crashed nor was cut off */
export async function crashOf(memory: Resuming, session: OpenSession): Promise<CrashReport | null> {
  const { process } = memory.surroundings;
  if (memory.runsOf(session.log.state).mayWork) return null;
  const look = await lookAt(memory, session);
  if (!isInterrupted(look.condition)) return null;
  const place = placeNow(memory, look.log, { path: oneLine, name: oneLine });
  return crashReport(look, { place, here: process, way: wayToResume(memory, look.log) });
}

/** @returns the sessions of the caller's directory whose agents crashed or were cut off, the heaviest first */
export async function crashesHere(memory: Resuming): Promise<Weighed[]> {
  const { gone } = await weighedHere(memory, memory.workspace);
  return gone.filter(({ isInterrupted }) => isInterrupted);
}

/**
 * @param look at a session whose agent crashed or was cut off
 * @param at how its directory has changed, the identity of a process of this host, and how its reader resumes the work
 */
export function crashReport(
  {
    log,
    fold,
    last,
    condition: { agent, left, doubtful: files, settled },
  }: Pick<Look, 'log' | 'fold' | 'last' | 'condition'>,
  { place, here, way }: Pick<CrashReport, 'place'> & { readonly here: ProcessIdentity; readonly way: WayToResume },
): CrashReport {
  const steps = stepsOf({ log, fold });
  const current = steps.find(({ status }) => status === 'in_progress');
  return {
    session_id: log.session_id ?? '',
    kind: agent === 'cut_off' ? 'cut_off' : 'crashed',
    purpose: purposeOf(log, fold),
    last_asked: lastAskedOf(log, fold, here),
    waiting: (fold?.waitingOrders ?? []).map(({ at, text }) => ({ at, text })),
    place,
    proof: proofOf(log, fold, here),
    ended_at: new Runs(log, here).present?.ended_at ?? null,
    created_at: log.created_at,
    last_activity: last,
    steps: steps.map(stepLine),
    left,
    files,
    settled,
    recent: recentOf(log, fold),
    advice: [
      ...(left.length === 0 ? [] : ['End the processes above, or wait for them, before the same is done again.']),
      ...(files.length === 0 ? [] : ['Look at the files above before anything else: they may be half written.']),
      ...(current === undefined
        ? []
        : [`Step ${current.id} was in progress: ${oneLine(current.title)}. Do it again, or finish it.`]),
      `See all that the next agent needs to know: watchkeeper track resume ${log.session_id}`,
      ...(way.command === null ? [] : [`Go on with the session: ${way.command}`]),
      ...way.further,
      `If nobody goes on with it: watchkeeper work end ${log.session_id} --as cancelled`,
    ],
  };
}

/** Declared entries and observed calls, by time. */
function recentOf(log: Worklog, fold: Look['fold']): CrashReport['recent'] {
  const asked = log.permission_asked_at;
  const calls = (fold?.actions ?? []).map((action) => ({
    at: action.at,
    words: `${agentWords(action.agent)}${action.words}${outcomeWords(action, asked)}`,
  }));
  const declared = log.recent.map(({ at, words, origin }) => ({ at, words, origin }));
  return inTurns(declared, calls).slice(-MOST_RECENT);
}

/** @returns both lists in one, by time. Each keeps its own order, which a clock that was set back does not change */
function inTurns<Entry extends { readonly at: number }>(left: readonly Entry[], right: readonly Entry[]): Entry[] {
  const rest = [...right];
  const all = left.flatMap((entry) => {
    const later = rest.findIndex(({ at }) => at >= entry.at);
    return [...rest.splice(0, later < 0 ? rest.length : later), entry];
  });
  return [...all, ...rest];
}

/** @returns the report for a person */
export function crashLines(report: CrashReport, now: number): string[] {
  const { last_asked, waiting, place, files, settled, recent } = report;
  const time = (at: number | null) => (at === null ? 'unknown' : `${localTime(at)} (${ago(now - at)})`);
  return [
    `${report.session_id} ${INTERRUPTED[report.kind]}: ${localWords(report)}`,
    `task:           ${report.purpose === '' ? UNSEEN : oneLine(report.purpose)}`,
    ...(last_asked === null ? [] : [`last asked:     ${oneLine(last_asked)}`]),
    `began:          ${time(report.created_at)}`,
    `last activity:  ${time(report.last_activity)}`,
    ...waiting.map(
      ({ text }) => `still waiting:  ${text === null ? 'an order, whose words were not kept' : oneLine(text)}`,
    ),
    ...(place === null ? [] : [`directory:      ${place}`]),
    ...section('steps:', report.steps),
    ...section('still running, begun by an agent that is gone:', report.left.map(leftLine)),
    ...section('files that may be incomplete:', fileLines(files)),
    ...section(
      'files that others have finished since:',
      settled.slice(0, MOST_FILES_NAMED).map((file) => `${oneLine(file.path)}: ${settledWords(file, oneLine)}`),
    ),
    ...section(
      'the last entries:',
      recent.map(({ at, words }) => `${localTime(at)}  ${oneLine(words)}`),
    ),
    ...section('what to do:', report.advice),
  ];
}

/** @returns the proof, for a person */
function localWords({ proof, ended_at }: CrashReport): string {
  return ended_at ? proof.replace(isoTime(ended_at), localTime(ended_at)) : proof;
}

/**
 * Warns of an agent at work on another host: the memory's home may be a copy of that host's, or shared with it.
 * @param name puts the name of a host into the sentence
 */
export function elsewhereLines(
  log: Pick<Worklog, 'lifecycle' | 'runs'>,
  here: ProcessIdentity,
  name: (host: string) => string,
): string[] {
  const host = new Runs(log, here).elsewhere;
  return host === null
    ? []
    : [
        `Its agent ran on host ${name(host)}. Whether it is still at work there cannot be seen from here: ask the person first.`,
      ];
}

/**
 * @param here the identity of a process of this host
 * @returns for an agent, how the agent of another session in its directory crashed, or was cut off
 */
export function otherCrash(
  { log, fold, condition }: Pick<Look, 'log' | 'fold' | 'condition'>,
  here: ProcessIdentity,
  words: Words,
): Section[] {
  const name = words.name(log.session_id ?? '');
  const purpose = purposeOf(log, fold);
  // An answered prompt was not cut off.
  const asked = fold?.isTurnOpen ? lastAskedOf(log, fold) : null;
  const lines = [
    `Session ${name}${purpose === '' ? '' : `: ${words.text(purpose)}`}`,
    ...(fold === null ? [`What was asked is unknown: ${UNRECORDED}`] : []),
    ...interruptedLines(condition.agent, proofOf(log, fold, here)),
    ...(asked === null ? [] : [`It was last asked: ${words.text(asked)}`]),
    `To see all of it: watchkeeper track resume ${name}`,
  ];
  return [
    { title: 'Another agent in this directory did not finish:', entries: entries('next', lines) },
    ...(fold === null ? [] : [ordersOf(fold, words)]),
    leftOf(condition.left, words),
    doubtOf(condition.doubtful, words),
    settledOf(condition.settled, words),
  ];
}

/** @returns for an agent, in a sentence, how the agent of a session was interrupted */
export function interruptedLines(agent: AgentCondition | null, proof: string): string[] {
  return agent === 'crashed' || agent === 'cut_off' ? [`Its agent ${INTERRUPTED[agent]}: ${proof}.`] : [];
}

function fileLines(files: readonly DoubtfulFile[]): string[] {
  const rest = files.length - MOST_FILES_NAMED;
  return [...files.slice(0, MOST_FILES_NAMED).map(fileLine), ...(rest > 0 ? [`… and ${rest} more, see --json`] : [])];
}

function fileLine(file: DoubtfulFile): string {
  const { path, step, kept_in } = file;
  const of = step === null ? '' : `, step ${step}`;
  const kept = kept_in === undefined ? '' : `; ${oneLine(kept_in)} has a version of it`;
  return `${oneLine(path)}: ${sightWords(file)}${of}${kept}`;
}

function sightWords({ exists, size, changed_since }: DoubtfulFile): string {
  if (!exists) return 'does not exist';
  if (size === null) return 'cannot be looked at';
  return `${size} bytes, ${changed_since ? 'changed' : 'not changed'} since it was last mentioned`;
}
