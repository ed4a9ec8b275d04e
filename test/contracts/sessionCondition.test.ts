// covers: memory/condition/condition.ts memory/condition/stuck.ts memory/condition/damage.ts memory/condition/words.ts
// covers: memory/condition/recorded.ts memory/condition/publishedWait.ts memory/look/look.ts memory/verbs/candidates.ts memory/sessions/unclear.ts monitoring/terminals/judge.ts monitoring/terminals/liveTerminal.ts
/** How a session is, asked of every surface that says it: one condition, so that no two of them contradict each other. */
import { expect, test } from '@jest/globals';
import { SCENES, SessionScene } from './sessionScenes.js';
import { SURFACES } from './sessionSurfaces.js';

/** What each surface shows of an agent at work; a row names what differs from it. */
const AT_WORK = {
  'work list': 'active, alive',
  'work show': '0; active; its agent is alive',
  'track status': '0; active; its agent is alive; its agent is working',
  'the candidates': 'its agent is alive',
  session: '0; active; its agent is alive',
  sessions: 'active, alive',
  'monitor --check': '0; not stuck',
  'crash-detect': '0; no crashed session',
  'track resume': '0; active; was at work when',
  doctor: 'ok',
  '/status': 'An agent in a terminal uses this directory',
  'the hook of the next agent': '-',
};

/** What each surface shows, by scene. */
const SHOWN: Readonly<Record<string, Partial<typeof AT_WORK>>> = {
  planned: {
    'work list': 'planned, -',
    'work show': '0; planned; no agent is known',
    'track status': '0; planned; no agent is known; idle',
    'the candidates': '-',
    session: '0; planned; no agent is known',
    sessions: 'planned, -',
    'track resume': '0; planned',
    '/status': '-',
    'the hook of the next agent': 'named; planned',
  },
  alive: {
    'track status': '0; active; its agent is alive; idle',
    'track resume': '0; active',
  },
  'at work': {},
  'in a tool': {
    'track status': '0; active; its agent is alive; a call of its agent is running',
    'monitor --check': '0; not stuck; a call of its agent',
  },
  'waiting for a person': {
    'track status': '0; active; its agent is alive; its agent waits for a person or the model; waiting, since',
    'monitor --check': '0; not stuck; its agent waits',
  },
  'waits for a person for long, as its program publishes': {
    'track status': '0; active; its agent is alive; its agent waits for a person (permission prompt); waiting, since',
    'monitor --check': '0; not stuck; its agent waits',
  },
  'works, as its program publishes': {},
  'killed without hooks': {
    'work list': 'crashed, dead',
    'work show': '0; active; its agent CRASHED',
    'track status': '0; active; its agent CRASHED',
    'the candidates': 'crashed',
    session: '1; active; its agent CRASHED; crash',
    sessions: 'crashed, dead',
    'monitor --check': '0; not stuck; no agent is at work',
    'crash-detect': '1; crashed',
    'track resume': '0; active; Its agent crashed; was at work when',
    '/status': '-',
    'the hook of the next agent': 'named; active; Its agent crashed; the last agent here crashed',
  },
  'ended without hooks': {
    'work list': 'active, ended',
    'work show': '0; active; its agent has ended',
    'track status': '0; active; its agent has ended; idle',
    'the candidates': '-',
    session: '0; active; its agent has ended',
    sessions: 'active, ended',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; active; Its last turn ended',
    '/status': '-',
    'the hook of the next agent': 'named; active',
  },
  'has answered': {
    'track status': '0; active; its agent is alive; idle',
    'track resume': '0; active; Its last turn ended',
  },
  stuck: {
    'work list': 'stuck, alive',
    'work show': '0; active; its agent is alive; seems stuck',
    'track status': '1; active; its agent is alive; STUCK; notice; its agent is working',
    'the candidates': 'its agent seems stuck',
    session: '1; active; its agent is alive; stuck',
    sessions: 'stuck, alive',
    'monitor --check': '1; STUCK',
    '/status': 'An agent in a terminal uses this directory; seemed stuck',
  },
  'stuck, and no watcher has noticed': {
    'work list': 'stuck, alive',
    'work show': '0; active; its agent is alive; seems stuck',
    'track status': '1; active; its agent is alive; STUCK; its agent is working',
    'the candidates': 'its agent seems stuck',
    session: '1; active; its agent is alive; stuck',
    sessions: 'stuck, alive',
    'monitor --check': '1; STUCK',
    '/status': 'An agent in a terminal uses this directory; seemed stuck',
  },
  'noticed in a session without an agent': {
    'work list': 'stuck, -',
    'work show': '0; planned; no agent is known; seems stuck',
    'track status': '1; planned; no agent is known; notice; idle',
    'the candidates': '-',
    session: '1; planned; no agent is known; stuck',
    sessions: 'stuck, -',
    'monitor --check': '1; STUCK',
    'track resume': '0; planned',
    '/status': '-',
    'the hook of the next agent': 'named; planned',
  },
  'works again without an agent, and no watcher has closed the notice': {
    'work list': 'planned, -',
    'work show': '0; planned; no agent is known',
    'track status': '0; planned; no agent is known; (over, or excused); idle',
    'the candidates': '-',
    session: '0; planned; no agent is known',
    sessions: 'planned, -',
    'track resume': '0; planned',
    '/status': '-',
    'the hook of the next agent': 'named; planned',
  },
  excused: {
    'track status': '0; active; its agent is alive; (over, or excused); its agent is working; silence is excused',
    'monitor --check': '0; not stuck; silence is excused',
  },
  'excused, and no watcher has noticed': {
    'track status': '0; active; its agent is alive; its agent is working; silence is excused',
    'monitor --check': '0; not stuck; silence is excused',
  },
  'noticed for its failures, and silence is excused': {
    'work list': 'stuck, alive',
    'work show': '0; active; its agent is alive; seems stuck',
    'track status': '1; active; its agent is alive; notice; its agent is working; silence is excused',
    'the candidates': 'its agent seems stuck',
    session: '1; active; its agent is alive; stuck',
    sessions: 'stuck, alive',
    'monitor --check': '1; STUCK',
    '/status': 'An agent in a terminal uses this directory; seemed stuck',
  },
  'works again, and no watcher has closed the notice': {
    'track status': '0; active; its agent is alive; (over, or excused); its agent is working',
  },
  crashed: {
    'work list': 'crashed, dead',
    'work show': '0; active; its agent CRASHED',
    'track status': '0; active; its agent CRASHED',
    'the candidates': 'crashed',
    session: '1; active; its agent CRASHED; crash',
    sessions: 'crashed, dead',
    'monitor --check': '0; not stuck; no agent is at work',
    'crash-detect': '1; crashed',
    'track resume': '0; active; Its agent crashed; was at work when',
    '/status': '-',
    'the hook of the next agent': 'named; active; Its agent crashed; the last agent here crashed',
  },
  'crashed after a notice': {
    'work list': 'crashed, dead',
    'work show': '0; active; its agent CRASHED',
    'track status': '0; active; its agent CRASHED; (over, or excused)',
    'the candidates': 'crashed',
    session: '1; active; its agent CRASHED; crash',
    sessions: 'crashed, dead',
    'monitor --check': '0; not stuck; no agent is at work',
    'crash-detect': '1; crashed',
    'track resume': '0; active; Its agent crashed; was at work when',
    '/status': '-',
    'the hook of the next agent': 'named; active; Its agent crashed; the last agent here crashed',
  },
  'killed before anything was asked': {
    'work list': '-',
    'work show': '0; active; its agent has ended',
    'track status': '0; active; its agent has ended; idle',
    'the candidates': '-',
    session: '0; active; its agent has ended',
    sessions: '-',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; active',
    '/status': '-',
  },
  resting: {
    'work list': 'active, ended',
    'work show': '0; active; its agent has ended',
    'track status': '0; active; its agent has ended; idle',
    'the candidates': '-',
    session: '0; active; its agent has ended',
    sessions: 'active, ended',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; active; Its last turn ended',
    '/status': '-',
    'the hook of the next agent': 'named; active',
  },
  ended: {
    'work list': '-',
    'work show': '0; ended, completed; its agent has ended',
    'track status': '0; ended, completed; its agent has ended; idle',
    'the candidates': '-',
    session: '0; ended, completed; its agent has ended',
    sessions: '-',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; completed; Its last turn ended',
    '/status': '-',
  },
  'on another host': {
    'work list': 'stuck, unknown',
    'work show': '0; active; whether its agent lives is unknown; seems stuck',
    'track status': '1; active; whether its agent lives is unknown; STUCK; its agent is working',
    'the candidates': 'its agent seems stuck',
    session: '1; active; whether its agent lives is unknown; stuck',
    sessions: 'stuck, unknown',
    'monitor --check': '1; STUCK',
    'crash-detect': '0; no crashed session; ran on host',
    'track resume': '0; active; Its agent ran on host; was at work when',
    '/status': '-',
    'the hook of the next agent': 'named; active; ran on host',
  },
  damaged: {
    'work list': 'active, damaged, alive',
    'work show': '0; active; its agent is alive; cannot be read',
    'track status': '0; active; its agent is alive; its agent is working; cannot be read',
    session: '0; active; its agent is alive; cannot be read',
    sessions: 'active, damaged, alive',
    doctor: 'warning; unreadable',
  },
  archived: {
    'work list': '-',
    'work show': '0; active; its agent has ended',
    'track status': '0; active; its agent has ended; idle',
    'the candidates': '-',
    session: '0; active; its agent has ended',
    sessions: '-',
    'monitor --check': '0; not stuck; no agent is at work',
    'track resume': '0; active; Its last turn ended',
    '/status': '-',
  },
};

/** By which words a surface says so. One that does not name the session at all says nothing. */
const SAYS: Readonly<Record<'stuck' | 'crashed', Partial<Record<keyof typeof AT_WORK, RegExp>>>> = {
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
    'work show': /CRASHED/,
    'track status': /CRASHED/,
    'the candidates': /^crashed/,
    session: /CRASHED/,
    sessions: /^crashed/,
    'crash-detect': /^1/,
    'track resume': /Its agent crashed/,
    'the hook of the next agent': /Its agent crashed/,
  },
};

test.each(Object.keys(SCENES))('%s', async (name) => {
  const scene = new SessionScene();
  await SCENES[name]?.(scene);
  const shown: Record<string, string> = {};
  for (const [surface, ask] of Object.entries(SURFACES)) shown[surface] = await ask(scene);
  expect(shown).toEqual({ ...AT_WORK, ...SHOWN[name] });
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
