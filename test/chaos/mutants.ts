/**
 * Faults of the past, put back by hand: each is a small change of the sources that the harness must catch. A harness that
 * lets one of them pass would let it pass when somebody makes it again.
 */
import { HOUR, SECOND } from '../../src/time.js';
import type { Pace } from './cast.js';
import type { Fault, Kind, RoundPlan } from './plan.js';

export interface Edit {
  /** Below the package. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** What provokes it: rounds of `npm run prove -- chaos`, played again and again, or `npm run prove -- adversary`. */
  readonly provokedBy: readonly RoundPlan[] | 'adversary';
  /** As that of every run where it is left out. */
  readonly pace?: Partial<Pace>;
  /** A violation that says so. */
  readonly caughtBy: RegExp;
}

type Lanes = readonly [readonly Kind[], readonly Kind[]];

function round(fault: Fault, lanes: Lanes, rest: Partial<RoundPlan> = {}): RoundPlan {
  return {
    round: 0,
    lanes,
    fault,
    when: 'run',
    delayMs: 100,
    awayMs: 100,
    stoppedMs: null,
    sinkFaults: [],
    isIssueKnown: false,
    isCancelled: false,
    isRestarted: false,
    ...rest,
  };
}

const AGENT_DIES: Fault = { kind: 'signal', target: 'agent', signal: 'SIGKILL' };
const BRIDGE_DIES: Fault = { kind: 'signal', target: 'bridge', signal: 'SIGKILL' };
const HOST_DIES: Fault = { kind: 'store', loss: 'host_died' };
const LOST_WITH_BRIDGE: Fault = { kind: 'store', loss: 'lost_with_bridge' };
const SECOND_LOST: Fault = { kind: 'store', loss: 'rolled_back' };
const LATE_REVIVAL: Fault = { kind: 'failpoint', name: 'commit.revive.after', action: 'delay', nth: 1 };
/** So long that it is the next bridge that finds the runs of the one that was killed. */
const LONG_LEASE: Partial<Pace> = { leaseMs: 10_000 };
const KILLED_AGAIN: Partial<RoundPlan> = { blows: 4, delayMs: 0 };
const HOUR_FORTH: Fault = { kind: 'clock', byMs: HOUR, awaits: 'incident', heldMs: 500, isBridgeKilled: false };
const SET_BACK: Fault = { kind: 'clock', byMs: -30 * SECOND, awaits: 'nothing', heldMs: 800, isBridgeKilled: true };
const CUT_DOWN = 'bridge/runs/cutDown.ts';
const PART_SENDER = 'bridge/telegram/delivery/partSender.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'progress edits over a final text',
    edits: [
      {
        file: PART_SENDER,
        find: "    try {\n      failpoint('answer.placeholder.before');",
        replace:
          "    if (entry.progress_message_id !== null) return again({ edit_into: entry.progress_message_id }, false, null);\n    try {\n      failpoint('answer.placeholder.before');",
      },
      {
        file: 'bridge/telegram/progress/progressEdits.ts',
        find: 'if (!(await mayEdit())) return false;',
        replace: 'await mayEdit();',
      },
    ],
    provokedBy: [
      round(BRIDGE_DIES, [['slow'], ['slow']], { sinkFaults: ['answer_lost'] }),
      round(LATE_REVIVAL, [['crashes'], ['silent']], { sinkFaults: ['answer_lost'] }),
    ],
    caughtBy: /was edited into/,
  },
  {
    name: 'nobody asks the disk whether a message was answered',
    edits: [
      {
        file: 'monitoring/rounds/answeredLocally.ts',
        find: "if (line?.event !== 'session_end' || line.reason !== 'answered') return null;",
        replace: "if (line?.event !== 'session_end' || line.reason !== 'answered again') return null;",
      },
      {
        file: 'monitoring/rounds/answeredLocally.ts',
        find: 'if (kind === null) return null;',
        replace: "if (kind === null || kind === 'answer') return null;",
      },
    ],
    provokedBy: [0, 300, 600].map((delayMs) =>
      round(
        HOST_DIES,
        [
          ['slow', 'quick'],
          ['quick', 'slow', 'quick'],
        ],
        { delayMs },
      ),
    ),
    caughtBy: /ends more than once|final texts stand|was run again after its answer/,
  },
  {
    name: 'the memory of sends is not asked how a message ended',
    edits: [
      {
        file: 'monitoring/rounds/answeredLocally.ts',
        find: 'if (kind === null) return null;',
        replace: "if (kind === null || session_id !== '') return null;",
      },
    ],
    provokedBy: [0, 200, 400].map((delayMs) =>
      round(HOST_DIES, [['slow', 'quick'], ['slow']], { delayMs, isCancelled: true }),
    ),
    caughtBy: /ends more than once|final texts stand|was run again after/,
  },
  {
    name: 'the journal of an answer is not synced',
    edits: [
      {
        file: 'src/journal/durable.ts',
        find: 'await syncFile(file.fd);',
        replace: 'if (file.fd < 0) await syncFile(file.fd);',
      },
    ],
    provokedBy: [round(AGENT_DIES, [['quick', 'slow'], ['slow']])],
    caughtBy: /before its journal was on the disk/,
  },
  {
    name: 'the hourly cap does not see an issue whose creation is in doubt',
    edits: [
      {
        file: 'monitoring/incident/issue/issueLedger.ts',
        find: '...others.map(({ creating_since }) => creating_since ?? 0)',
        replace: '...others.map(() => 0)',
      },
    ],
    provokedBy: [round(AGENT_DIES, [['crashes'], ['silent']], { sinkFaults: ['issue_lost'] })],
    caughtBy: /got a second new issue within an hour/,
  },
  {
    name: 'a run without a record is dropped',
    edits: [
      {
        file: 'bridge/runs/forgotten.ts',
        find: 'if (found !== null) return false;',
        replace: 'if (found === null || tries >= 0) return false;',
      },
      {
        file: 'bridge/runs/forgotten.ts',
        find: "if (isMissing) await storeMissingEnd(context, known, ended, 'unsent');",
        replace: "if (isMissing && end.kind === 'failed') await storeMissingEnd(context, known, ended, 'unsent');",
      },
    ],
    provokedBy: [round({ kind: 'store', loss: 'flushed' }, [['slow'], ['slow', 'slow']], { patienceMs: 25_000 })],
    caughtBy: /has no end/,
  },
  {
    name: 'what an empty Redis has lost together with its bridge is not looked for',
    edits: [
      {
        file: 'bridge/runs/lostMessages.ts',
        find: 'if (this.#isExpected(message) && (await this.#isMissing(message.session))) missing.push(message);',
        replace: 'if (!this.#isExpected(message) && (await this.#isMissing(message.session))) missing.push(message);',
      },
    ],
    provokedBy: [round(LOST_WITH_BRIDGE, [['slow', 'quick'], ['slow']], { patienceMs: 25_000 })],
    caughtBy: /has no end/,
  },
  {
    name: 'the limit mark is set after the start of the agent',
    edits: [
      {
        file: 'bridge/agents/program/startProgram.ts',
        find: 'const { command, args } = markedLine(lineOfUser(line, request.user), request);',
        replace:
          'const { command, args } = lineOfUser(line, request.user);\n  const late = markedLine({ command, args }, request);',
      },
      {
        file: 'bridge/agents/program/startProgram.ts',
        find: '  if (child.pid === undefined) return endedRun(error.then((late) => notStarted(program.command, late)));\n',
        replace:
          "  if (child.pid === undefined) return endedRun(error.then((late) => notStarted(program.command, late)));\n  spawn(late.command, ['--pid', String(child.pid), ...late.args.slice(0, late.args.indexOf('--'))], { stdio: 'ignore' });\n",
      },
    ],
    provokedBy: 'adversary',
    caughtBy: /shed its environment/,
  },
  {
    name: 'what was sent is not remembered on disk',
    edits: [
      {
        file: 'bridge/chat/sendMemory.ts',
        find: 'return isNeedless ? Number.POSITIVE_INFINITY : partsOf(text, sent);',
        replace: 'return isNeedless && text.of < 0 ? Number.POSITIVE_INFINITY : partsOf(text, []);',
      },
      { file: 'bridge/chat/sendMemory.ts', find: 'if (earlier.length === 0) {', replace: 'if (earlier.length >= 0) {' },
    ],
    provokedBy: [100, 500, 900].map((delayMs) =>
      round(
        SECOND_LOST,
        [
          ['quick', 'slow'],
          ['fails', 'quick'],
        ],
        { delayMs },
      ),
    ),
    caughtBy: /final text was sent|ends more than once/,
  },
  {
    name: 'the issue of an outage names the sessions of all projects',
    edits: [
      {
        file: 'monitoring/incident/outage/outageIncidents.ts',
        find: 'const own = affected.filter(({ project_key }) => project_key === projectKey);',
        replace: "const own = affected.filter(({ project_key }) => project_key === projectKey || project_key !== '');",
      },
    ],
    provokedBy: [
      round(AGENT_DIES, [
        ['exits', 'exits'],
        ['exits', 'exits'],
      ]),
    ],
    caughtBy: /an issue of \S+ names/,
  },
  {
    name: 'the issue is filed before the critical event is written',
    edits: [
      {
        file: 'monitoring/incident/saga/saga.ts',
        find: "    await logStep(this.#context, incident, session, { step: 'detected', event, action: 'detected' });",
        replace:
          "    void this.#context.clock\n      .sleep(1_500, new AbortController().signal)\n      .then(() => logStep(this.#context, incident, session, { step: 'detected', event, action: 'detected' }));",
      },
    ],
    provokedBy: [round(AGENT_DIES, [['crashes'], ['fails']])],
    caughtBy: /was filed before a critical event told/,
  },
  {
    name: 'a failure message in doubt is sent again',
    edits: [
      {
        file: PART_SENDER,
        find: "const claim = inDoubt ? 'in_doubt' : await this.#memory.claim(text, entry.parts_done);",
        replace:
          "const sure = entry.kind === 'failure' ? 'ours' : await this.#memory.claim(text, entry.parts_done);\n    const claim = inDoubt && sure !== 'ours' ? 'in_doubt' : sure;",
      },
    ],
    provokedBy: [round(AGENT_DIES, [['fails'], ['fails']], { sinkFaults: ['answer_lost', 'answer_reset'] })],
    caughtBy: /its final text was sent/,
  },
  {
    name: 'the reaper ends nothing',
    edits: [
      {
        file: 'bridge/runs/reaperMain.ts',
        find: "if (verdict !== 'farewell') await",
        replace: "if (verdict !== 'farewell' && runs.length > 1_000) await",
      },
    ],
    provokedBy: [round({ kind: 'absence' }, [['stubborn'], ['silent']], { delayMs: 600 })],
    caughtBy: /outlived bridge and reaper/,
  },
  {
    name: 'a lost run without a call never began',
    edits: [
      {
        file: CUT_DOWN,
        find: 'else if (start !== null && !WRITTEN_BY_US.has(record.event)) return false;',
        replace:
          'else if (start !== null && !WRITTEN_BY_US.has(record.event) && /_tool_use$/.test(String(record.event))) return false;',
      },
    ],
    provokedBy: [round(BRIDGE_DIES, [['long'], []], { ...KILLED_AGAIN, delayMs: 600, agents: ['text', 'text'] })],
    pace: LONG_LEASE,
    caughtBy: /runs of it were heard of/,
  },
  {
    name: 'a lost run of any age never began if nothing was heard of it',
    edits: [
      {
        file: CUT_DOWN,
        find: 'return sinceBootMs - since_boot_ms < youngRunMs;',
        replace: 'return sinceBootMs - since_boot_ms < 1_000 * youngRunMs;',
      },
    ],
    provokedBy: [
      round({ kind: 'frozen', forMs: 4_000 }, [['long'], []], { ...KILLED_AGAIN, agents: ['mute', 'mute'] }),
    ],
    pace: LONG_LEASE,
    caughtBy: /runs of it were heard of/,
  },
  {
    name: 'the time says whose signs a journal has, not the run',
    edits: [
      {
        file: CUT_DOWN,
        find: 'else if (start !== null && !WRITTEN_BY_US.has(record.event)) return false;',
        replace:
          'else if (start !== null && !WRITTEN_BY_US.has(record.event) && Date.parse(String(record.timestamp)) >= run.started_at) return false;',
      },
    ],
    provokedBy: [round(SET_BACK, [['long'], []], { ...KILLED_AGAIN, agents: ['text', 'text'] })],
    pace: LONG_LEASE,
    caughtBy: /runs of it were heard of/,
  },
  {
    name: 'a second attempt that the store forgot waits behind the others',
    edits: [
      {
        file: 'src/jobs/lanes.ts',
        find: 'return attempt === 2 || interruptions > 0;',
        replace: 'return attempt === 2 && interruptions > 1_000;',
      },
    ],
    // The second message of the other lane has the only place when the second attempt is granted, so that one waits.
    provokedBy: [
      round(
        { kind: 'store', loss: 'flushed' },
        [
          ['crashes', 'quick'],
          ['long', 'long'],
        ],
        { when: 'incident', delayMs: 1_200 },
      ),
    ],
    pace: { concurrency: 1 },
    caughtBy: /stood ahead of it/,
  },
  {
    name: 'a message is claimed before it is due',
    edits: [
      {
        file: 'src/jobs/outbox.ts',
        find: 'if (isDueLater(before, now)) return null;',
        replace: 'if (isDueLater(before, now) && claimMs < 0) return null;',
      },
    ],
    provokedBy: [
      round(
        AGENT_DIES,
        [
          ['fails', 'crashes'],
          ['fails', 'quick'],
        ],
        { sinkFaults: ['answer_banned'] },
      ),
    ],
    caughtBy: /a send of .* was tried again after/,
  },
  {
    name: 'a stored instant binds for as long as it is ahead',
    edits: [
      {
        file: 'src/time.ts',
        find: 'return instant > now && instant - now <= lengthMs;',
        replace: 'return instant > now && lengthMs >= 0;',
      },
    ],
    provokedBy: [
      round(
        HOUR_FORTH,
        [
          ['silent', 'quick'],
          ['crashes', 'quick'],
        ],
        { patienceMs: 30_000 },
      ),
    ],
    caughtBy: /has no end/,
  },
  {
    name: 'the watchdog does not follow a clock that is set back',
    edits: [
      {
        file: 'monitoring/watch/agenda.ts',
        find: 'if (movedMs > -SECOND) return;',
        replace: 'if (movedMs > -SECOND || movedMs < 0) return;',
      },
    ],
    provokedBy: [
      round(
        HOUR_FORTH,
        [
          ['silent', 'quick'],
          ['crashes', 'quick'],
        ],
        { patienceMs: 30_000 },
      ),
    ],
    pace: { checks: '0 0 3 * * *' },
    caughtBy: /has no end/,
  },
];
