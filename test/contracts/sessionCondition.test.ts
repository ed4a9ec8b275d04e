// covers: memory/condition/condition.ts memory/condition/stuck.ts memory/condition/damage.ts memory/condition/words.ts
// covers: memory/condition/recorded.ts memory/condition/publishedWait.ts memory/look/publishedWait.ts memory/look/look.ts memory/verbs/candidates.ts memory/sessions/unclear.ts monitoring/terminals/judge.ts monitoring/terminals/liveTerminal.ts
/** How a session is, asked of every surface that says it: one condition, so that no two of them contradict each other. */
import { expect, test } from '@jest/globals';
import { SCENES, SessionScene } from './sessionScenes.js';
import { SURFACES } from './sessionSurfaces.js';

const GONE = 'the process of its agent is gone, and its program did not report its end';
const CUT_OFF = 'the program of its agent ended in the middle of a turn';

/** What each surface shows of an agent at work; a row names what differs from it. */
const AT_WORK = {
  'work list': 'at work, alive',
  'work show': '0; at work; its agent is alive',
  'track status': '0; at work; its agent is alive',
  'the candidates': 'its agent is alive',
  session: '0; at work; its agent is alive',
  sessions: 'at work, alive',
  'monitor --check': '0; not stuck',
  'crash-detect': '0; no crashed session',
  'track resume': '0; active; was at work when',
  doctor: 'ok',
  '/status': 'An agent in a terminal uses this directory',
  'the hook of the next agent': 'named; Another agent is at work',
};

/** What each surface shows, by scene. */
const SHOWN: Readonly<Record<string, Partial<typeof AT_WORK>>> = {
  planned: {
    'work list': 'planned, -',
    'work show': '0; planned; no agent is known',
    'track status': '0; planned; no agent is known',
    'the candidates': '-',
    session: '0; planned; no agent is known',
    sessions: 'planned, -',
    'track resume': '0; planned',
    '/status': '-',
    'the hook of the next agent': 'named; planned',
  },
  alive: {
    'work list': '-',
    'work show': '0; resting; its agent is alive',
    'track status': '0; resting; its agent is alive',
    session: '0; resting; its agent is alive',
    sessions: '-',
    'track resume': '0; active',
    'the hook of the next agent': '-',
  },
  'at work': {},
  'in a tool': {
    'track status': '0; at work; its agent is alive; a call of its agent is running',
    'monitor --check': '0; not stuck; a call of its agent',
  },
  'waiting for a person': {
    'work list': 'waiting for you, alive',
    'work show': '0; waiting for you; its agent is alive',
    'track status': '0; waiting for you; its agent is alive; its agent waits for',
    session: '0; waiting for you; its agent is alive',
    sessions: 'waiting for you, alive',
    'monitor --check': '0; not stuck; its agent waits',
    'the hook of the next agent': 'named; Another agent waits for its person',
  },
  'waits for a person for long, as its program publishes': {
    'work list': 'waiting for you, alive',
    'work show': '0; waiting for you; its agent is alive',
    'track status': '0; waiting for you; its agent is alive; its agent waits for',
    session: '0; waiting for you; its agent is alive',
    sessions: 'waiting for you, alive',
    'monitor --check': '0; not stuck; its agent waits',
    'the hook of the next agent': 'named; Another agent waits for its person',
  },
  'works, as its program publishes': {},
  'works on after a person has answered, as its program publishes': {
    'track status': '0; at work; its agent is alive; a call of its agent is running',
    'monitor --check': '0; not stuck; a call of its agent',
  },
  'is asked again, as its program publishes': {
    'work list': 'waiting for you, alive',
    'work show': '0; waiting for you; its agent is alive',
    'track status': '0; waiting for you; its agent is alive; its agent waits for',
    session: '0; waiting for you; its agent is alive',
    sessions: 'waiting for you, alive',
    'monitor --check': '0; not stuck; its agent waits',
    'the hook of the next agent': 'named; Another agent waits for its person',
  },
  'killed without hooks': {
    'work list': 'crashed, dead',
    'work show': `0; crashed; ${GONE}`,
    'track status': `0; crashed; ${GONE}`,
    'the candidates': 'crashed',
    session: `1; crashed; ${GONE}`,
    sessions: 'crashed, dead',
    'monitor --check': '0; not stuck; no agent is at work',
    'crash-detect': '1; crashed',
    'track resume': '0; active; Its agent crashed; was at work when',
    '/status': '-',
    'the hook of the next agent': 'named; active; Its agent crashed; an agent here crashed',
  },
  'ended without hooks': {
    'work list': '-',
    'work show': '0; resting; its agent has ended',
    'track status': '0; resting; its agent has ended',
    'the candidates': '-',
    session: '0; resting; its agent has ended',
    sessions: '-',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; active; Its last turn ended',
    '/status': '-',
    'the hook of the next agent': 'named; Nothing is unfinished',
  },
  'has answered': {
    'work list': '-',
    'work show': '0; resting; its agent is alive',
    'track status': '0; resting; its agent is alive',
    session: '0; resting; its agent is alive',
    sessions: '-',
    'track resume': '0; active; Its last turn ended',
    'the hook of the next agent': '-',
  },
  stuck: {
    'work list': 'stuck, alive',
    'work show': '0; stuck; its agent is alive; seems stuck',
    'track status': '1; stuck; its agent is alive; seems stuck; notice',
    'the candidates': 'its agent seems stuck',
    session: '1; stuck; its agent is alive; stuck',
    sessions: 'stuck, alive',
    'monitor --check': '1; stuck',
    '/status': 'An agent in a terminal uses this directory; seemed stuck',
  },
  'stuck, and no watcher has noticed': {
    'work list': 'stuck, alive',
    'work show': '0; stuck; its agent is alive; seems stuck',
    'track status': '1; stuck; its agent is alive; seems stuck',
    'the candidates': 'its agent seems stuck',
    session: '1; stuck; its agent is alive; stuck',
    sessions: 'stuck, alive',
    'monitor --check': '1; stuck',
    '/status': 'An agent in a terminal uses this directory; seemed stuck',
  },
  'noticed in a session without an agent': {
    'work list': 'stuck, -',
    'work show': '0; stuck; no agent is known; seems stuck',
    'track status': '1; stuck; no agent is known; notice',
    'the candidates': '-',
    session: '1; stuck; no agent is known; stuck',
    sessions: 'stuck, -',
    'monitor --check': '1; stuck',
    'track resume': '0; planned',
    '/status': '-',
    'the hook of the next agent': 'named; planned',
  },
  'works again without an agent, and no watcher has closed the notice': {
    'work list': 'planned, -',
    'work show': '0; planned; no agent is known',
    'track status': '0; planned; no agent is known; (over, or excused)',
    'the candidates': '-',
    session: '0; planned; no agent is known',
    sessions: 'planned, -',
    'track resume': '0; planned',
    '/status': '-',
    'the hook of the next agent': 'named; planned',
  },
  excused: {
    'track status': '0; at work; its agent is alive; (over, or excused); silence is excused',
    'monitor --check': '0; not stuck; silence is excused',
  },
  'excused, and no watcher has noticed': {
    'track status': '0; at work; its agent is alive; silence is excused',
    'monitor --check': '0; not stuck; silence is excused',
  },
  'noticed for its failures, and silence is excused': {
    'work list': 'stuck, alive',
    'work show': '0; stuck; its agent is alive; seems stuck',
    'track status': '1; stuck; its agent is alive; notice; silence is excused',
    'the candidates': 'its agent seems stuck',
    session: '1; stuck; its agent is alive; stuck',
    sessions: 'stuck, alive',
    'monitor --check': '1; stuck',
    '/status': 'An agent in a terminal uses this directory; seemed stuck',
  },
  'works again, and no watcher has closed the notice': {
    'track status': '0; at work; its agent is alive; (over, or excused)',
  },
  crashed: {
    'work list': 'crashed, dead',
    'work show': `0; crashed; ${GONE}`,
    'track status': `0; crashed; ${GONE}`,
    'the candidates': 'crashed',
    session: `1; crashed; ${GONE}`,
    sessions: 'crashed, dead',
    'monitor --check': '0; not stuck; no agent is at work',
    'crash-detect': '1; crashed',
    'track resume': '0; active; Its agent crashed; was at work when',
    '/status': '-',
    'the hook of the next agent': 'named; active; Its agent crashed; an agent here crashed',
  },
  'crashed after a notice': {
    'work list': 'crashed, dead',
    'work show': `0; crashed; ${GONE}`,
    'track status': `0; crashed; ${GONE}; (over, or excused)`,
    'the candidates': 'crashed',
    session: `1; crashed; ${GONE}`,
    sessions: 'crashed, dead',
    'monitor --check': '0; not stuck; no agent is at work',
    'crash-detect': '1; crashed',
    'track resume': '0; active; Its agent crashed; was at work when',
    '/status': '-',
    'the hook of the next agent': 'named; active; Its agent crashed; an agent here crashed',
  },
  'closed after its answer, by a program that does not report it': {
    'work list': '-',
    'work show': '0; resting; its agent has ended',
    'track status': '0; resting; its agent has ended',
    'the candidates': '-',
    session: '0; resting; its agent has ended',
    sessions: '-',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; active; Its last turn ended',
    '/status': '-',
    'the hook of the next agent': 'named; Nothing is unfinished',
  },
  'closed in the middle of a turn, by a program that does not report it': {
    'work list': 'crashed, dead',
    'work show': `0; crashed; ${GONE}`,
    'track status': `0; crashed; ${GONE}`,
    'the candidates': 'crashed',
    session: `1; crashed; ${GONE}`,
    sessions: 'crashed, dead',
    'monitor --check': '0; not stuck; no agent is at work',
    'crash-detect': '1; crashed',
    'track resume': '0; active; Its agent crashed; was at work when',
    '/status': '-',
    'the hook of the next agent': 'named; active; Its agent crashed; an agent here crashed',
  },
  'crashed after its answer': {
    'work list': 'crashed, dead',
    'work show': `0; crashed; ${GONE}`,
    'track status': `0; crashed; ${GONE}`,
    'the candidates': 'crashed',
    session: `1; crashed; ${GONE}`,
    sessions: 'crashed, dead',
    'monitor --check': '0; not stuck; no agent is at work',
    'crash-detect': '1; crashed',
    'track resume': '0; active; Its agent crashed; Its last turn ended',
    '/status': '-',
    'the hook of the next agent': 'named; active; Its agent crashed; an agent here crashed',
  },
  'had answered when its host was started again': {
    'work list': '-',
    'work show': '0; resting; its agent has ended',
    'track status': '0; resting; its agent has ended',
    'the candidates': '-',
    session: '0; resting; its agent has ended',
    sessions: '-',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; active; Its last turn ended',
    '/status': '-',
    'the hook of the next agent': 'named; Nothing is unfinished',
  },
  'cut off': {
    'work list': 'cut off, ended',
    'work show': `0; cut off; ${CUT_OFF}`,
    'track status': `0; cut off; ${CUT_OFF}`,
    'the candidates': 'cut off',
    session: `1; cut off; ${CUT_OFF}`,
    sessions: 'cut off, ended',
    'monitor --check': '0; not stuck; no agent is at work',
    'crash-detect': '1; was cut off',
    'track resume': '0; active; Its agent was cut off',
    '/status': '-',
    'the hook of the next agent': 'named; active; Its agent was cut off; an agent here was cut off',
  },
  'stopped by its person, who left then': {
    'work list': 'stopped, ended',
    'work show': '0; stopped; its agent has ended',
    'track status': '0; stopped; its agent has ended',
    'the candidates': '-',
    session: '0; stopped; its agent has ended',
    sessions: 'stopped, ended',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; active; Its last turn ended',
    '/status': '-',
    'the hook of the next agent': 'named; active',
  },
  'killed before anything was asked': {
    'work list': '-',
    'work show': '0; resting; its agent has ended',
    'track status': '0; resting; its agent has ended',
    'the candidates': '-',
    session: '0; resting; its agent has ended',
    sessions: '-',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; active',
    '/status': '-',
    'the hook of the next agent': '-',
  },
  resting: {
    'work list': '-',
    'work show': '0; resting; its agent has ended',
    'track status': '0; resting; its agent has ended',
    'the candidates': '-',
    session: '0; resting; its agent has ended',
    sessions: '-',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; active; Its last turn ended',
    '/status': '-',
    'the hook of the next agent': 'named; Nothing is unfinished',
  },
  'ended, as only its launcher has noted': {
    'work list': '-',
    'work show': '0; resting; its agent has ended',
    'track status': '0; resting; its agent has ended',
    'the candidates': '-',
    session: '0; resting; its agent has ended',
    sessions: '-',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; active; Its last turn ended',
    '/status': '-',
    'the hook of the next agent': 'named; Nothing is unfinished',
  },
  ended: {
    'work list': '-',
    'work show': '0; ended, completed; its agent has ended',
    'track status': '0; ended, completed; its agent has ended',
    'the candidates': '-',
    session: '0; ended, completed; its agent has ended',
    sessions: '-',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; completed; Its last turn ended',
    '/status': '-',
    'the hook of the next agent': '-',
  },
  'on another host': {
    'work list': 'stuck, unknown',
    'work show': '0; stuck; whether its agent lives cannot be seen from here; seems stuck',
    'track status': '1; stuck; whether its agent lives cannot be seen from here; seems stuck',
    'the candidates': 'its agent seems stuck',
    session: '1; stuck; whether its agent lives cannot be seen from here; stuck',
    sessions: 'stuck, unknown',
    'monitor --check': '1; stuck',
    'crash-detect': '0; no crashed session; ran on host',
    'track resume': '0; active; Its agent ran on host; was at work when',
    '/status': '-',
    'the hook of the next agent': 'named; active; ran on host',
  },
  damaged: {
    'work list': 'at work, damaged, alive',
    'work show': '0; at work; its agent is alive; cannot be read',
    'track status': '0; at work; its agent is alive; cannot be read',
    session: '0; at work; its agent is alive; cannot be read',
    sessions: 'at work, damaged, alive',
    doctor: 'warning; unreadable',
  },
  archived: {
    'work list': '-',
    'work show': '0; resting; its agent has ended',
    'track status': '0; resting; its agent has ended',
    'the candidates': '-',
    session: '0; resting; its agent has ended',
    sessions: '-',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; active; Its last turn ended',
    '/status': '-',
    'the hook of the next agent': '-',
  },
};

/** By which words a surface says so. One that does not name the session at all says nothing. */
const SAYS: Readonly<Record<'stuck' | 'crashed' | 'cut off', Partial<Record<keyof typeof AT_WORK, RegExp>>>> = {
  stuck: {
    'work list': /^stuck/,
    'work show': /seems stuck/,
    'track status': /^1/,
    'the candidates': /seems stuck/,
    session: /; stuck/,
    sessions: /^stuck/,
    'monitor --check': /^1/,
    '/status': /seemed stuck/,
  },
  crashed: {
    'work list': /^crashed/,
    'work show': /its program did not report its end/,
    'track status': /its program did not report its end/,
    'the candidates': /^crashed/,
    session: /its program did not report its end/,
    sessions: /^crashed/,
    'crash-detect': /^1; crashed/,
    'track resume': /Its agent crashed/,
    'the hook of the next agent': /Its agent crashed/,
  },
  'cut off': {
    'work list': /^cut off/,
    'work show': /ended in the middle of a turn/,
    'track status': /ended in the middle of a turn/,
    'the candidates': /^cut off/,
    session: /ended in the middle of a turn/,
    sessions: /^cut off/,
    'crash-detect': /^1; was cut off/,
    'track resume': /Its agent was cut off/,
    'the hook of the next agent': /Its agent was cut off/,
  },
};

test.each(Object.keys(SCENES))('%s', async (name) => {
  const scene = new SessionScene();
  await SCENES[name]?.(scene);
  const shown: Record<string, string> = {};
  for (const [surface, ask] of Object.entries(SURFACES)) shown[surface] = await ask(scene);
  expect(shown).toEqual({ ...AT_WORK, ...SHOWN[name] });
});

// Another surface may have taken it in before, so each gets a scene of its own.
test.each(Object.entries(SURFACES))('%s takes in first what a launcher has noted of an end', async (_, ask) => {
  const [scene, resting] = [new SessionScene(), new SessionScene()];
  await SCENES['ended, as only its launcher has noted']?.(scene);
  await SCENES.resting?.(resting);
  expect(await ask(scene)).toBe(await ask(resting));
});

test('a watch records it, too, although it shows nothing of a session whose agent is gone', async () => {
  const scene = new SessionScene();
  await SCENES['ended, as only its launcher has noted']?.(scene);
  await SURFACES['/status']?.(scene);
  expect(scene.open().look(scene.id)?.log.state.runs).toMatchObject([
    { ended_at: expect.any(Number), reason: 'other' },
  ]);
});

test.each(Object.entries(SHOWN))('%s: what the table says is no contradiction', (_, row) => {
  const shown: Readonly<Record<string, string>> = { ...AT_WORK, ...row };
  for (const [what, words] of Object.entries(SAYS)) {
    const said = Object.entries(words).filter(([surface]) => shown[surface] !== '-');
    const answers = said.map(([surface, word]) => [surface, word.test(shown[surface] ?? '')] as const);
    const [[, first = null] = []] = answers;
    expect([what, answers.filter(([, answer]) => answer !== first)]).toEqual([what, []]);
  }
});
