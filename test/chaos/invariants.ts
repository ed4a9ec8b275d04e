/**
 * What must hold of a whole history, read from the files of a scene alone: nothing here asks the product, and nothing here
 * knows which faults there were.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import { Evidence, FILES } from '../e2e/evidence.js';
import type { FoundProcess } from '../e2e/processScan.js';
import type { SeenRequest } from '../peers/github/proxy.js';
import type { TranscriptEntry } from '../peers/telegram/transcript.js';
import { attemptViolations, type RunEvidence, readRuns, sessionsWithRemovedJournals } from './attempts.js';
import { banViolations, type TextCall } from './bans.js';
import { type ClockShift, trueInstants } from './clocks.js';
import { endsOf } from './ends.js';
import { capViolations, eventOrderViolations, type FiledIssue } from './issueWatch.js';
import { isForgottenRevival, isForgottenStart, isLostMessage, isOvertakenInLoss } from './losses.js';
import type { Overlap } from './overlapWatch.js';
import { type Asked, HARNESS_FILES, readLines } from './records.js';
import { seenViolations } from './seen.js';
import { sessionOf } from './stakes.js';
import { storeViolations } from './storeOrder.js';
import type { StoreWrite } from './storeTrace.js';
import type { SyncedFile } from './syncRecorder.js';

export interface History extends RunEvidence {
  readonly asked: readonly Asked[];
  readonly transcript: readonly TranscriptEntry[];
  readonly overlaps: readonly Overlap[];
  readonly events: readonly CriticalEvent[];
  readonly unreadableEvents: number;
  readonly issueBodies: readonly string[];
  /** In the store's own order. */
  readonly storeWrites: readonly StoreWrite[];
  /** What lived on after an orderly stop. */
  readonly left: readonly FoundProcess[];
  /** What lived on though bridge and standby were dead, and nobody followed them. */
  readonly orphans: readonly FoundProcess[];
  readonly filedIssues: readonly FiledIssue[];
  readonly issueWrites: readonly SeenRequest[];
  readonly textCalls: readonly TextCall[];
  readonly clocks: readonly ClockShift[];
  /** Null where nobody looked. */
  readonly synced: readonly SyncedFile[] | null;
  /** The sessions whose journals the harness has taken away. */
  readonly removed: readonly string[];
}

export function readHistory(folder: string): History {
  const evidence = new Evidence(folder);
  const { events, unreadable } = readEvents(join(folder, FILES.criticalEvents));
  return {
    ...readRuns(folder),
    asked: readLines(join(folder, HARNESS_FILES.asked)),
    transcript: evidence.transcript(),
    agents: evidence.agents(),
    overlaps: readLines(join(folder, HARNESS_FILES.overlaps)),
    events,
    unreadableEvents: unreadable,
    issueBodies: evidence.issueState().issues.map(({ body }) => body),
    storeWrites: readLines(join(folder, HARNESS_FILES.storeWrites)),
    left: JSON.parse(readFileSync(join(folder, HARNESS_FILES.left), 'utf8')),
    orphans: readLines(join(folder, HARNESS_FILES.orphans)),
    losses: readLines(join(folder, HARNESS_FILES.losses)),
    filedIssues: readLines(join(folder, HARNESS_FILES.filedIssues)),
    issueWrites: evidence.issueWrites(),
    textCalls: readLines(join(folder, HARNESS_FILES.textCalls)),
    clocks: readLines(join(folder, HARNESS_FILES.clocks)),
    synced: readLines(join(folder, HARNESS_FILES.synced)),
    removed: sessionsWithRemovedJournals(folder),
  };
}

/** @returns what does not hold, in sentences; empty where all is well */
export function findViolations(history: History): string[] {
  return [
    ...history.asked.flatMap((asked) => [...endViolations(history, asked), ...runViolations(history, asked)]),
    ...overlapViolations(history),
    ...orderViolations(history),
    ...eventViolations(history),
    ...untoldViolations(history),
    ...issueViolations(history),
    ...storeViolations(history.storeWrites),
    ...seenViolations(history.transcript, history.asked, history.losses),
    ...eventOrderViolations(history.filedIssues, history.losses),
    ...capViolations(history.issueWrites, history.losses, history.clocks),
    ...attemptViolations(history, history.asked),
    ...banViolations(history.textCalls, history.losses, history.clocks),
    ...syncViolations(history),
    ...history.orphans.map(({ command }) => `a process outlived bridge and reaper: ${command}`),
    ...history.left.map(({ command }) => `a process lived on after the orderly stop: ${command}`),
  ];
}

/** Ends exactly once; the text was sent at most once, and stands there by a send or an edit, unless it was given up or lost. */
function endViolations({ transcript, events, agents, losses }: History, asked: Asked): string[] {
  const session = sessionOf(asked);
  const ends = endsOf(transcript, asked);
  if (ends.length === 0) {
    const isGivenUp = events.some(
      (event) =>
        event.session_id?.startsWith(session) &&
        (event.event === 'message_undelivered' ||
          /^failure_message_(given_up|unknown)$/.test(event.action_taken ?? '')),
    );
    const isExcused = isGivenUp || isLostMessage(asked, losses, transcript, agents);
    return isExcused ? [] : [`${session} (${asked.kind}): has no end`];
  }
  const texts = new Set(ends.map(({ kind, text }) => (kind === 'answer' ? text : kind)));
  const sends = ends.filter(({ what }) => what === 'message').length;
  return [
    ...(texts.size > 1 ? [`${session}: ends more than once: ${[...texts].join(' | ')}`] : []),
    ...(sends > 1 ? [`${session}: its final text was sent ${sends} times`] : []),
  ];
}

/** At most one revival, and an answer comes from a run that began. */
function runViolations({ agents, events, transcript, losses, clocks }: History, asked: Asked): string[] {
  const session = sessionOf(asked);
  const revival = `${session}_r1`;
  const own = agents.filter((record) => record.session === session || record.session.startsWith(`${session}_`));
  const strange = own.filter((record) => record.session !== session && record.session !== revival);
  const revived = events.filter((event) => event.session_id === session && event.id.endsWith('.revived'));
  const revivals = new Set(revived.map(({ incident_id }) => incident_id));
  const first = Math.min(...revived.map(({ timestamp }) => Date.parse(timestamp)));
  const hasRevived = own.some((record) => record.session === revival);
  const answers = endsOf(transcript, asked).filter(({ kind }) => kind === 'answer');
  const answeredAt = Math.min(...answers.map(({ at }) => at));
  const again = own.filter((record) => record.event === 'start' && record.at > answeredAt);
  const unknown = answers.filter(({ text }) => !own.some(({ run }) => text.includes(run)));
  return [
    ...strange.map((record) => `${session}: was revived a second time, as ${record.session}`),
    ...(revivals.size > 1 && !trueInstants(first, clocks).some((at) => isForgottenRevival(at, losses))
      ? [`${session}: ${revivals.size} incidents say that they revived it`]
      : []),
    ...(hasRevived && revivals.size === 0 ? [`${session}: was revived, and no event says so`] : []),
    ...again.map(({ run }) => `${session}: was run again after its answer, as run ${run}`),
    ...unknown.map(({ text }) => `${session}: an answer of a run that never began: ${text}`),
  ];
}

function overlapViolations({ overlaps, agents }: History): string[] {
  const seen = overlaps.map(
    ({ session, run, earlier, alive }) =>
      `${session} (run ${run}) began while ${earlier.session} (run ${earlier.run}) lived: ${alive.map(({ command }) => command).join(', ')}`,
  );
  const stops = new Map(agents.filter(({ event }) => event === 'stop').map((record) => [record.run, record]));
  const starts = agents.filter(({ event }) => event === 'start');
  const late = starts.flatMap((first) =>
    starts
      .filter((second) => second.run !== first.run && laneOf(second.session) === laneOf(first.session))
      .filter((second) => second.at >= first.at && second.at < (stops.get(first.run)?.at ?? 0))
      .map(
        (second) => `run ${second.run} of ${second.session} began before run ${first.run} of ${first.session} stopped`,
      ),
  );
  return [...seen, ...late];
}

/** First in, first out: nobody begins before the one ahead of it has begun for the last time. */
function orderViolations({ asked, agents, losses, transcript }: History): string[] {
  const starts = agents.filter(({ event }) => event === 'start');
  const startsOf = (each: Asked) =>
    starts
      .filter(({ session }) => session === sessionOf(each) || session === `${sessionOf(each)}_r1`)
      .map(({ at }) => at);
  const knownStarts = (each: Asked) => startsOf(each).filter((at) => !isForgottenStart(at, losses));
  return asked.flatMap((first) =>
    asked
      .filter((second) => second.chat === first.chat && second.message > first.message)
      .filter((second) => Math.min(...knownStarts(second)) < Math.max(...startsOf(first)))
      .filter((second) => !isOvertakenInLoss(first, second, losses, transcript))
      .map((second) => `${sessionOf(second)} began before ${sessionOf(first)}, which stood ahead of it`),
  );
}

function eventViolations({ events, unreadableEvents, transcript, asked }: History): string[] {
  const byIncident = new Map<string, CriticalEvent[]>();
  for (const event of new Map(events.map((each) => [each.id, each])).values()) {
    byIncident.set(event.incident_id, [...(byIncident.get(event.incident_id) ?? []), event]);
  }
  const counted = [...byIncident].flatMap(([incident, lines]) => {
    if (lines[0]?.event === 'watchdog_gap') return [];
    const detected = lines.filter(({ action_taken }) => action_taken === 'detected').length;
    const finals = lines.filter(({ final }) => final).length;
    return [
      ...(detected === 1 ? [] : [`incident ${incident}: ${detected} lines say "detected"`]),
      ...(finals > 1 ? [`incident ${incident}: ${finals} final lines`] : []),
    ];
  });
  const untold = asked.filter(
    (each) =>
      endsOf(transcript, each).some(({ kind }) => kind === 'failure') &&
      !events.some((event) => event.action_taken === 'detected' && isAbout(event, sessionOf(each))),
  );
  return [
    ...(unreadableEvents > 0 ? [`${unreadableEvents} lines of the critical events cannot be parsed`] : []),
    ...counted,
    ...untold.map((each) => `${sessionOf(each)}: failed, and no critical event says so`),
  ];
}

/** What the store forgot is one event for many sessions: it names them in its details. */
function isAbout({ session_id, details }: CriticalEvent, session: string): boolean {
  const named = Array.isArray(details?.sessions) ? details.sessions : [];
  return session_id?.startsWith(session) === true || named.includes(session) || named.includes(`${session}_r1`);
}

/** Each step that an incident took in the store stands among the critical events once it is closed. */
function untoldViolations({ storeWrites, events }: History): string[] {
  const steps = new Map<string, Set<string>>();
  for (const write of storeWrites) {
    if (write.what === 'incident') steps.set(write.incident, (steps.get(write.incident) ?? new Set()).add(write.step));
  }
  const lines = new Set(events.map(({ id }) => id));
  return [...steps].flatMap(([incident, taken]) =>
    taken.has('closed')
      ? ['detected', 'revived', 'told', 'closed']
          .filter((step) => (step === 'detected' || taken.has(step)) && !lines.has(`${incident}.${step}`))
          .map((step) => `incident ${incident}: is closed, and no line says "${step}"`)
      : [],
  );
}

/** An answer is in its journal, and that on the disk, before anybody reads it: otherwise a host that dies answers it again. */
function syncViolations({ asked, transcript, synced, removed }: History): string[] {
  if (synced === null) return [];
  return asked.flatMap((each) => {
    const answer = endsOf(transcript, each).find(({ kind }) => kind === 'answer');
    const session = /^answer of (\S+)/.exec(answer?.text ?? '')?.[1];
    if (answer === undefined || session === undefined) return [];
    // The content of a removed journal is on no disk, and its answer is sent all the same.
    if (removed.includes(session)) return [];
    const isDurable = synced.some(({ at, path }) => path.includes(`/sessions/${session}/`) && at <= answer.at);
    return isDurable ? [] : [`${session}: its answer was sent before its journal was on the disk`];
  });
}

function issueViolations({ issueBodies }: History): string[] {
  const markers = issueBodies.map((body) => body.split('\n', 1)[0] ?? '');
  const twins = markers.filter((marker, index) => markers.indexOf(marker) !== index);
  const leaks = issueBodies.flatMap((body) => {
    const project = /^Project `?(\w+)/m.exec(body)?.[1];
    const named = new Set([...body.matchAll(/\btg_(\w+?)_-?\d+_\d+/g)].filter(([, owner]) => owner !== project));
    return project === undefined ? [] : [...named].map(([session]) => `an issue of ${project} names ${session}`);
  });
  return [...twins.map((marker) => `two issues of one fingerprint: ${marker}`), ...leaks];
}

/** @returns the lane of a session: here, one per chat */
export function laneOf(session: string): string {
  return session.split('_').slice(1, 3).join('_');
}

/** A line that a crash cut off is no line: what it told is told again. */
function readEvents(file: string): { events: CriticalEvent[]; unreadable: number } {
  let lines: string[] = [];
  try {
    lines = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    // No incident, no file.
  }
  const events: CriticalEvent[] = [];
  let unreadable = 0;
  for (const line of lines) {
    try {
      events.push(JSON.parse(line));
    } catch {
      unreadable += 1;
    }
  }
  return { events, unreadable };
}
