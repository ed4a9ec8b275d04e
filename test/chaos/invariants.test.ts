/** The outside checker: it finds each violation in a history that has it, and none in one that has none. */
import { describe, expect, test } from '@jest/globals';
import type { CriticalEvent } from '../../src/jobs/incidents.js';
import type { AgentRecord } from '../e2e/evidence.js';
import type { SeenRequest } from '../peers/github/proxy.js';
import type { TranscriptEntry } from '../peers/telegram/transcript.js';
import type { TextCall } from './bans.js';
import { findViolations, type History } from './invariants.js';
import type { Loss } from './losses.js';

import type { Asked } from './records.js';

const CHAT = 1_000;
const FIRST = 'tg_p0_1000_1';
const SECOND = 'tg_p0_1000_2';
const SORRY = "Sorry, I ran into an issue and couldn't recover. The error has been logged for investigation.";

function asked(message: number): Asked {
  return { at: 0, round: 0, project: 'p0', chat: CHAT, message, kind: 'crashes' };
}

function agent(event: AgentRecord['event'], session: string, run: string, at: number): AgentRecord {
  return { at, event, session, run, pid: at, attempt: session.endsWith('_r1') ? 2 : 1 };
}

function said(text: string, reply_to: number, message_id: number, what: TranscriptEntry['what'] = 'message') {
  return { time: '2026-02-05T10:00:00.000Z', chat: CHAT, thread: null, who: 'bot', what, message_id, reply_to, text };
}

function created(project: string, rule: string, minute: number): SeenRequest {
  const time = `2026-02-05T10:${String(minute).padStart(2, '0')}:00.000Z`;
  const body = { title: `[Watchdog] ${project}: ${rule}`, body: '' };
  return { time, method: 'POST', path: '/repos/example/fleet/issues', body, status: 201, fault: null };
}

function event(incident: string, step: string, session_id: string, rest: Partial<CriticalEvent> = {}): CriticalEvent {
  const action_taken = step === 'detected' ? 'detected' : 'revival_attempted';
  return {
    v: 1,
    id: `${incident}.${step}`,
    incident_id: incident,
    final: step === 'closed',
    timestamp: '2026-02-05T10:00:00.000Z',
    event: 'session_unhealthy',
    session_id,
    project_key: 'p0',
    reason: 'run_lost',
    rule: 'crash',
    action_taken,
    github_issue: null,
    details: null,
    ...rest,
  };
}

/** Two messages of one lane: the first was killed and revived, the second answered at once. */
const WELL: History = {
  asked: [asked(1), asked(2)],
  transcript: [
    said('Thinking · 2 s · 1 call', 1, 10),
    said(`answer of ${FIRST}_r1 by B`, 1, 11),
    said('Done in 4 s.', 1, 10, 'edit'),
    said(`answer of ${SECOND} by C`, 2, 12),
  ],
  agents: [
    agent('start', FIRST, 'A', 100),
    agent('start', `${FIRST}_r1`, 'B', 200),
    agent('stop', `${FIRST}_r1`, 'B', 300),
    agent('start', SECOND, 'C', 400),
    agent('stop', SECOND, 'C', 500),
  ],
  overlaps: [],
  events: [event('I', 'detected', FIRST), event('I', 'revived', FIRST), event('I', 'closed', FIRST)],
  unreadableEvents: 0,
  issueBodies: ['<!-- watchkeeper v1 a -->\nx', '<!-- watchkeeper v1 b -->\nx'],
  storeWrites: [
    { what: 'acting', script: 1, by: 'bridge', owner: 'one' },
    { what: 'holder', script: 2, lane: 'L', run: 'A' },
    { what: 'run_lease', script: 2, by: 'bridge', session: FIRST },
    { what: 'run_lease', script: 3, by: 'bridge', session: FIRST },
    { what: 'incident', script: 4, by: 'bridge', incident: 'I', step: 'opened', isDecided: false },
    { what: 'acting', script: 5, by: 'watchdog', owner: 'two' },
    { what: 'incident', script: 6, by: 'watchdog', incident: 'I', step: 'revived', isDecided: false },
    { what: 'holder', script: 7, lane: 'L', run: null },
    { what: 'incident', script: 8, by: 'watchdog', incident: 'I', step: 'closed', isDecided: true },
  ],
  left: [],
  orphans: [],
  steps: [],
  journaledRuns: ['A', 'B', 'C'],
  youngRunMs: 2_000,
  textCalls: [],
  clocks: [],
  losses: [],
  filedIssues: [{ at: 0, title: '[Watchdog] p0: crash', unknown: [] }],
  issueWrites: [created('p0', 'crash', 0)],
  removed: [],
  synced: [`${FIRST}_r1`, SECOND].map((session) => ({ at: 0, path: `/logs/sessions/${session}/tool_use.jsonl` })),
};

// rule: the-chaos-judge-finds-faults
test('a healthy history has no violations', () => {
  expect(findViolations(WELL)).toEqual([]);
});

test('an edit that repeats the text of its one send is not a violation', () => {
  const edit = said(`answer of ${SECOND} by C`, 2, 12, 'edit');
  expect(findViolations({ ...WELL, transcript: [...WELL.transcript, edit] })).toEqual([]);
});

describe('what the store lost', () => {
  const AT = Date.parse('2026-02-05T10:00:00.000Z');
  const unended = { ...WELL, asked: [asked(1), { ...asked(2), at: AT }], transcript: WELL.transcript.slice(0, 3) };
  const rolledBack: Loss = { what: 'rolled_back', at: AT - 500, until: AT + 500 };

  test('excuses a message that was accepted in the lost second and had not begun', () => {
    expect(findViolations({ ...unended, agents: WELL.agents.slice(0, 3), losses: [rolledBack] })).toEqual([]);
  });

  test('excuses a new message that starts first if it came before the bridge noticed, not a later one', () => {
    const early = agent('start', SECOND, 'D', 120);
    const agents = [...WELL.agents.slice(0, 1), early, ...WELL.agents.slice(1)];
    const orderOf = (cameAt: number, what: Loss['what'], at: number) =>
      findViolations({
        ...WELL,
        agents,
        asked: [asked(1), { ...asked(2), at: cameAt }],
        transcript: WELL.transcript.filter(({ what: kind }) => kind !== 'reaction'),
        losses: [{ what, at, until: at + 10 }],
      }).filter((line) => line.includes('stood ahead'));
    const { at: waitedSince } = asked(1);
    expect(orderOf(waitedSince + 3_000, 'flushed', waitedSince + 1_000)).toEqual([]);
    expect(orderOf(waitedSince + 9_000, 'flushed', waitedSince + 1_000)).toHaveLength(1);
    expect(orderOf(waitedSince + 500, 'flushed', waitedSince + 1_000)).toHaveLength(1);
    // What was accepted before the second that is lost is not forgotten.
    expect(orderOf(waitedSince + 3_000, 'rolled_back', waitedSince + 1_000)).toHaveLength(1);
    expect(orderOf(waitedSince + 3_000, 'rolled_back', waitedSince)).toEqual([]);
  });

  // rule: the-chaos-judge-finds-faults
  test('excuses a wrong order after a host died with its store, not on a host that lived or for a later start', () => {
    const early = agent('start', SECOND, 'D', 120);
    const history = { ...WELL, agents: [...WELL.agents.slice(0, 1), early, ...WELL.agents.slice(1)] };
    const orderOf = (what: Loss['what'], at: number, until: number) =>
      findViolations({ ...history, losses: [{ what, at, until }] }).filter((line) => line.includes('stood ahead'));
    expect(orderOf('host_died', 110, 150)).toEqual([]);
    expect(orderOf('rolled_back', 110, 150)).toEqual([`${SECOND} began before ${FIRST}, which stood ahead of it`]);
    expect(orderOf('host_died', 130, 150)).toEqual([`${SECOND} began before ${FIRST}, which stood ahead of it`]);
  });

  test('excuses a progress line left at work that only a dead bridge knew, not one of a bridge that lived', () => {
    const shown = (seconds: number, what: TranscriptEntry['what'], text: string, id: number) => ({
      ...said(text, 2, id, what),
      time: new Date(AT + seconds * 1_000).toISOString(),
    });
    const stands = (...losses: Loss[]) =>
      findViolations({
        ...WELL,
        losses,
        transcript: [
          ...WELL.transcript.slice(0, 3),
          shown(0, 'message', 'Started.', 12),
          shown(9, 'edit', 'Bash: make · 8 s · 1 step', 12),
          shown(10, 'message', `answer of ${SECOND} by C`, 13),
        ],
      }).filter((line) => line.includes('still shows'));
    const flushed = (seconds: number): Loss => ({
      what: 'flushed',
      at: AT + seconds * 1_000,
      until: AT + seconds * 1_000,
    });
    const broken = (seconds: number): Loss => ({ ...flushed(seconds), what: 'broken' });
    expect(stands(flushed(10), broken(11))).toEqual([]);
    expect(stands(flushed(10))).toHaveLength(1);
    expect(stands(broken(11))).toHaveLength(1);
    expect(stands(flushed(20), broken(21))).toHaveLength(1);
    // The register beside the logs knows the progress message.
    expect(stands({ ...flushed(10), what: 'lost_with_bridge' }, broken(10))).toHaveLength(1);
  });

  test('excuses an issue before its event while the disk is full, not one that is filed later', () => {
    const filedIssues = [...WELL.filedIssues, { at: 1_000, title: '[Watchdog] p0: crash', unknown: [FIRST] }];
    const full = (at: number): Loss => ({ what: 'broken', at, until: at + 500, isDiskFull: true });
    expect(findViolations({ ...WELL, filedIssues, losses: [full(900)] })).toEqual([]);
    expect(findViolations({ ...WELL, filedIssues, losses: [full(400)] })).toHaveLength(1);
    expect(findViolations({ ...WELL, filedIssues, losses: [{ ...full(900), isDiskFull: false }] })).toHaveLength(1);
  });

  test('excuses that a bridge stores the second attempt that it runs again, not that it begins one', () => {
    const writes = (lane: string) =>
      findViolations({
        ...WELL,
        storeWrites: [
          ...WELL.storeWrites,
          { what: 'incident', script: 9, by: 'watchdog', incident: 'J', step: 'released', isDecided: false },
          { what: 'holder', script: 10, lane: 'M', run: null },
          { what: 'incident', script: 10, by: 'bridge', incident: 'J', step: 'revived', isDecided: false },
          { what: 'holder', script: lane === 'M' ? 10 : 11, lane, run: 'D' },
        ],
      });
    expect(writes('M')).toEqual([]);
    expect(writes('N')).toEqual([
      'incident J was taken from released to revived by the bridge while the watchdog acted',
    ]);
  });

  // rule: the-chaos-judge-finds-faults
  test.each<[string, Loss, Partial<History>]>([
    ['one that was accepted before', { ...rolledBack, at: AT + 100 }, { agents: WELL.agents.slice(0, 3) }],
    ['one that had begun', rolledBack, {}],
    [
      'one that waited for a living bridge when everything was forgotten',
      { ...rolledBack, what: 'flushed' },
      { agents: WELL.agents.slice(0, 3) },
    ],
    [
      'one that a bridge ran when everything was forgotten',
      { ...rolledBack, what: 'flushed' },
      {
        asked: [asked(1), { ...asked(2), at: AT, kind: 'slow' }],
      },
    ],
    ['one that everything was forgotten of, its bridge included', { ...rolledBack, what: 'lost_with_bridge' }, {}],
  ])('does not excuse %s', (_, loss, change) => {
    expect(findViolations({ ...unended, ...change, losses: [loss] })).toEqual([
      `${SECOND} (${change.asked?.[1]?.kind ?? 'crashes'}): has no end`,
    ]);
  });
});

test('an answer whose journal was removed is on no disk, but one whose journal was left is', () => {
  const unsynced = (...removed: string[]) =>
    findViolations({ ...WELL, synced: [], removed }).filter((line) => line.includes('on the disk'));
  expect(unsynced(`${FIRST}_r1`, SECOND)).toEqual([]);
  expect(unsynced(`${FIRST}_r1`)).toEqual([`${SECOND}: its answer was sent before its journal was on the disk`]);
  expect(unsynced()).toHaveLength(2);
});

test('a failure that an event names in its details, beside other sessions, counts as reported', () => {
  const agents = WELL.agents.filter(({ event, session }) => event === 'start' || session !== SECOND);
  const failed = { ...WELL, agents, transcript: [...WELL.transcript.slice(0, 3), said(SORRY, 2, 13)] };
  const forgot = (...sessions: string[]) => {
    const rest = { event: 'store_forgot', session_id: null, final: true, details: { sessions } } as const;
    return { ...failed, events: [...WELL.events, event('F', 'detected', FIRST, rest)] };
  };
  expect(findViolations(forgot('tg_p1_1001_1', SECOND))).toEqual([]);
  const untold = `${SECOND}: failed, and no critical event says so`;
  expect(findViolations(forgot('tg_p1_1001_1', `${SECOND}2`))).toEqual([untold]);
});

/** A message that was run three times, each time for as long as an agent that works in earnest. */
function threeRuns(ms: number): Partial<History> {
  const runs = ['X', 'Y', 'Z'].map((run, index) => ({ run, session: index === 0 ? SECOND : `${SECOND}_r1` }));
  return {
    agents: [
      ...WELL.agents.slice(0, 3),
      ...runs.map(({ run, session }, index) => agent('start', session, run, 1_000 + index)),
    ],
    steps: runs.map(({ run, session }, index) => ({ at: 1_000 + index + ms, session, run, step: 1 })),
  };
}
const heard = (change: Partial<History>) =>
  findViolations({ ...WELL, ...change }).filter((line) => line.includes('heard of'));

describe('the count of runs', () => {
  const found = [`${SECOND} (crashes): 3 runs of it were heard of: X, Y, Z`];

  // rule: the-chaos-judge-finds-faults
  test('finds a third run that has worked, whether its bridge heard of it or not', () => {
    expect(heard(threeRuns(2_000))).toEqual(found);
    expect(heard({ ...threeRuns(0), journaledRuns: ['X', 'Y', 'Z'] })).toEqual(found);
  });

  test('leaves out runs that were lost before anything was heard of them', () => {
    expect(heard(threeRuns(1_900))).toEqual([]);
    expect(heard({ ...threeRuns(0), journaledRuns: ['X', 'Z'] })).toEqual([]);
  });

  test('leaves out a run that an orderly stop ended, not one that came after the stop or that was killed', () => {
    const three = threeRuns(2_000);
    const broken = (at: number, isOrderly: boolean): Loss => ({ what: 'broken', at, until: at, isOrderly });
    expect(heard({ ...three, losses: [broken(1_000.5, true)] })).toEqual([]);
    expect(heard({ ...three, losses: [broken(1_000.5, false)] })).toEqual(found);
    expect(heard({ ...three, losses: [broken(-1, true)] })).toEqual(found);
  });

  test('leaves out a run whose start the store forgot, not one that it had stored before', () => {
    const three = threeRuns(2_000);
    const died = (at: number): Loss => ({ what: 'host_died', at, until: at + 10 });
    expect(heard({ ...three, losses: [died(995)] })).toEqual([]);
    expect(heard({ ...three, losses: [died(1_003)] })).toEqual(found);
  });
});

describe('a ban by Telegram', () => {
  const call = (at: number, outcome: string, change: Partial<TextCall['parameters']> = {}, method = 'sendMessage') => ({
    at,
    method,
    outcome,
    parameters: { chat_id: CHAT, text: SORRY, reply_parameters: { message_id: 1 }, ...change },
  });
  const banned = call(0, '429 Too Many Requests: retry after 7');
  const early = (change: Partial<History>) =>
    findViolations({ ...WELL, ...change }).filter((line) => line.includes('was tried again'));

  // rule: the-chaos-judge-finds-faults
  test('binds every send of that text until it is over', () => {
    expect(early({ textCalls: [banned, call(6_500, 'ok')] })).toEqual([
      `a send of "${SORRY.slice(0, 40)}" to chat ${CHAT} was tried again after 6.5 s of a ban of 7 s`,
    ]);
    expect(early({ textCalls: [banned, call(7_000, 'ok')] })).toEqual([]);
    expect(early({ textCalls: [banned, call(6_500, 'ok', { text: 'another text' })] })).toEqual([]);
    expect(early({ textCalls: [banned, call(6_500, 'ok', { reply_parameters: { message_id: 2 } })] })).toEqual([]);
    expect(early({ textCalls: [banned, call(6_500, 'ok', { chat_id: CHAT + 1 })] })).toEqual([]);
  });

  test('binds edits of a message, whatever its text', () => {
    const edit = (at: number, outcome: string, message_id: number) =>
      call(at, outcome, { message_id, text: `Thinking · ${at} s` }, 'editMessageText');
    const refused = edit(0, '429 Too Many Requests: retry after 5', 10);
    expect(early({ textCalls: [refused, edit(300, 'ok', 10)] })).toEqual([
      `an edit of message 10 in chat ${CHAT} was tried again after 0.3 s of a ban of 5 s`,
    ]);
    expect(early({ textCalls: [refused, edit(300, 'ok', 11), edit(5_000, 'ok', 10)] })).toEqual([]);
  });

  test('is forgotten with the store, and by a clock that is set, in between alone', () => {
    const textCalls = [banned, call(6_500, 'ok')];
    const flushed = (at: number): Loss => ({ what: 'flushed', at, until: at });
    expect(early({ textCalls, losses: [flushed(3_000)] })).toEqual([]);
    expect(early({ textCalls, losses: [flushed(-1_000)] })).toHaveLength(1);
    expect(early({ textCalls, losses: [{ ...flushed(3_000), what: 'broken' }] })).toHaveLength(1);
    expect(early({ textCalls, losses: [{ ...flushed(200), what: 'broken' }] })).toHaveLength(1);
    expect(early({ textCalls, losses: [{ ...flushed(14), what: 'broken' }] })).toEqual([]);
    expect(early({ textCalls, clocks: [{ at: 3_000, aheadMs: 3_600_000 }] })).toEqual([]);
    expect(early({ textCalls, clocks: [{ at: 9_000, aheadMs: 0 }] })).toHaveLength(1);
  });
});

describe('a clock that was set', () => {
  const HOUR_MS = 3_600_000;

  test('makes an hour pass for the cap of issues', () => {
    const minute = 60_000;
    const at = Date.parse('2026-02-05T10:01:00.000Z');
    const twice = { issueWrites: [...WELL.issueWrites, created('p0', 'silence', 2)] };
    const capped = (clocks: History['clocks']) =>
      findViolations({ ...WELL, ...twice, clocks }).filter((line) => line.includes('within an hour'));
    expect(capped([{ at, aheadMs: HOUR_MS }])).toEqual([]);
    expect(capped([{ at, aheadMs: HOUR_MS / 2 }])).toHaveLength(1);
    expect(capped([{ at: at + 2 * minute, aheadMs: HOUR_MS }])).toHaveLength(1);
  });

  test('dates an event by what it showed', () => {
    const at = Date.parse('2026-02-05T10:00:00.000Z');
    const timestamp = new Date(at + HOUR_MS).toISOString();
    const events = [
      ...WELL.events,
      event('J', 'detected', FIRST),
      event('I', 'revived', FIRST, { timestamp }),
      event('J', 'revived', FIRST, { timestamp }),
    ].filter(({ id, timestamp: told }) => id !== 'I.revived' || told === timestamp);
    const losses: Loss[] = [{ what: 'rolled_back', at: at - 500, until: at + 500 }];
    const twice = (clocks: History['clocks']) =>
      findViolations({ ...WELL, events, losses, clocks }).filter((line) => line.includes('say that they revived it'));
    expect(twice([{ at: at - 1_000, aheadMs: HOUR_MS }])).toEqual([]);
    expect(twice([])).toHaveLength(1);
    expect(twice([{ at: at + 5_000, aheadMs: HOUR_MS }])).toHaveLength(1);
  });
});

describe('a violation', () => {
  const extra = <Key extends keyof History>(
    key: Key,
    ...items: History[Key] extends readonly (infer Item)[] ? Item[] : never[]
  ) => ({ [key]: [...(WELL[key] as readonly unknown[]), ...items] }) as Partial<History>;

  // rule: the-chaos-judge-finds-faults
  test.each<[string, Partial<History>, string]>([
    ['a message without an end', { transcript: WELL.transcript.slice(0, 3) }, 'has no end'],
    [
      'a final text that was edited away',
      extra('transcript', said('Thinking · 47 s', 2, 12, 'edit')),
      `its final text "answer of ${SECOND} by C" was edited into "Thinking · 47 s"`,
    ],
    [
      'a final text that was deleted',
      extra('transcript', said('', 2, 12, 'delete')),
      `${SECOND}: no final text stands in the end`,
    ],
    [
      'an ended message still at work',
      { transcript: WELL.transcript.filter(({ what }) => what !== 'edit') },
      'has ended, and still shows "Thinking · 2 s · 1 call"',
    ],
    [
      'a progress line that is updated after its closing line',
      extra('transcript', said('Thinking · 33 s', 1, 10, 'edit')),
      'still shows "Thinking · 33 s"',
    ],
    [
      'an issue before its event',
      extra('filedIssues', { at: 1, title: '[Watchdog] p0: crash', unknown: [FIRST] }),
      `was filed before a critical event told of ${FIRST}`,
    ],
    [
      'a second issue of a project within an hour',
      extra('issueWrites', created('p0', 'silence', 59)),
      'p0 got a second new issue within an hour',
    ],
    [
      'an answer that is on no disk',
      { synced: [] },
      `${SECOND}: its answer was sent before its journal was on the disk`,
    ],
    [
      'an issue that names a session of another project',
      extra('issueBodies', '<!-- watchkeeper v1 c -->\n\nProject `p0`, rule\n- Session: `tg_p1_1003_7`'),
      'an issue of p0 names tg_p1_1003_7',
    ],
    [
      'an agent that nobody ended when its bridge was killed',
      { orphans: [{ pid: 1, session: 1, command: 'node agent' }] },
      'outlived bridge and reaper',
    ],
    ['an answer and a failure message', extra('transcript', said(SORRY, 1, 13)), 'ends more than once'],
    ['an answer by two runs', extra('transcript', said(`answer of ${FIRST} by A`, 1, 13)), 'ends more than once'],
    ['a text sent twice', extra('transcript', said(`answer of ${SECOND} by C`, 2, 13)), 'was sent 2 times'],
    [
      'a message that is run again after its answer',
      extra('agents', agent('start', SECOND, 'F', Date.parse('2026-02-05T10:01:00.000Z'))),
      `${SECOND}: was run again after its answer, as run F`,
    ],
    ['a second revival', extra('agents', agent('start', `${FIRST}_r1_r1`, 'D', 350)), 'revived a second time'],
    [
      'two incidents that revive',
      extra('events', event('J', 'detected', FIRST), event('J', 'revived', FIRST)),
      '2 incidents',
    ],
    ['a revival without an event', { events: [WELL.events[0] as CriticalEvent] }, 'no event says so'],
    ['an answer without a run', { agents: WELL.agents.slice(0, 3) }, 'a run that never began'],
    ['a run within another', extra('agents', agent('start', SECOND, 'E', 250)), 'began before run B'],
    [
      'a killed run that lived on',
      extra('overlaps', {
        at: 200,
        session: SECOND,
        run: 'C',
        earlier: { session: FIRST, run: 'A' },
        alive: [{ pid: 1, session: 1, command: 'node' }],
      }),
      'lived: node',
    ],
    [
      'a message that overtakes',
      extra('agents', agent('start', SECOND, 'E', 50), agent('stop', SECOND, 'E', 60)),
      'stood ahead',
    ],
    [
      'a second line "detected"',
      extra('events', event('I', 'detected again', FIRST, { action_taken: 'detected' })),
      '2 lines say',
    ],
    ['an incident never detected', extra('events', event('J', 'closed', SECOND)), '0 lines say'],
    [
      'a failure without an event',
      { transcript: [...WELL.transcript.slice(0, 3), said(SORRY, 2, 13)] },
      'failed, and no',
    ],
    ['a line that cannot be parsed', { unreadableEvents: 1 }, 'cannot be parsed'],
    [
      'a closed incident without its last line',
      { events: WELL.events.filter(({ final }) => !final) },
      'no line says "closed"',
    ],
    [
      'a watchdog that was replaced and acts',
      extra('storeWrites', {
        what: 'incident',
        script: 9,
        by: 'bridge',
        incident: 'I',
        step: 'told',
        isDecided: false,
      }),
      'was taken from closed, decided to told by the bridge while the watchdog acted',
    ],
    [
      'a run that lost its lane and renews',
      extra('storeWrites', { what: 'run_lease', script: 9, by: 'bridge', session: FIRST }),
      'though it had lost its lane',
    ],
    ['twin issues', extra('issueBodies', '<!-- watchkeeper v1 a -->\ny'), 'two issues of one fingerprint'],
    ['a process that lived on', { left: [{ pid: 1, session: 1, command: 'node agent' }] }, 'lived on after'],
  ])('%s is found', (_, change, words) => {
    expect(findViolations({ ...WELL, ...change })).toEqual(expect.arrayContaining([expect.stringContaining(words)]));
  });
});
