// covers: memory/sessions/inherited.ts
/** A shell that has inherited the variables of an agent that is gone, as from a terminal's server that the agent started. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { worklogKind } from '../../../../memory/fold/rules/kind.js';
import { startConversation } from '../../../../memory/programs/conversationStart.js';
import { BridgeSession } from '../../../../memory/sessions/bridgeSession.js';
import { Memory } from '../../../../memory/sessions/memory.js';
import { type ProcessIdentity, readProcessIdentity } from '../../../../src/host/identity.js';
import { createRedactor, redactShapes } from '../../../../src/log/redact.js';
import { systemClock } from '../../../../src/time.js';
import { testFolder } from '../../../harness/folder.js';
import { afterThisTest } from '../../../harness/scope.js';
import { WorkScene } from './scene.js';

const ID = 'tg_boat_1_2';
const PARENT = readProcessIdentity('host', process.ppid);
const GONE: ProcessIdentity = { ...PARENT, pid_start: '1' };

/** An agent that lives, and is not above this process. */
function other(): ProcessIdentity {
  const child = spawn('sleep', ['60']);
  afterThisTest(() => void child.kill('SIGKILL'));
  return readProcessIdentity('host', child.pid);
}

/** A bridge's session with one run, and the variables that the bridge gives to its agent. */
function bridge(agent: ProcessIdentity) {
  const logs = join(testFolder(), 'logs');
  mkdirSync(logs, { mode: 0o700 });
  writeFileSync(join(logs, 'watchdog.id'), '01K0\n');
  const session = new BridgeSession(logs, ID, { clock: systemClock, redact: createRedactor([]) });
  session.write(() => [
    worklogKind.line('session_started', { session_id: ID, purpose: 'sail' }),
    worklogKind.line('run_started', { process: agent, run_id: 'r' }),
  ]);
  const variables = { WATCHKEEPER_MEMORY: logs, WATCHKEEPER_SESSION: ID, WATCHKEEPER_RUN: 'r' };
  const worklog = () => readFileSync(join(logs, 'sessions', ID, 'worklog.jsonl'), 'utf8');
  return { variables, worklog };
}

const INHERITED = `this shell has inherited WATCHKEEPER_SESSION (${ID}) from an agent that is not at work here any more`;

// rule: an-inherited-session-is-not-meant
test.each([
  ['is gone', () => GONE],
  ['works elsewhere', other],
] as const)(
  'the session of a bridge whose agent %s is not meant: the person works in the own one, and is told',
  async (_, agent) => {
    const scene = new WorkScene();
    const own = await scene.begin('Paint the door');
    const { variables, worklog } = bridge(agent());
    const before = worklog();
    const { code, err } = await scene.say('track', ['note', 'Sanded'], { variables });
    expect([code, worklog()]).toEqual([0, before]);
    expect(err).toContain(INHERITED);
    expect((await scene.json('work', ['show', own])).notes).toMatchObject([{ text: 'Sanded' }]);
  },
);

test('the session of a bridge is meant in the shell of its agent, without a word', async () => {
  const scene = new WorkScene();
  const { variables, worklog } = bridge(PARENT);
  const { code, err } = await scene.say('track', ['note', 'Sanded'], { variables });
  expect([code, err]).toEqual([0, '']);
  expect(worklog()).toContain('Sanded');
});

test('a variable that was set by hand is followed, and the command says so', async () => {
  const scene = new WorkScene();
  const { variables, worklog } = bridge(GONE);
  const { WATCHKEEPER_RUN: _, ...set } = variables;
  const { code, err } = await scene.say('track', ['note', 'Sanded'], { variables: set });
  expect(code).toBe(0);
  expect(worklog()).toContain('Sanded');
  expect(err).toContain(`session ${ID} is meant, because WATCHKEEPER_SESSION names it; its agent is not the one whose`);
});

test.each([
  ['is gone', () => GONE, true],
  ['works elsewhere', other, true],
  ['runs the shell', () => PARENT, false],
] as const)(
  "an agent's conversation that a shell has inherited, and whose agent %s, is named",
  async (_, agent, isSaid) => {
    const scene = new WorkScene();
    mkdirSync(scene.home, { mode: 0o700 });
    const memory = new Memory({
      surroundings: {
        directory: scene.directory,
        process: readProcessIdentity('host'),
        variables: { WATCHKEEPER_HOME: scene.home },
      },
      ...{ folder: null, clock: systemClock, redact: redactShapes },
    });
    const launch = {
      provider: 'claude',
      conversation: 'c-1',
      source: 'startup',
      transcript: null,
      launchedIn: null,
    } as const;
    const { session } = startConversation(memory, { ...launch, agent: agent() });
    session.log.close();
    const { code, err } = await scene.say('track', ['note', 'Sanded'], {
      variables: { CLAUDE_CODE_SESSION_ID: 'c-1' },
    });
    expect(code).toBe(0);
    const said = `session ${session.id} is meant, because CLAUDE_CODE_SESSION_ID names it`;
    expect(err.includes(said)).toBe(isSaid);
  },
);
