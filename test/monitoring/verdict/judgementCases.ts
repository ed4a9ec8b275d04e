/**
 * Cases for every one of the 19 judgement rules, in the manner of the collection in `fixtures/vectors`: a journal, an
 * instant, the exact set of rules that are true then. The verdicts were worked out from the text of the rules, by hand.
 */
import { DEFAULT_THRESHOLDS, type Rule, type Thresholds } from '../../../src/config/rules.js';
import { isoTime } from '../../../src/time.js';
import { at, call, type Line, line, prompt, result } from './journals.js';

export interface JudgementCase {
  readonly id: string;
  /** The number of the judgement rule that decides. */
  readonly judgement: number;
  readonly journal: readonly Line[];
  readonly thresholds: Thresholds;
  /** UTC epoch milliseconds. */
  readonly now: number;
  readonly rules: readonly Rule[];
}

type Limits = Partial<Thresholds>;

/** The default thresholds, in seconds. */
const SILENCE = 600;
const TOOL = 900;
const RUNAWAY = 7_200;
const NO_RUNAWAY: Limits = { runaway_ms: 1e12 };
const SUB: Line = { agent_id: 'a1', parent_tool_use_id: 'task' };

const CASES: JudgementCase[] = [];

/** @param seconds the instant of the judgement, after the journal's start */
function judged(
  number: number,
  id: string,
  journal: Line[],
  seconds: number,
  rules: Rule[],
  limits: Limits = {},
): void {
  const thresholds = { ...DEFAULT_THRESHOLDS, ...limits };
  CASES.push({ id, judgement: number, journal, thresholds, now: Math.round(at(seconds)), rules });
}

/** The rule is not true at the limit, and true a millisecond after it. */
function limitAt(number: number, id: string, journal: Line[], seconds: number, rule: Rule, limits: Limits = {}): void {
  judged(number, `${id}, at the limit`, journal, seconds, [], limits);
  judged(number, `${id}, past it`, journal, seconds + 0.001, [rule], limits);
}

const start = (seconds: number, source: string): Line => line(seconds, 'session_start', { source });
const turnEnd = (seconds: number, rest: Line = {}): Line => line(seconds, 'turn_end', { reason: 'end_turn', ...rest });
const says = (seconds: number, rest: Line = {}): Line => line(seconds, 'assistant_message', rest);
const wait = (seconds: number, kind: string, rest: Line = {}): Line => line(seconds, 'wait_start', { kind, ...rest });
const waitEnd = (seconds: number, kind: string, rest: Line = {}): Line => line(seconds, 'wait_end', { kind, ...rest });
const beat = (seconds: number, source: string, rest: Line = {}): Line =>
  line(seconds, 'heartbeat', { source, ...rest });
const until = (seconds: number): Line => ({ until: isoTime(at(seconds)) });
const of = (id: string): Line => ({ tool_use_id: id });
const allowed = (seconds: number): Line => ({ timeout_ms: seconds * 1_000 });

/** Signs of life, so that nothing falls silent. */
function busy(from: number, to: number): Line[] {
  return Array.from({ length: Math.floor((to - from) / 300) + 1 }, (_, index) => beat(from + index * 300, 'stream'));
}

/** One call after the other, a second each, and each a batch of its own. */
function calls(from: number, outcomes: readonly string[], rest: Line = {}): Line[] {
  return outcomes.flatMap((outcome, index) => {
    const id = `f${from}_${index}${rest.agent_id ?? ''}`;
    return [call(from + index, id, rest), result(from + index + 0.5, id, outcome, rest)];
  });
}
const failing = (from: number, count: number, rest: Line = {}): Line[] =>
  calls(from, new Array<string>(count).fill('failed'), rest);

/** Equal calls with equal results, a second each. */
function same(from: number, count: number, input: unknown = { command: 'make' }, rest: Line = {}): Line[] {
  return Array.from({ length: count }, (_, index) => [
    call(from + index, `s${from}_${index}`, { tool_input: input, ...rest }),
    result(from + index + 0.5, `s${from}_${index}`, 'ok', { tool_output_preview: 'same', ...rest }),
  ]).flat();
}

/** A call for each letter; equal letters are equal calls with equal results. */
function letters(from: number, text: string, rest: (index: number) => Line = () => ({})): Line[] {
  return [...text].flatMap((letter, index) => [
    call(from + index, `l${from}_${index}`, { tool_input: { letter }, ...rest(index) }),
    result(from + index + 0.5, `l${from}_${index}`, 'ok', { tool_output_preview: letter, ...rest(index) }),
  ]);
}

/** The calls of one message, with an outcome each; "open" has none yet. */
function batch(from: number, name: string, outcomes: readonly string[]): Line[] {
  const rest = { batch: name };
  return [
    ...outcomes.map((_, index) => call(from, `${name}_${index}`, rest)),
    ...outcomes.flatMap((outcome, index) =>
      outcome === 'open' ? [] : [result(from + 0.5, `${name}_${index}`, outcome, rest)],
    ),
  ];
}

/** The older shape: seconds since 1970, no event names needed, no ids, no flags. */
const epoch = (seconds: number): number => at(seconds) / 1_000;

function runsAndTurns(): void {
  judged(1, 'a startup forgets the call in flight', [prompt(0), call(1, 'a'), start(100, 'startup')], 5_000, []);
  judged(
    1,
    'a clear forgets failures',
    [prompt(0), ...failing(1, 6), start(20, 'clear'), prompt(21, 'machine')],
    30,
    [],
  );
  judged(1, 'a compact keeps failures', [prompt(0), ...failing(1, 6), start(20, 'compact')], 30, ['error_cascade']);
  judged(
    1,
    'a resume forgets repeats',
    [prompt(0), ...same(1, 4), start(20, 'resume'), prompt(21, 'machine'), ...same(22, 1)],
    30,
    [],
  );
  limitAt(
    1,
    'a compact keeps the call, and is activity',
    [prompt(0), call(1, 'a'), start(850, 'compact')],
    1_450,
    'silence',
  );
  judged(
    1,
    'a resume forgets owed time',
    [prompt(0), ...busy(1, 7_000), start(7_001, 'resume'), prompt(7_002, 'machine'), ...busy(7_003, 9_000)],
    9_000,
    [],
  );
  limitAt(1, 'a compact keeps owed time', [prompt(0), ...busy(1, 7_000), start(7_001, 'compact')], RUNAWAY, 'runaway');
  judged(
    1,
    'a resume forgets a permission',
    [prompt(0), wait(1, 'permission'), start(10, 'resume'), prompt(20)],
    20 + SILENCE + 0.001,
    ['silence'],
  );

  judged(2, 'nothing is owed before the prompt', [start(0, 'startup'), says(1)], 5_000, []);
  limitAt(2, 'without prompts the first call owes', [start(0, 'startup'), says(1), call(5, 'a')], 5 + TOOL, 'silence');
  limitAt(
    2,
    'without prompts the time before the first call is not owed',
    [says(0), ...busy(1, 99), ...calls(100, ['ok']), ...busy(110, 7_400)],
    7_300,
    'runaway',
  );
  const idle = [prompt(0), call(1, 'a'), result(2, 'a'), turnEnd(5)];
  judged(2, 'nothing is owed after the turn', idle, 9_000, []);
  limitAt(2, 'a call after the turn opens one', [...idle, ...calls(60, ['ok'])], 60.5 + SILENCE, 'silence');
  limitAt(2, 'so does one that hangs', [...idle, call(60, 'b')], 60 + TOOL, 'silence');
  judged(2, 'and the turn that it opened ends', [...idle, ...calls(60, ['ok']), turnEnd(70)], 9_000, []);
  const outlives = [prompt(60, 'machine', SUB), call(61, 'b', SUB), result(62, 'b', 'ok', SUB)];
  judged(
    2,
    "a sub-agent's call after the turn opens none for its parent",
    [...idle, ...outlives, turnEnd(70, SUB)],
    9_000,
    [],
  );
  limitAt(2, 'a second turn owes again', [prompt(0), turnEnd(5), prompt(1_000)], 1_000 + SILENCE, 'silence');

  judged(3, 'a turn_end closes the call in flight', [prompt(0), call(1, 'a'), turnEnd(2)], 9_000, []);
  judged(
    3,
    'a session_end closes the call in flight',
    [prompt(0), call(1, 'a'), line(2, 'session_end', { reason: 'exit' })],
    9_000,
    [],
  );
  judged(
    3,
    'a session_end closes the calls of its sub-agents',
    [
      prompt(0),
      call(1, 'task'),
      call(2, 's', SUB),
      line(3, 'session_end', { reason: 'exit' }),
      prompt(10),
      ...busy(10, 3_000),
    ],
    3_000,
    [],
  );
  limitAt(
    3,
    'a turn_end closes a permission',
    [prompt(0), call(1, 'a'), wait(2, 'permission'), turnEnd(5), prompt(20, 'machine')],
    20 + SILENCE,
    'silence',
  );
  limitAt(
    3,
    'a turn_end closes a rate limit',
    [prompt(0), wait(2, 'rate_limit', until(9_000)), turnEnd(5), prompt(20)],
    20 + SILENCE,
    'silence',
  );
  judged(
    3,
    'a turn_end ends failures',
    [prompt(0), ...failing(1, 4), turnEnd(10), prompt(11, 'machine'), ...failing(12, 3)],
    20,
    [],
  );
  judged(
    3,
    'a turn_end ends repeats',
    [prompt(0), ...same(1, 3), turnEnd(10), prompt(11, 'machine'), ...same(12, 2)],
    20,
    [],
  );
  judged(
    3,
    'an agent that owes nothing is healthy',
    [prompt(0), ...failing(1, 9), ...same(20, 9), turnEnd(30)],
    99_999,
    [],
  );
  limitAt(
    3,
    "a sub-agent's turn_end leaves its parent's call",
    [prompt(0), call(1, 'task'), says(2, SUB), turnEnd(3, SUB)],
    1 + TOOL,
    'silence',
  );
  judged(
    3,
    "a sub-agent's turn_end ends its failures",
    [prompt(0), call(1, 'task'), ...failing(2, 6, SUB), turnEnd(20, SUB)],
    30,
    [],
  );

  const launched = [prompt(0), call(1, 'task'), prompt(2, 'machine', SUB), result(3, 'task')];
  limitAt(3, 'a sub-agent owes after the turn', [...launched, turnEnd(5)], 2 + SILENCE, 'silence');
  limitAt(3, 'a launched one owes while its parent works', [...launched, ...busy(5, 1_200)], 2 + SILENCE, 'silence');
  judged(3, 'and is still silent after its parent has acted', [...launched, ...busy(5, 1_200), turnEnd(1_201)], 9_999, [
    'silence',
  ]);
  judged(3, 'until it acts again', [...launched, turnEnd(5), says(5_000, SUB)], 5_000 + SILENCE, []);
  judged(3, 'or reports back', [...launched, turnEnd(5), turnEnd(300, SUB)], 9_999, []);
  judged(3, 'or the session ends', [...launched, turnEnd(5), line(6, 'session_end', { reason: 'exit' })], 9_999, []);
  judged(3, 'or a new run begins', [...launched, turnEnd(5), start(6, 'resume')], 9_999, []);
  limitAt(3, "a sub-agent's call has its own limit", [...launched, turnEnd(5), call(9, 's', SUB)], 9 + TOOL, 'silence');
  judged(
    3,
    'a sub-agent after the turn may take long',
    [...launched, turnEnd(5), ...busy(6, 20_000).map((each) => ({ ...each, ...SUB }))],
    20_000,
    [],
  );
  judged(3, 'a sub-agent after the turn may fail too often', [...launched, turnEnd(5), ...failing(10, 6, SUB)], 30, [
    'error_cascade',
  ]);
  judged(3, 'or repeat itself', [...launched, turnEnd(5), ...same(10, 5, { command: 'make' }, SUB)], 30, ['loop']);
  judged(
    3,
    "the main agent's time does not run away with its sub-agent",
    [prompt(0), ...launched.slice(1), ...busy(5, 7_500), turnEnd(7_500), says(7_501, SUB)],
    7_600,
    [],
  );
  judged(
    3,
    'of a sub-agent without a known call only its calls are judged',
    [prompt(0), turnEnd(5), prompt(6, 'machine', { agent_id: 'a9' })],
    9_999,
    [],
  );

  judged(4, 'a person resets failures', [prompt(0), ...failing(1, 4), prompt(10), ...failing(11, 3)], 20, []);
  judged(4, 'a machine does not', [prompt(0), ...failing(1, 4), prompt(10, 'machine'), ...failing(11, 3)], 20, [
    'error_cascade',
  ]);
  judged(4, 'a person resets repeats', [prompt(0), ...same(1, 3), prompt(10), ...same(11, 2)], 20, []);
  judged(4, 'a machine does not reset repeats', [prompt(0), ...same(1, 3), prompt(10, 'machine'), ...same(11, 2)], 20, [
    'loop',
  ]);
  judged(
    4,
    'a result from before a message of a person is not a repeat',
    [
      prompt(0),
      call(1, 'old', { tool_input: 'x' }),
      prompt(2),
      ...same(3, 4),
      call(8, 'new', { tool_input: { command: 'make' } }),
      result(9, 'old', 'ok', { tool_output_preview: 'same' }),
    ],
    10,
    [],
  );
}

function silenceClock(): void {
  limitAt(5, 'one millisecond is a limit like any other', [prompt(0)], 0.001, 'silence', { silence_ms: 1 });
  limitAt(
    5,
    'an overdue call excuses nothing',
    [prompt(0), call(0, 'a', allowed(60)), says(500)],
    500 + SILENCE,
    'silence',
  );
  limitAt(5, "a call's last instant excuses", [prompt(0), call(1, 'a', allowed(1_800))], 1 + 1_860, 'silence');
  limitAt(5, "a call's last instant excuses a long silence", [prompt(0), call(0, 'a')], 1, 'silence', {
    silence_ms: 100,
    tool_wait_ms: 1_000,
  });
  limitAt(
    5,
    'after a rate limit the clock counts from its end',
    [prompt(0), wait(1, 'rate_limit', until(5_000))],
    5_000 + SILENCE,
    'silence',
  );
  limitAt(
    5,
    'a rate limit that ended early',
    [prompt(0), wait(1, 'rate_limit', until(5_000)), waitEnd(100, 'rate_limit')],
    100 + SILENCE,
    'silence',
  );
  limitAt(
    5,
    'activity after the end of a rate limit',
    [prompt(0), wait(1, 'rate_limit', until(100)), says(300)],
    300 + SILENCE,
    'silence',
  );
  limitAt(
    5,
    'activity during a rate limit',
    [prompt(0), wait(1, 'rate_limit', until(1_000)), says(300)],
    1_000 + SILENCE,
    'silence',
  );
  limitAt(
    5,
    "a child's wait counts from its end",
    [prompt(0), wait(1, 'child', until(2_000))],
    2_000 + SILENCE,
    'silence',
  );
  limitAt(
    5,
    'the later of two waits',
    [prompt(0), wait(1, 'rate_limit', until(400)), wait(2, 'child', until(2_000))],
    2_000 + SILENCE,
    'silence',
  );
  limitAt(
    5,
    'a call longer than a rate limit counts from the end of the limit',
    [prompt(0), call(1, 'a', allowed(60)), wait(2, 'rate_limit', { ...of('a'), ...until(1_000) })],
    1_000 + SILENCE,
    'silence',
  );

  for (const source of [
    'stream',
    'bash_progress',
    'mcp_progress',
    'hook_progress',
    'agent_progress',
    'sub_agent',
    'tool_event',
    'step',
  ]) {
    judged(6, `a heartbeat of ${source} is activity`, [prompt(0), beat(500, source)], SILENCE + 1, []);
  }
  for (const source of ['record', 'hook', 'stop_hook', 'context', 'api_retry', 'queue', 'local_command', 'elsewhere']) {
    judged(6, `a heartbeat of ${source} is not activity`, [prompt(0), beat(500, source)], SILENCE + 0.001, ['silence']);
  }
  limitAt(6, 'an unknown event is not activity', [prompt(0), line(500, 'telemetry')], SILENCE, 'silence');
  limitAt(6, 'a compaction is activity', [prompt(0), line(500, 'compaction')], 500 + SILENCE, 'silence');
  limitAt(
    6,
    'the start and the end of a wait are activity',
    [prompt(0), wait(500, 'user'), waitEnd(550, 'user')],
    550 + SILENCE,
    'silence',
  );
  limitAt(
    6,
    'a turn that a machine starts is activity',
    [prompt(0), turnEnd(1), prompt(500, 'machine')],
    500 + SILENCE,
    'silence',
  );
  limitAt(
    6,
    'a message of a machine within a turn is not activity',
    [prompt(0), prompt(500, 'machine')],
    SILENCE,
    'silence',
  );

  limitAt(
    7,
    "a sub-agent's activity is its parent's",
    [prompt(0), call(1, 'task', allowed(1)), beat(500, 'stream', SUB)],
    500 + SILENCE,
    'silence',
  );
  limitAt(
    7,
    "a grandchild's activity is everybody's",
    [
      prompt(0),
      call(1, 'task', allowed(1)),
      call(2, 'inner', { ...SUB, ...allowed(1) }),
      says(500, { agent_id: 'a2', parent_tool_use_id: 'inner' }),
    ],
    500 + SILENCE,
    'silence',
  );
}

function waits(): void {
  limitAt(8, 'an undeclared call', [prompt(0), call(1, 'a')], 1 + TOOL, 'silence');
  limitAt(8, 'a declared call gets a minute more', [prompt(0), call(1, 'a', allowed(1_200))], 1 + 1_260, 'silence');
  limitAt(8, 'a declared time of zero', [prompt(0), call(0, 'a', { timeout_ms: 0 })], 60, 'silence', {
    silence_ms: 10_000,
  });
  limitAt(
    8,
    'a declared time of two days is cut to one',
    [prompt(0), call(1, 'a', allowed(172_800))],
    1 + 86_460,
    'silence',
    NO_RUNAWAY,
  );
  for (const declared of ['1800000', null, true, [1]]) {
    limitAt(
      8,
      `a declared time of ${JSON.stringify(declared)} does not count`,
      [prompt(0), call(1, 'a', { timeout_ms: declared })],
      1 + TOOL,
      'silence',
    );
  }

  const asked = [prompt(0), call(1, 'a'), wait(2, 'permission', of('a'))];
  judged(9, 'a permission never expires', asked, 50_000, []);
  judged(
    9,
    'a permission does not expire at a time that it names',
    [prompt(0), call(1, 'a'), wait(2, 'permission', { ...of('a'), ...until(10) })],
    50_000,
    [],
  );
  limitAt(
    9,
    "a grant restarts the call's time",
    [...asked, waitEnd(5_000, 'permission', of('a'))],
    5_000 + TOOL,
    'silence',
  );
  limitAt(
    9,
    'a result closes the permission whose end was lost',
    [...asked, result(5_000, 'a')],
    5_000 + SILENCE,
    'silence',
  );
  const pair = [
    call(1, 'a', { batch: 'b' }),
    call(1, 'b', { batch: 'b' }),
    wait(2, 'permission', of('a')),
    result(20, 'a'),
  ];
  limitAt(9, 'a result that ends a permission ends its own call only', [prompt(0), ...pair], 1 + TOOL, 'silence');
  judged(
    9,
    'and the other one ends with its own result',
    [prompt(0), ...pair, result(21, 'b'), call(22, 'c', allowed(3_600))],
    960,
    [],
  );
  judged(9, 'a message does not close the permission of a call', [...asked, says(5_000)], 50_000, []);
  judged(
    9,
    "another call's result does not either",
    [prompt(0), call(1, 'a'), call(1, 'b'), wait(2, 'permission', of('a')), result(10, 'b')],
    50_000,
    [],
  );
  limitAt(
    9,
    'a message closes a permission without an id',
    [prompt(0), call(1, 'a'), wait(2, 'permission'), says(5_000)],
    5_000 + TOOL,
    'silence',
  );
  limitAt(
    9,
    'a rate limit shows that a person has answered',
    [prompt(0), wait(2, 'user'), wait(3_000, 'rate_limit', until(3_060))],
    3_060 + SILENCE,
    'silence',
  );
  judged(
    9,
    'a human wait without an id covers every open call',
    [prompt(0), call(1, 'a'), call(1, 'b', allowed(1)), wait(2, 'user')],
    50_000,
    [],
  );
  limitAt(
    9,
    'a human wait with an id covers its call only',
    [prompt(0), call(1, 'a'), call(1, 'b'), wait(2, 'user', of('a'))],
    1 + TOOL,
    'silence',
  );
  limitAt(
    9,
    "a person's answer does not restart the call's time",
    [prompt(0), call(1, 'a'), wait(2, 'user', of('a')), waitEnd(2_000, 'user', of('a'))],
    2_000 + SILENCE,
    'silence',
  );
  judged(
    9,
    "a sub-agent's activity does not close its parent's wait",
    [prompt(0), wait(2, 'user'), beat(1_000, 'stream', SUB)],
    50_000,
    [],
  );
  limitAt(9, 'a rate limit without an end', [prompt(0), wait(1, 'rate_limit')], 1 + TOOL + SILENCE, 'silence');
  limitAt(9, 'a child without an end', [prompt(0), wait(1, 'child')], 1 + TOOL + SILENCE, 'silence');
  limitAt(
    9,
    'a rate limit whose end is not an instant',
    [prompt(0), wait(1, 'rate_limit', { until: 'soon' })],
    1 + TOOL + SILENCE,
    'silence',
  );
  limitAt(
    9,
    'a rate limit outlives activity',
    [prompt(0), wait(1, 'rate_limit', until(3_000)), says(100), says(200)],
    3_000 + SILENCE,
    'silence',
  );
  limitAt(
    9,
    'a question asked between two turns does not outlast the next prompt',
    [prompt(0), turnEnd(2), wait(3, 'user'), prompt(1_000)],
    1_000 + SILENCE,
    'silence',
  );
  limitAt(
    9,
    'a permission asked between two turns does not outlast a prompt of a machine',
    [prompt(0), turnEnd(2), wait(3, 'permission'), prompt(1_000, 'machine')],
    1_000 + SILENCE,
    'silence',
  );
  limitAt(
    9,
    'a message of a person within the turn answers the question',
    [prompt(0), wait(1, 'user'), prompt(1_000)],
    1_000 + SILENCE,
    'silence',
  );
  judged(
    9,
    'a message of a person within the turn grants nothing',
    [prompt(0), call(1, 'a'), wait(1, 'permission'), prompt(1_000)],
    50_000,
    [],
  );
  limitAt(
    9,
    'nobody is asked about a call that has ended',
    [prompt(0), call(1, 'a'), result(5, 'a'), wait(5, 'permission', of('a'))],
    5 + SILENCE,
    'silence',
  );
  const asking = (mode: string, origin = 'human'): Line => line(0, 'user_prompt', { origin, permission_mode: mode });
  const edit = call(1, 'a', { tool_name: 'Edit' });
  const HOURS = 4 * 3_600;
  for (const mode of ['default', 'plan', 'unstated', 'untrusted', 'on-request', 'on-failure']) {
    limitAt(9, `a dialog that ${mode} does not record`, [asking(mode), call(1, 'a')], 1 + HOURS, 'silence');
  }
  for (const mode of ['bypassPermissions', 'dontAsk', 'never', 'tomorrow']) {
    limitAt(9, `${mode} asks nobody`, [asking(mode), call(1, 'a')], 1 + TOOL, 'silence');
  }
  limitAt(9, 'acceptEdits asks for no edit', [asking('acceptEdits'), edit], 1 + TOOL, 'silence');
  limitAt(9, 'acceptEdits asks for a command', [asking('acceptEdits'), call(1, 'a')], 1 + HOURS, 'silence');
  limitAt(9, 'auto asks for no edit', [asking('auto'), edit], 1 + TOOL, 'silence');
  limitAt(9, 'auto asks for a command', [asking('auto'), call(1, 'a')], 1 + HOURS, 'silence');
  const attended = beat(0, 'attended');
  limitAt(
    9,
    'a sub-agent in a terminal asks the person there',
    [attended, asking('on-request', 'machine'), call(1, 'a')],
    1 + HOURS,
    'silence',
  );
  limitAt(9, 'default asks for an edit', [asking('default'), edit], 1 + HOURS, 'silence');
  limitAt(9, 'no person is present to ask', [asking('default', 'machine'), call(1, 'a')], 1 + TOOL, 'silence');
  limitAt(
    9,
    'a tool that needs no permission',
    [asking('default'), call(1, 'a', { tool_name: 'WebFetch' }), call(1, 'b', { tool_name: 'TaskOutput' })],
    1 + TOOL,
    'silence',
  );
  const delegates = [asking('default'), call(1, 'task', { tool_name: 'Task' })];
  limitAt(9, 'a sub-agent of which no line is known', delegates, 1 + HOURS, 'silence');
  limitAt(9, 'a sub-agent that was heard of', [...delegates, says(2, SUB)], 2 + SILENCE, 'silence');
  limitAt(9, 'and that has reported back', [...delegates, says(2, SUB), turnEnd(3, SUB)], 1 + TOOL, 'silence');
  limitAt(
    9,
    'a sub-agent whose line comes before the call that started it',
    [asking('default'), says(0.5, SUB), call(1, 'task', { tool_name: 'Task' }), turnEnd(2, SUB)],
    1 + TOOL,
    'silence',
  );
  limitAt(
    9,
    'a sub-agent of an unknown call may be the one',
    [...delegates, says(2, { agent_id: 'a9' })],
    1 + TOOL,
    'silence',
  );
  limitAt(
    9,
    'no sub-agent asks in bypassPermissions',
    [asking('bypassPermissions'), call(1, 'task', { tool_name: 'Agent' })],
    1 + TOOL,
    'silence',
  );
  const mirrored = [...delegates, call(9, 'e', { tool_name: 'Edit', ...SUB })];
  limitAt(
    9,
    'a mirror is no sign of life of the call that it mirrors',
    [...mirrored, beat(9.1, 'agent_progress', SUB)],
    9 + HOURS,
    'silence',
  );
  limitAt(
    9,
    "a call's own sign of life is one",
    [...mirrored, beat(9.1, 'agent_progress', { ...SUB, ...of('e') })],
    9 + TOOL,
    'silence',
  );
  for (const [name, input] of [
    ['require_escalated', { sandbox_permissions: 'require_escalated' }],
    ['more permissions', { sandbox_permissions: 'with_additional_permissions' }],
    ['the older word', { with_escalated_permissions: true }],
    ['a script', { input: 'text(await tools.exec_command({ cmd: "x", "sandbox_permissions": "require_escalated" }))' }],
  ] as const) {
    const asks = call(1, 'a', { tool_name: 'exec_command', tool_input: input, ...allowed(7_000) });
    limitAt(9, `a request that asks first: ${name}`, [asking('on-request'), asks], 1 + HOURS, 'silence');
    judged(9, `it counts no time: ${name}`, [asking('on-request'), asks], 7_500, []);
    limitAt(9, `never asks nobody: ${name}`, [asking('never'), asks], 1 + 7_060, 'silence');
  }
  const ticking = [asking('default'), call(1, 'a'), beat(5, 'bash_progress', of('a'))];
  limitAt(9, 'a call that shows signs of life has its permission', ticking, 1 + TOOL, 'silence');
  const beside = [call(1, 'a'), call(1, 'b'), beat(5, 'bash_progress', of('b')), result(6, 'b')];
  limitAt(9, "another call's signs of life prove nothing", [asking('default'), ...beside], 1 + HOURS, 'silence');
  limitAt(
    9,
    'a hook before the dialog proves nothing',
    [asking('default'), call(1, 'a'), beat(2, 'hook_progress', of('a'))],
    1 + HOURS,
    'silence',
  );
  limitAt(
    9,
    'a permission that was granted is not asked for again',
    [asking('default'), call(1, 'a'), wait(2, 'permission', of('a')), waitEnd(50, 'permission', of('a'))],
    50 + TOOL,
    'silence',
  );
  limitAt(
    9,
    'the mode in force decides',
    [asking('default'), beat(0.5, 'record', { permission_mode: 'bypassPermissions' }), call(1, 'a')],
    1 + TOOL,
    'silence',
  );
  limitAt(
    9,
    'a new run asks again',
    [asking('default'), start(1, 'startup'), prompt(2), call(3, 'a')],
    3 + TOOL,
    'silence',
  );
  judged(
    9,
    'within the declared time of a call it is not a dialog',
    [asking('default'), call(1, 'a', allowed(7_000))],
    7_061,
    [],
  );
  limitAt(9, 'and after it', [asking('default'), call(1, 'a', allowed(7_000))], 1 + HOURS, 'silence');
  limitAt(
    9,
    'a model that owes output counts as before',
    [asking('default'), call(1, 'a'), result(2, 'a')],
    2 + SILENCE,
    'silence',
  );
  limitAt(9, 'an inferred wait of one minute less', [asking('default'), call(1, 'a')], 1 + HOURS - 60, 'silence', {
    inferred_wait_ms: (HOURS - 60) * 1_000,
  });
  limitAt(
    16,
    'an unrecorded dialog stops the count at the instant at which it shows',
    [asking('default'), call(100, 'a'), result(10_900, 'a'), ...busy(10_900, 18_000)],
    10_900 + RUNAWAY - 280,
    'runaway',
  );
  limitAt(
    16,
    'a command past its declared time shows it a minute later',
    [asking('default'), call(100, 'a', allowed(300)), result(10_900, 'a'), ...busy(10_900, 18_000)],
    10_900 + RUNAWAY - 460,
    'runaway',
  );
  judged(16, 'nor while it is open', [asking('default'), call(100, 'a')], 14_000, []);
  limitAt(9, 'a rejected call', [...asked, result(5_000, 'a', 'rejected')], 5_000 + SILENCE, 'silence');

  const siblings = [call(1, 'a', { ...allowed(60), batch: 'b' }), call(1, 'b', { ...allowed(3_600), batch: 'b' })];
  limitAt(10, 'an overdue call beside one within its time', [prompt(0), ...siblings], 1 + SILENCE, 'silence');
  limitAt(
    10,
    'an overdue call beside one that awaits a permission',
    [prompt(0), ...siblings, wait(2, 'permission', of('b'))],
    2 + SILENCE,
    'silence',
  );
  judged(
    10,
    "the end of a sibling's rate limit does not help an overdue call",
    [prompt(0), ...siblings, wait(2, 'rate_limit', { ...of('b'), ...until(700) })],
    701,
    ['silence'],
  );
  limitAt(
    10,
    'a call whose sub-agent is not silent',
    [prompt(0), call(1, 'task', allowed(60)), says(1_000, SUB)],
    1_000 + SILENCE,
    'silence',
  );
  limitAt(
    10,
    'a call whose sub-agent is in a call',
    [prompt(0), call(1, 'task', allowed(60)), call(100, 'x', SUB)],
    100 + TOOL,
    'silence',
  );
  judged(
    10,
    'a call whose sub-agent awaits a permission',
    [prompt(0), call(1, 'task', allowed(60)), call(2, 'x', SUB), wait(3, 'permission', { ...SUB, ...of('x') })],
    50_000,
    [],
  );
  limitAt(
    10,
    'its sub-agent excuses no sibling',
    [prompt(0), call(1, 'task'), call(1, 'late', allowed(60)), call(100, 'x', { ...SUB, ...allowed(3_600) })],
    100 + SILENCE,
    'silence',
  );

  const delegated = [prompt(0), call(1, 'task', allowed(7_000)), says(100, SUB)];
  limitAt(10, "a sub-agent's own silence within the time of its call", delegated, 100 + SILENCE, 'silence');
  const other: Line = { agent_id: 'a2', parent_tool_use_id: 'other' };
  limitAt(
    10,
    'one that is silent beside one that works',
    [...delegated, call(101, 'other', allowed(7_000)), ...[200, 500, 699].map((seconds) => says(seconds, other))],
    100 + SILENCE,
    'silence',
  );
  judged(10, 'one whose work is done', [...delegated, turnEnd(101, SUB), ...busy(150, 1_200)], 1_300, []);
  judged(10, 'one that nobody waits for', [...delegated, result(101, 'task'), ...busy(150, 1_200)], 1_300, []);
  limitAt(
    10,
    'one that nobody waits for and that hangs in a call',
    [...delegated, call(101, 'x', SUB), result(102, 'task'), ...busy(150, 1_200)],
    101 + TOOL,
    'silence',
  );
  limitAt(
    11,
    'a retry with an unknown delay is not a wait',
    [prompt(0), ...[100, 200, 400, 599].map((seconds) => beat(seconds, 'api_retry'))],
    SILENCE,
    'silence',
  );
  limitAt(
    11,
    'a retry with a known delay is one',
    [prompt(0), beat(300, 'api_retry'), wait(300, 'rate_limit', until(900))],
    900 + SILENCE,
    'silence',
  );
}

function failures(): void {
  judged(
    12,
    'six failing batches with cancelled siblings',
    [prompt(0), ...[1, 2, 3, 4, 5, 6].flatMap((n) => batch(n, `b${n}`, ['failed', 'cancelled', 'cancelled']))],
    10,
    ['error_cascade'],
  );
  judged(
    12,
    'a batch with one success resets',
    [prompt(0), ...failing(1, 5), ...batch(10, 'b', ['failed', 'ok', 'failed']), ...failing(11, 5)],
    20,
    [],
  );
  judged(
    12,
    'results without a flag are neutral',
    [
      prompt(0),
      ...failing(1, 3),
      ...[5, 6, 7].flatMap((n) => [
        call(n, `n${n}`),
        line(n + 0.5, 'post_tool_use', { ...of(`n${n}`), tool_name: 'Bash', tool_output_preview: 'Error: no' }),
      ]),
      ...failing(8, 3),
    ],
    20,
    ['error_cascade'],
  );
  judged(
    12,
    'neutral batches do not count',
    [prompt(0), ...failing(1, 5), ...calls(10, ['rejected', 'cancelled', 'blocked', 'rejected'])],
    20,
    [],
  );
  judged(
    12,
    'a batch is not judged before all its results',
    [prompt(0), ...failing(1, 5), ...batch(10, 'b', ['failed', 'open'])],
    20,
    [],
  );
  judged(
    12,
    'a batch is judged when the next one begins',
    [prompt(0), ...failing(1, 5), ...batch(10, 'b', ['failed', 'open']), call(11, 'next')],
    20,
    ['error_cascade'],
  );
  judged(
    12,
    'a batch with a cancelled call and a success resets',
    [prompt(0), ...failing(1, 5), ...batch(10, 'b', ['cancelled', 'ok']), ...failing(11, 1)],
    20,
    [],
  );
  judged(
    12,
    'a batch counts once although another one came between its calls',
    [
      prompt(0),
      ...failing(1, 4),
      ...batch(10, 'b', ['failed']),
      ...batch(11, 'c', ['cancelled']),
      ...batch(12, 'b', ['cancelled', 'failed']).filter(({ tool_use_id }) => tool_use_id === 'b_1'),
    ],
    20,
    [],
  );
  judged(
    12,
    'each agent has a streak of its own',
    [prompt(0), call(0.5, 'task'), ...failing(1, 3), ...failing(10, 5, SUB)],
    20,
    [],
  );
  judged(
    12,
    "a parent's successes do not reset a sub-agent's failures",
    [prompt(0), call(0.5, 'task'), ...failing(1, 3, SUB), ...calls(5, ['ok', 'ok']), ...failing(10, 3, SUB)],
    20,
    ['error_cascade'],
  );
  judged(12, 'a limit of one', [prompt(0), ...failing(1, 2)], 10, ['error_cascade'], { error_batches: 1 });
  judged(
    12,
    'the flag decides, not the word',
    [
      prompt(0),
      ...calls(1, new Array<string>(9).fill('ok')).map((each) => ({
        ...each,
        ...(each.event === 'post_tool_use' ? { tool_output_preview: `fatal error ${each.timestamp}` } : {}),
      })),
    ],
    20,
    [],
  );
}

function loops(): void {
  const nested = (flip: boolean): Line => (flip ? { b: [1, { d: 2, c: 3 }], a: 0 } : { a: 0, b: [1, { c: 3, d: 2 }] });
  judged(
    13,
    'the order of nested keys does not matter',
    [prompt(0), ...[1, 2, 3, 4, 5].flatMap((n) => same(n, 1, nested(n % 2 === 0)))],
    20,
    ['loop'],
  );
  judged(
    13,
    'the order of a list does',
    [prompt(0), ...[1, 2, 3, 4, 5].flatMap((n) => same(n, 1, { list: n === 3 ? [2, 1] : [1, 2] }))],
    20,
    [],
  );
  judged(
    13,
    'a number is not a text',
    [prompt(0), ...[1, 2, 3, 4, 5].flatMap((n) => same(n, 1, { n: n === 4 ? '1' : 1 }))],
    20,
    [],
  );
  judged(
    13,
    'digests of inputs outweigh cut inputs',
    [prompt(0), ...[1, 2, 3, 4, 5, 6].flatMap((n) => same(n, 1, 'cut', { input_digest: `000000000000000${n}` }))],
    20,
    [],
  );
  judged(
    13,
    'equal digests of outputs outweigh previews',
    [
      prompt(0),
      ...[1, 2, 3, 4, 5].flatMap((n) =>
        same(n, 1, 'x', { output_digest: '00000000000000ff', tool_output_preview: `cut ${n}` }),
      ),
    ],
    20,
    ['loop'],
  );
  judged(
    13,
    'a fifth call in flight has no result yet',
    [prompt(0), ...same(1, 4), call(10, 'a', { tool_input: { command: 'make' } })],
    20,
    [],
  );
  judged(13, 'another call in flight has left the loop', [prompt(0), ...same(1, 5), call(10, 'a')], 20, []);
  judged(
    13,
    'volatile parts are not stripped',
    [prompt(0), ...[1, 2, 3, 4, 5].flatMap((n) => same(n, 1, 'x', { tool_output_preview: `took ${n} ms` }))],
    20,
    [],
  );
  judged(
    13,
    'each agent loops alone',
    [prompt(0), call(0.5, 'task'), ...same(1, 3), ...same(10, 2, { command: 'make' }, SUB)],
    20,
    [],
  );
  const bare = [1, 2, 3, 4, 5, 6].flatMap((n) => [
    line(n, 'pre_tool_use', { tool_use_id: `n${n}`, tool_name: 'Bash' }),
    result(n + 0.5, `n${n}`, 'ok', { tool_output_preview: 'same' }),
  ]);
  judged(13, 'an absent input equals no other one', [prompt(0), ...bare], 20, []);
  const empty = [1, 2, 3, 4, 5, 6].flatMap((n) => same(n, 1, null));
  judged(13, 'nor does one that is null', [prompt(0), ...empty], 20, []);
  judged(13, 'an input without members equals another one', [prompt(0), ...same(1, 6, {})], 20, ['loop']);
  judged(13, 'a limit of two', [prompt(0), ...same(1, 2)], 20, ['loop'], { loop_repeats: 2 });

  judged(
    14,
    'rounds that are one message each',
    [prompt(0), ...letters(1, 'ababab', (index) => ({ batch: `b${Math.floor(index / 2)}` }))],
    20,
    ['loop'],
  );
  judged(
    14,
    'equal calls of one message count once',
    [prompt(0), ...letters(1, 'aaaaaaaa', (index) => ({ batch: `b${Math.floor(index / 2)}` }))],
    20,
    [],
  );
  judged(
    14,
    'five messages of two equal calls',
    [prompt(0), ...letters(1, 'aaaaaaaaaa', (index) => ({ batch: `b${Math.floor(index / 2)}` }))],
    20,
    ['loop'],
  );
  judged(
    14,
    'results are compared',
    [prompt(0), ...letters(1, 'ababab', (index) => (index === 3 ? { tool_output_preview: 'other' } : {}))],
    20,
    [],
  );
  judged(
    14,
    'one call with alternating results is not a cycle',
    [prompt(0), ...letters(1, 'aaaaaa', (index) => ({ tool_output_preview: index % 2 }))],
    20,
    [],
  );
  judged(
    14,
    'equal inputs of two tools are distinct',
    [
      prompt(0),
      ...letters(1, 'aaaaaa', (index) => ({ tool_name: index % 2 ? 'Read' : 'Grep', tool_output_preview: index % 2 })),
    ],
    20,
    ['loop'],
  );
  judged(
    14,
    'the order is that of the requests',
    [
      prompt(0),
      ...[1, 3, 5].flatMap((n) => [
        call(n, `x${n}`, { tool_input: 'x', batch: `b${n}` }),
        call(n + 0.1, `y${n}`, { tool_input: 'y', batch: `b${n}` }),
        ...(n === 3 ? ['y', 'x'] : ['x', 'y']).map((name, index) =>
          result(n + 1 + index / 2, `${name}${n}`, 'ok', { tool_output_preview: name }),
        ),
      ]),
    ],
    20,
    ['loop'],
  );
  judged(14, 'a period of six is not detected', [prompt(0), ...letters(1, 'abcdefabcdefabcdef')], 30, []);
  judged(
    14,
    'a long cycle that the thresholds allow',
    [prompt(0), ...letters(1, `xy${'abcdefghijkl'.repeat(4)}`)],
    90,
    ['loop'],
    { cycle_max_period: 12, cycle_repeats: 4 },
  );
  judged(14, 'the same, a call short', [prompt(0), ...letters(1, `xy${'abcdefghijkl'.repeat(4).slice(1)}`)], 90, [], {
    cycle_max_period: 12,
    cycle_repeats: 4,
  });

  const polled = (input: unknown, rest: Line = {}): Line[] => [prompt(0), ...same(1, 9, input, rest)];
  for (const tool of ['wait', 'wait_agent', 'TaskOutput', 'BashOutput', 'read_bash']) {
    judged(15, `${tool} polls`, polled({ id: 1 }, { tool_name: tool }), 20, []);
  }
  for (const command of [
    'sleep 5',
    'sleep 5 && cat log',
    'gh run view 1',
    'gh run watch 1',
    'gh run list',
    'gh pr checks 7',
  ]) {
    judged(15, `${command} polls`, polled({ command }), 20, []);
  }
  judged(15, 'the same within a shell polls', polled({ command: ['bash', '-lc', 'gh pr checks 7'] }), 20, []);
  judged(15, 'an empty write_stdin polls', polled({ session_id: 1, chars: '' }, { tool_name: 'write_stdin' }), 20, []);
  judged(
    15,
    'a write_stdin with a text does not',
    polled({ session_id: 1, chars: 'y\n' }, { tool_name: 'write_stdin' }),
    20,
    ['loop'],
  );
  const script = (text: string): Line[] => polled({ input: text }, { tool_name: 'exec' });
  for (const text of [
    'const r = await tools.write_stdin({session_id:7,chars:"",yield_time_ms:1000});\ntext(r.output);',
    'text(await tools.write_stdin({ "session_id": 7, "yield_time_ms": 1000 }))',
    "const all = await Promise.all([tools.write_stdin({session_id:7,chars:''}), tools.wait({})]);",
  ])
    judged(15, `a script polls: ${text}`, script(text), 20, []);
  for (const text of [
    'await tools.write_stdin({session_id:7,chars:"y\\n"});',
    'await tools.write_stdin({session_id:7,chars});',
    'await tools.write_stdin({session_id:7,chars:"" + answer});',
    'await tools.write_stdin({session_id:7,chars:""}); await tools.exec_command({cmd:"make"});',
    'const { write_stdin } = tools; await write_stdin({session_id:7,chars:""});',
    'text("done");',
  ])
    judged(15, `a script does more: ${text}`, script(text), 20, ['loop']);
  judged(15, 'gh pr view does not', polled({ command: 'gh pr view 7' }), 20, ['loop']);
  judged(15, 'a mark on the line', polled({ command: 'ask' }, { polling: true }), 20, []);
  judged(15, 'a mark in the input', polled({ command: 'ask', polling: true }), 20, []);
  judged(
    15,
    'neighbours of a poll stay adjacent',
    [prompt(0), ...[1, 4, 7, 10, 13].flatMap((n) => [...same(n, 1), ...same(n + 1, 1, { command: 'sleep 1' })])],
    20,
    ['loop'],
  );
}

function owedTime(): void {
  const turns = [prompt(0), ...busy(1, 3_600), turnEnd(3_600), prompt(10_000, 'machine'), ...busy(10_001, 13_700)];
  limitAt(16, 'turns of machines are summed', turns, 13_600, 'runaway');
  judged(
    16,
    'a message of a person starts again',
    [...turns.slice(0, -13), prompt(12_000), ...busy(12_001, 14_000)],
    14_000,
    [],
  );
  limitAt(
    16,
    'a message of a person within the turn',
    [prompt(0), ...busy(1, 3_000), prompt(3_001), ...busy(3_002, 10_300)],
    3_001 + RUNAWAY,
    'runaway',
  );
  const pausedFor = (kind: string): Line[] => [
    prompt(0),
    call(1, 'a', allowed(9_999)),
    wait(2, kind, of('a')),
    waitEnd(1_002, kind, of('a')),
    ...busy(1_003, 8_300),
  ];
  limitAt(16, 'a permission is subtracted', pausedFor('permission'), RUNAWAY + 1_000, 'runaway');
  limitAt(16, 'a question is subtracted', pausedFor('user'), RUNAWAY + 1_000, 'runaway');
  limitAt(16, 'a rate limit counts', pausedFor('rate_limit'), RUNAWAY, 'runaway');
  limitAt(16, 'a child counts', pausedFor('child'), RUNAWAY, 'runaway');
  limitAt(
    16,
    'two people at once are subtracted once',
    [
      prompt(0),
      call(1, 'a', allowed(9_999)),
      call(1, 'b', allowed(9_999)),
      wait(100, 'permission', of('a')),
      wait(200, 'user', of('b')),
      waitEnd(300, 'permission', of('a')),
      waitEnd(400, 'user', of('b')),
      ...busy(401, 7_700),
    ],
    RUNAWAY + 300,
    'runaway',
  );
  judged(16, 'nothing runs away after the turn', [prompt(0), ...busy(1, 7_500), turnEnd(7_501)], 7_600, []);
}

function timeAndOrder(): void {
  judged(17, 'a line a second ahead counts', [prompt(0), says(SILENCE + 1)], SILENCE + 0.001, []);
  judged(17, 'a line further ahead is held back', [prompt(0), says(SILENCE + 1.002)], SILENCE + 0.001, ['silence']);
  judged(17, 'failures from the future are held back', [prompt(0), ...failing(1, 3), ...failing(100, 3)], 50, []);
  judged(
    17,
    'ties in the order of the file: the prompt after the end',
    [prompt(0), turnEnd(5), prompt(5)],
    5 + SILENCE + 0.001,
    ['silence'],
  );
  judged(
    17,
    'ties in the order of the file: the end after the prompt',
    [prompt(0), prompt(5), turnEnd(5)],
    5 + SILENCE + 0.001,
    [],
  );
  judged(17, 'lines in disorder', [...failing(1, 6).reverse(), prompt(0)], 20, ['error_cascade']);
  limitAt(
    17,
    'a time with an offset',
    [{ ...prompt(0), timestamp: '2026-02-05T11:00:00.000+02:00' }],
    SILENCE,
    'silence',
  );
  const early = { tool_name: 'Bash', event: 'pre_tool_use', start_time: epoch(0) };
  const late = { tool_name: 'Bash', event: 'pre_tool_use', start_time: epoch(100.25) };
  limitAt(
    17,
    'a result belongs to the oldest open call of its tool',
    [early, late, { tool_name: 'Bash', event: 'post_tool_use', end_time: epoch(200.5) }],
    100.25 + TOOL,
    'silence',
  );
  limitAt(
    17,
    'a result of another tool belongs to neither',
    [early, { tool_name: 'Read', event: 'post_tool_use', end_time: epoch(200.5) }],
    TOOL,
    'silence',
  );
  const done = { tool_name: 'Bash', start_time: epoch(0), end_time: epoch(1_800) };
  const more = Array.from({ length: 12 }, (_, index) => ({
    tool_name: 'Bash',
    start_time: epoch(2_000 + index * 480),
    end_time: epoch(2_300 + index * 480),
  }));
  limitAt(17, 'results alone owe from the start of the first call', [done, ...more], RUNAWAY, 'runaway');

  limitAt(18, 'a repeated request counts once', [prompt(0), call(1, 'a'), call(500, 'a')], 1 + TOOL, 'silence');
  judged(
    18,
    'repeated results count once',
    [prompt(0), ...failing(1, 3), ...failing(1, 3).map((each) => ({ ...each, timestamp: isoTime(at(9)) }))],
    20,
    [],
  );
  judged(
    18,
    'results without requests count in the streak',
    [prompt(0), ...failing(1, 6).filter(({ event }) => event === 'post_tool_use')],
    20,
    ['error_cascade'],
  );
  limitAt(18, 'a result without its request is activity', [prompt(0), result(500, 'x')], 500 + SILENCE, 'silence');

  judged(19, 'only unknown events', [line(0, 'telemetry'), line(1, 'telemetry')], 99_999, []);
  judged(19, 'only lines from the future', [prompt(500), call(501, 'a')], 0, []);
}

runsAndTurns();
silenceClock();
waits();
failures();
loops();
owedTime();
timeAndOrder();

export const JUDGEMENT_CASES: readonly JudgementCase[] = CASES;
