/** The record of a session for its next agent: past tense, dated, within a budget, marked as data. */

import { oneLine } from '../../src/log/visibleText.js';
import { isoTime } from '../../src/time.js';
import { filesInDoubt } from '../condition/filesInDoubt.js';
import { pastClause } from '../condition/words.js';
import { checkIfResumedSession, isStateStale } from '../fold/freshness.js';
import { lostRun } from '../fold/runs.js';
import type { Worklog } from '../fold/worklog.js';
import type { Observed } from '../observed/observed.js';
import { lastAskedOf, purposeOf } from '../observed/purpose.js';
import { ago } from '../show/status.js';
import { type Section, withinBudget } from './budget.js';
import { elsewhereLines, interruptedLines, UNRECORDED } from './crashReport.js';
import { checkpointOf, entriesOf, isOpen, notesOf, planOf, repeatedOf } from './declaredSections.js';
import { errorsOf, refusalsOf, unreadOf } from './faultSections.js';
import { FENCE_LENGTH, fenced } from './fence.js';
import { changedOf, doubtOf, inProgressOf, settledOf } from './fileSections.js';
import { handedOn } from './handedOn.js';
import { type ContextLevel, holds, MOST_ACTIONS, type Part } from './levels.js';
import { type ContextReader, nameOf, nextLines, wayBack } from './nextSection.js';
import {
  callsOf,
  costOf,
  entries,
  isAsking,
  leftOf,
  openOf,
  tasksOf,
  turnLine,
  Words,
  wordsLines,
} from './observedSections.js';
import { leftTurnOf, proofOf } from './proof.js';
import type { SessionView } from './view.js';

/** The entries of a resumed session without news: its name, and when it was active. */
const HEAD_ENTRIES = 2;

/** @returns the context as text; empty if there is nothing to say */
export function contextFor(view: SessionView, level: ContextLevel, reader: ContextReader = {}): string {
  const { log, fold, root, settings } = view;
  if (log.created_at === null && log.last_activity === null && fold === null) return '';
  const words = new Words(view.redact);
  const has = (...parts: readonly Part[]) => holds(level, ...parts);
  const ofTurn = fold !== null && has('turn') ? fold : null;
  const left = isLeft(view, level) ? fold : null;
  const doubts = has('files_in_doubt') || left !== null;
  const files = doubts || has('files_in_progress') ? (view.doubtful ?? filesInDoubt({ log, fold }, root)) : [];
  const plan = [...log.steps.values()];
  const sections = [
    headOf(view, level, words, reader),
    ...(left === null ? [] : [openOf(left, words, log.permission_asked_at)]),
    ...(has('turn') || left !== null ? [leftOf(view.left, words)] : []),
    doubts ? doubtOf(files, words) : inProgressOf(files, words),
    settledOf(doubts ? view.settled : [], words),
    ...(has('steps', 'open_steps') ? [planOf(log, { level, fold }, words), handedOn(log, words)] : []),
    ...(fold !== null && has('steps') ? [tasksOf(fold, words, plan)] : []),
    ...(fold !== null && has('open_steps') ? [tasksOf(fold, words, plan, isOpen)] : []),
    ...(fold !== null && has('errors') ? [errorsOf(fold, words), refusalsOf(fold, words)] : []),
    ...(has('notes', 'top_notes', 'critical_notes') ? [notesOf([...view.pinned, ...log.notes], level, words)] : []),
    ...(fold !== null && has('changed_files') ? [changedOf(fold, root, words, files)] : []),
    ...(has('turn') ? [entriesOf(log, MOST_ACTIONS[level], words)] : []),
    ...(ofTurn === null ? [] : [callsOf(ofTurn, MOST_ACTIONS[level], words), costOf(ofTurn), unreadOf(ofTurn)]),
    ...(has('checkpoint') ? [checkpointOf(log, words)] : []),
    ...(fold !== null && has('repeated_errors') ? [repeatedOf(fold, words)] : []),
    { title: 'Since then:', entries: entries('files', has('changes') ? view.changes : []) },
    nextLines(view, level, reader, words),
    { title: '', entries: entries('next', wayBack(view, level, reader.subAgent ?? null, words)) },
    ...(reader.further ?? []),
  ];
  if (level === 'resumed' && sections.flatMap((section) => section.entries).length <= HEAD_ENTRIES)
    return restedLine(view, words);
  return fenced(withinBudget(sections, settings.context[level] - (reader.used ?? 0) - FENCE_LENGTH));
}

/** @returns for a resumed conversation without other news, how long it rested; empty if it did not */
function restedLine(view: SessionView, words: Words): string {
  const { log, fold, now, settings } = view;
  const last = lastOf(log, fold);
  const hours = settings.freshness;
  if (!checkIfResumedSession(last, now, hours) && !isStateStale(last, now, hours).stale) return '';
  const name = nameOf(log, words);
  const line = `Session ${name}. ${timesOf(view, 'resumed')}`;
  // A plain name holds no words of others, so it needs no fence.
  return name === log.session_id ? line : fenced([line]);
}

/**
 * @param further sections after them
 * @returns the notes of the workspace, without a session; empty if there is nothing to say
 */
export function notesFor(
  { settings, pinned, redact }: SessionView,
  level: ContextLevel,
  further: readonly Section[],
): string {
  const lines = withinBudget(
    [notesOf(pinned, level, new Words(redact)), ...further],
    settings.context[level] - FENCE_LENGTH,
  );
  return fenced(lines);
}

/**
 * @param id of the session whose record cannot be read in time
 * @param proof that its agent is gone, in a clause. Null if it is not known to be gone
 */
export function unshownContext(id: string, proof: string | null): string {
  const name = new Words((text) => text).name(id);
  return fenced([
    `The record of session ${name} takes too long to be read here. It is shown by: watchkeeper track resume ${name}`,
    ...(proof === null ? [] : [`Its agent may have left something half done: ${proof}.`]),
  ]);
}

function headOf(
  view: SessionView,
  level: ContextLevel,
  words: Words,
  { end = null, message = '' }: ContextReader,
): Section {
  const { log, fold, here } = view;
  const place = holds(level, 'place') ? view.place : null;
  // Without `texts`, a prompt is not kept.
  const known = purposeOf(log, fold);
  const purpose = isPartOf(known, view.redact(message)) ? '' : known;
  return {
    title: '',
    entries: [
      ...entries('purpose', [
        `Session ${nameOf(log, words)}${purpose === '' ? '' : `: ${words.text(purpose)}`}`,
        ...(holds(level, 'subject') ? askedLines(view, level, words) : []),
        ...(holds(level, 'times') ? [timesOf(view, level)] : []),
        ...(log.end?.summary ? [`How it ended: ${words.text(log.end.summary)}`] : []),
        ...interruptedLines(view.agent, proofOf(log, fold, here)),
        ...(holds(level, 'way_to_resume') ? elsewhereLines(log, here, (host) => words.name(host)) : []),
        ...lostLines(view, level),
        ...(fold === null && known === '' && view.agent === 'crashed'
          ? [`What was asked is unknown: ${UNRECORDED}`]
          : []),
        ...(place === null ? [] : [sentence(place)]),
        ...(end === null ? [] : [`How its run ended: ${words.text(end)}`]),
        ...(fold === null || !isLeft(view, level)
          ? []
          : [
              ...askedLines(view, level, words),
              // One that was cut off is told of as such.
              ...(view.agent === 'cut_off' && !isAsking(fold) ? [] : [turnLine(fold, words)]),
              ...(holds(level, 'turn') ? wordsLines(fold, words) : []),
            ]),
      ]),
      ...entries(
        'rest',
        holds(level, 'framework') && log.facts?.set.framework !== undefined
          ? [`Framework: ${words.text(log.facts.set.framework)}`]
          : [],
      ),
    ],
  };
}

/** @returns whether a text, which may have been cut at its end, is the beginning of a message */
function isPartOf(text: string, message: string): boolean {
  const known = oneLine(text).replace(/…$/, '').trim();
  return known !== '' && oneLine(message).trim().startsWith(known);
}

/** A second attempt's own message says what is asked. */
function askedLines({ log, fold, here }: SessionView, level: ContextLevel, words: Words): string[] {
  const asked = level === 'revival' ? null : lastAskedOf(log, fold, here);
  return asked === null ? [] : [`It was last asked: ${words.text(asked)}`];
}

/** A resumed conversation already has its history. It lacks only that it was killed mid-turn. */
function isLeft({ fold }: SessionView, level: ContextLevel): boolean {
  return (
    fold !== null &&
    (holds(level, 'turn') || (level === 'resumed' && (fold.isTurnOpen || fold.waitingOrders.length > 0)))
  );
}

/** A crashed agent is named even if another one has come, as long as it left processes or open turns. */
function lostLines({ log, agent, fold, left }: SessionView, level: ContextLevel): string[] {
  const run = agent === 'crashed' || level === 'revival' || level === 'compacted' ? null : lostRun(log);
  // That one is told as the present one's.
  if (run?.ended_at == null || (agent === 'cut_off' && leftTurnOf(log, fold, log.runs.at(-1) ?? null) === run))
    return [];
  if (left.length === 0 && !fold?.isTurnOpen && !fold?.leftTurns.length) return [];
  const gone = `process ${run.process.pid} was gone at ${isoTime(run.ended_at)} and had not reported its end`;
  return [`An agent of it crashed: ${gone}.`];
}

/** The second attempt knows that the first one was ended. */
function timesOf({ log, fold, now }: SessionView, level: ContextLevel): string {
  const began = log.created_at ?? fold?.firstActivity ?? null;
  const last = lastOf(log, fold);
  const clauses = [
    ...((level === 'revival' || level === 'resumed') && began !== null ? [`it began at ${isoTime(began)}`] : []),
    ...(level !== 'revival' && log.created_at !== null ? [pastClause(log.lifecycle, log.end?.reason ?? null)] : []),
    last === null ? 'no activity is known' : `last activity ${isoTime(last)}, ${ago(now - last)}`,
  ];
  return sentence(clauses.join('; '));
}

function lastOf({ last_activity }: Worklog, fold: Observed | null): number | null {
  return Math.max(last_activity ?? 0, fold?.lastActivity ?? 0) || null;
}

function sentence(clauses: string): string {
  return `${clauses.charAt(0).toUpperCase()}${clauses.slice(1)}.`;
}
