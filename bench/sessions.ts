/**
 * How long does `work list` take among 10,000 sessions?
 *
 * Measured: the command in this process, with its table, of all sessions. All but one in a hundred have ended, so that their
 * state is written; the others are folded.
 * Yardstick: their folders listed, and each `state.json` read and parsed.
 * Targets: at most 2 times the yardstick; at most 100 MB above the list of no session.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type WorklogLine, worklogKind } from '../memory/fold/rules/kind.js';
import { generate } from '../memory/keeping/generate.js';
import { stampLine, textOfLine } from '../memory/logs/line.js';
import { Memory } from '../memory/sessions/memory.js';
import { readProcessIdentity } from '../src/host/identity.js';
import { redactShapes } from '../src/log/redact.js';
import { MINUTE, systemClock } from '../src/time.js';
import { peakOf } from './peak.js';
import { rounded, say, sayCompared, sayTarget } from './report.js';
import { compare, processed } from './rounds.js';
import { inScratchFolder } from './scratch.js';
import { listOf } from './workList.js';

const SESSIONS = 10_000;
/** Every so many is unfinished. */
const UNFINISHED = 100;
const STEPS = 5;
const MOST_RATIO = 2;
const MOST_MEGABYTES = 100;
const ROUNDS = 9;
const WARM_UP_ROUNDS = 2;
const LIMIT_MS = 60_000;

await inScratchFolder(async (folder) => {
  const [home, empty] = [join(folder, 'home'), join(folder, 'empty')];
  await populate(home);
  const limits = { rounds: ROUNDS, warmUpRounds: WARM_UP_ROUNDS, limitMs: LIMIT_MS };
  const yardstick = () => processed(() => readStates(home));
  say(`sessions: ${SESSIONS}, of which ${SESSIONS / UNFINISHED} are unfinished; a state has ${stateBytes(home)} bytes`);
  for (const options of [['--json'], []]) {
    const compared = await compare({ ours: () => processed(() => listOf(home, options)), yardstick, ...limits });
    sayCompared(`work list --all ${options.join(' ')}`, 'state.json read and parsed', compared);
    sayTarget({ what: 'times reading the states', value: compared.ratio.median, atMost: MOST_RATIO, unit: '' });
  }
  const [before, after] = [peakOf(folder, ['work', empty]), peakOf(folder, ['work', home])];
  say(`  at most ${rounded(before)} MB for none, ${rounded(after)} MB for all`);
  sayTarget({ what: 'more resident memory', value: after - before, atMost: MOST_MEGABYTES, unit: ' MB' });
});

async function populate(home: string): Promise<void> {
  const surroundings = { directory: '/', process: readProcessIdentity('bench'), variables: { WATCHKEEPER_HOME: home } };
  let now = systemClock.now() - SESSIONS * MINUTE;
  const clock = { ...systemClock, now: () => now };
  const stamp = { clock, redact: redactShapes, origin: 'agent' } as const;
  const memory = new Memory({ surroundings, folder: null, clock, redact: redactShapes });
  for (let index = 0; index < SESSIONS; index += 1) {
    now += MINUTE;
    const id = `2026-11-01-case-${index + 1}`;
    const path = memory.places.sessionFolder(id);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const isUnfinished = index % UNFINISHED === 0;
    const lines = [
      ...linesOf(id, index),
      ...(isUnfinished ? [] : [worklogKind.line('session_ended', { reason: 'completed' })]),
    ];
    writeFileSync(
      join(path, 'worklog.jsonl'),
      lines.map((line) => textOfLine(stampLine({ session_id: id, ...line }, stamp))).join(''),
    );
    const session = memory.sessions.read(id);
    if (session === null) throw new Error(`session ${id} cannot be read`);
    const { state } = await generate(memory, session);
    writeFileSync(join(path, 'state.json'), `${JSON.stringify(state)}\n`);
    // Something happened since.
    if (isUnfinished)
      writeFileSync(
        join(path, 'worklog.jsonl'),
        textOfLine(stampLine(worklogKind.line('log', { message: 'later' }), stamp)),
        {
          flag: 'a',
        },
      );
  }
}

/** What a small piece of work leaves. */
function linesOf(id: string, index: number): WorklogLine[] {
  const steps = Array.from({ length: STEPS }, (_, step) => `${step + 1}`);
  const path = (step: string) => `src/room${index % 17}/part${step}.ts`;
  return [
    worklogKind.line('session_started', { session_id: id, purpose: `Fix case ${index} of the login`, explicit: true }),
    ...steps.map((step) => worklogKind.line('step_added', { step, title: `Part ${step}: find the cause and mend it` })),
    ...steps.flatMap((step) => [
      worklogKind.line('step', { step, to: 'in_progress', paths: [path(step)] }),
      worklogKind.line('log', { message: `the tests of part ${step} pass`, step }),
      worklogKind.line('step', { step, to: 'completed' }),
    ]),
    worklogKind.line('note', { text: 'the API wants UTC', priority: 'high' }),
  ];
}

function readStates(home: string): void {
  const sessions = join(home, 'sessions');
  for (const id of readdirSync(sessions)) JSON.parse(readFileSync(join(sessions, id, 'state.json'), 'utf8'));
}

function stateBytes(home: string): number {
  const [first = ''] = readdirSync(join(home, 'sessions'));
  return readFileSync(join(home, 'sessions', first, 'state.json')).length;
}
