/**
 * What does it cost that a directory has had thousands of sessions?
 *
 * Measured: `work list --here`, `track crash-detect` and the hook of a start, each as a process of its own, in a directory of 3,000
 * sessions: nine of ten were answered and left, of every tenth the agent was killed in the middle of a turn.
 * Yardstick: the same in a directory of 300.
 * Target: at most 1.5 times the yardstick. The first look at each directory weighs all of its sessions; it is printed and has no target.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startConversation } from '../memory/programs/conversationStart.js';
import { endRun } from '../memory/programs/runEnd.js';
import { Memory } from '../memory/sessions/memory.js';
import { readProcessIdentity } from '../src/host/identity.js';
import { packageRoot } from '../src/host/program.js';
import { redactShapes } from '../src/log/redact.js';
import { isoTime, MINUTE, SECOND, systemClock } from '../src/time.js';
import { rounded, say, sayCompared, sayTarget } from './report.js';
import { compare, timed } from './rounds.js';
import { inScratchFolder } from './scratch.js';

const [FEW, MANY] = [300, 3_000] as const;
/** Every so many crashed. */
const CRASHED = 10;
const MOST_RATIO = 1.5;
const LIMITS = { rounds: 7, warmUpRounds: 1, limitMs: 60_000 };
const MAIN = join(packageRoot(), 'dist/bridge/cli/main.js');

interface Crowd {
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
}

const LOOKS: Readonly<Record<string, (crowd: Crowd) => void>> = {
  'work list --here': (crowd) => run(crowd, [MAIN, 'work', 'list', '--here']),
  'track crash-detect': (crowd) => run(crowd, [MAIN, 'track', 'crash-detect']),
  'a start': (crowd) => {
    const payload = { hook_event_name: 'SessionStart', session_id: 'next', source: 'startup', cwd: crowd.directory };
    run(crowd, [join(packageRoot(), 'dist/bridge/hook/main.cjs'), 'SessionStart'], JSON.stringify(payload));
  },
};

await inScratchFolder(async (folder) => {
  const [few, many] = [crowd(join(folder, 'few'), FEW), crowd(join(folder, 'many'), MANY)];
  for (const [what, look] of Object.entries(LOOKS)) {
    const [first, second] = [await timed(() => look(few)), await timed(() => look(many))];
    say(`${what}: its first look takes ${rounded(first)} ms among ${FEW}, ${rounded(second)} ms among ${MANY}`);
    const compared = await compare({
      ours: () => timed(() => look(many)),
      yardstick: () => timed(() => look(few)),
      ...LIMITS,
    });
    sayCompared(`${what}, ${MANY} sessions`, `${FEW} sessions`, compared);
    sayTarget({ what: 'times that among a tenth', value: compared.ratio.median, atMost: MOST_RATIO, unit: '' });
  }
});

function run({ directory, environment }: Crowd, words: readonly string[], input = ''): void {
  const options = { cwd: directory, env: environment, input, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, words, options);
  // `crash-detect` exits with 1 because it finds crashes.
  if ((status !== 0 && status !== 1) || stdout === '')
    throw new Error(`${words.join(' ')} ended with ${status}: ${stderr}`);
}

function crowd(folder: string, count: number): Crowd {
  const [directory, home, transcripts] = ['work', 'home', 'transcripts'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [join(directory, '.git'), transcripts]) mkdirSync(path, { recursive: true });
  let now = systemClock.now() - (count + 1) * MINUTE;
  const clock = { ...systemClock, now: () => now };
  const surroundings = { directory, process: readProcessIdentity('bench'), variables: { WATCHKEEPER_HOME: home } };
  const memory = new Memory({ surroundings, folder: null, clock, redact: redactShapes, origin: 'program' });
  for (let index = 0; index < count; index += 1) {
    now += MINUTE;
    const isCrash = index % CRASHED === 0;
    const conversation = `c-${index}`;
    const transcript = join(transcripts, `${conversation}.jsonl`);
    writeFileSync(transcript, recordsOf(conversation, directory, now - 10 * SECOND, isCrash));
    const agent = { ...surroundings.process, pid_start: `${index}` };
    const launch = {
      provider: 'claude',
      conversation,
      source: 'startup',
      transcript,
      agent,
      launchedIn: null,
    } as const;
    const { session } = startConversation(memory, launch);
    if (!isCrash) endRun(memory, session, agent, 'prompt_input_exit');
    session.log.close();
  }
  // No round over all sessions begins while it is measured.
  writeFileSync(join(home, 'kept'), '');
  const { PATH } = process.env;
  return { directory, environment: { PATH, HOME: folder, WATCHKEEPER_HOME: home, WATCHKEEPER_HOST: 'bench' } };
}

function recordsOf(sessionId: string, cwd: string, at: number, isOpen: boolean): string {
  const assistant = (content: object, stop_reason: string) => ({
    type: 'assistant',
    message: { id: `m-${sessionId}`, role: 'assistant', content: [content], stop_reason },
  });
  const last = isOpen
    ? assistant({ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'npm test' } }, 'tool_use')
    : assistant({ type: 'text', text: 'It is a thing.' }, 'end_turn');
  const asked = { type: 'user', message: { role: 'user', content: `What is ${sessionId}?` } };
  return [asked, last]
    .map((record, index) => {
      const common = { sessionId, cwd, isSidechain: false, uuid: `u${index}`, timestamp: isoTime(at + index * SECOND) };
      return `${JSON.stringify({ ...common, ...record })}\n`;
    })
    .join('');
}
