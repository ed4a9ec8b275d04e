/** Every surface that says how a session is, asked for one, and what it says in short. */
import { command as session } from '../../bridge/cli/session.js';
import { command as sessions } from '../../bridge/cli/sessions.js';
import { command as track } from '../../bridge/cli/track/track.js';
import { command as work } from '../../bridge/cli/work/work.js';
import type { Command } from '../../bridge/command/command.js';
import { checkMemory } from '../../bridge/doctor/memoryChecks.js';
import { answerOf } from '../../bridge/hook/answers.js';
import { terminalNote } from '../../bridge/intake/commands/status.js';
import { OwnGaps } from '../../monitoring/lateness/ownGaps.js';
import { rulesIn } from '../../monitoring/terminals/directoryRules.js';
import { TerminalWatch } from '../../monitoring/terminals/terminalWatch.js';
import type { Project } from '../../src/config/settings.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { createLogger } from '../../src/log/logger.js';
import { createRedactor } from '../../src/log/redact.js';
import { MINUTE, systemClock } from '../../src/time.js';
import { runCommand } from '../bridge/cli/inProcess.js';
import type { SessionScene } from './sessionScenes.js';

type Surface = (scene: SessionScene) => Promise<string>;

/** A row of a table: the state, and how the agent is. */
const ROW = '(.+?) (alive|dead|unknown|ended|-) (?:-|\\d)';

async function say(scene: SessionScene, command: Command, ...args: readonly string[]) {
  let out = '';
  const heard = (text: string) => {
    out += text;
  };
  const asked = runCommand(command, args, { surroundings: scene.surroundings, heard });
  // `sessions` asks the bridge, too, for which it has no settings here.
  const { code, err } = await asked.catch((error: Error) => ({ code: null, err: error.message }));
  return { code, out, err };
}

/** @returns what each pattern finds: its last group, or the whole of it */
function found(out: string, ...patterns: readonly RegExp[]): string {
  return patterns
    .flatMap((pattern) => [...out.matchAll(new RegExp(pattern, 'gm'))].map((match) => match.findLast(Boolean) ?? ''))
    .join('; ')
    .replace(/\s+/g, ' ');
}

async function rowOf(scene: SessionScene, command: Command, ...args: readonly string[]): Promise<string> {
  const { out } = await say(scene, command, ...args);
  const row = out.replaceAll(/\s+/g, ' ');
  const cells = new RegExp(`${scene.id} ${ROW}`).exec(row);
  return cells === null ? '-' : `${cells[1]}, ${cells[2]}`;
}

/** Whether a tool was used has tests of its own. */
const AXES =
  /(?:^| {2})((?:[a-z]+,? )*[a-z]+)(?: \([^)]*\))?; ([^;\n]*)(?:; no tool was used yet|; its context was compacted)?; last activity/m;
const axesOf = (out: string) => {
  const [, state, agent] = AXES.exec(out) ?? [];
  return `${state}; ${agent}`;
};
const withMore = (...parts: readonly string[]) => parts.filter((part) => part !== '').join('; ');

/** In an order in which none changes what the next one sees. */
export const SURFACES: Readonly<Record<string, Surface>> = {
  'work list': (scene) => rowOf(scene, work, 'list'),
  'work show': async (scene) => {
    const { code, out } = await say(scene, work, 'show', scene.id);
    return withMore(`${code}`, axesOf(out), found(out, /^seems stuck/, /^silence is excused/, /cannot be read/));
  },
  'track status': async (scene) => {
    const { code, out } = await say(scene, track, 'status', '--session', scene.id);
    const stuck = found(out, /^(seems stuck): /, /^(notice), [^:]*: .*(?=\.$)/, /^notice, .*(\(over, or excused\))$/);
    const more = found(
      out,
      /^a call of its agent is running/,
      /^its agent waits for/,
      /^silence is excused/,
      /cannot be read/,
    );
    return withMore(`${code}`, axesOf(out), stuck, more);
  },
  'the candidates': async (scene) => {
    // Without a list of tasks, it only prints the steps.
    const { err } = await say(scene, track, 'sync');
    const [, words = ''] = new RegExp(`^  ${scene.id}(?:  (.*))?$`, 'm').exec(err) ?? [];
    // Each line ends with what the session is about.
    return words.replace(/(^| {2})(Paint the door)?$/, '') || '-';
  },
  session: async (scene) => {
    const { code, out } = await say(scene, session, scene.id);
    return withMore(`${code}`, axesOf(out), found(out, /^(stuck|crash|excused)\b/, /cannot be read/));
  },
  sessions: (scene) => rowOf(scene, sessions),
  'monitor --check': async (scene) => {
    const { code, out } = await say(scene, track, 'monitor', '--check', '--session', scene.id);
    const stuck = found(out, /^(?:not )?stuck(?=:)/, /silence is excused/, /no agent is at work/);
    return withMore(`${code}`, stuck, found(out, /its agent waits|a call of its agent/));
  },
  'crash-detect': async (scene) => {
    const { code, out } = await say(scene, track, 'crash-detect');
    return withMore(
      `${code}`,
      found(out, / (crashed|was cut off): /, /^no crashed session/, /ran on host/, /still running/),
    );
  },
  'track resume': async (scene) => {
    const { code, out } = await say(scene, track, 'resume', scene.id);
    const head = found(
      out,
      /[Ii]t (?:was|had ended as) (planned|active|completed)/,
      /^Its agent (?:crashed|was cut off)/,
      /Its agent ran on host/,
    );
    return withMore(
      `${code}`,
      head,
      found(out, /was at work when|waited for a person|Its last turn ended/, /seems stuck/),
    );
  },
  doctor: async (scene) => {
    const checks = await checkMemory(scene.surroundings, false);
    const { verdict = '', found: what = '' } = checks.find(({ name }) => name === 'memory logs') ?? {};
    return withMore(verdict, found(what, /unreadable/));
  },
  '/status': async (scene) => {
    const watch = watchOf(scene);
    await watch.runOnce();
    const project = { directory: '/elsewhere', places: [] } as unknown as Project;
    const [note = '-'] = terminalNote(watch.live, { project, directory: scene.directory }, systemClock.now());
    return found(note, /^-$/, /An agent in a terminal uses this directory/, /seemed stuck/);
  },
  'the hook of the next agent': async (scene) => {
    const agent = { ...readProcessIdentity('host'), pid_start: 'next' };
    const payload = { event: 'SessionStart', provider: 'claude', conversation: 'c2', transcript: null } as const;
    const rest = { directory: null, source: 'startup', reason: null, tool: null, inputDigest: null, subAgent: null };
    const answer = await answerOf({
      memory: scene.open(),
      payload: { ...payload, ...rest },
      waitedMs: 0,
      agent,
      launchedIn: null,
      startDetached: () => undefined,
      report: (error) => Promise.reject(error),
    });
    const text = JSON.stringify(answer).replaceAll('\\n', '\n');
    if (!text.includes(scene.id)) return '-';
    const ways = [/Its agent (?:crashed|was cut off)/, /ran on host/, /an agent here (?:crashed|was cut off)/];
    const more = [/Another agent (?:is at work|waits for its person)/, /Nothing is unfinished/];
    return `named; ${found(text, /[Ii]t (?:was|had ended as) (planned|active|completed)/, ...ways, ...more)}`;
  },
};

/** As a bridge watches the terminals of its user. */
function watchOf(scene: SessionScene): TerminalWatch {
  const counters = { sinceBootMs: () => systemClock.monotonic(), processorMs: () => 0 };
  const gaps = new OwnGaps({ clock: systemClock, counters, here: scene.surroundings.process, boundMs: MINUTE });
  return new TerminalWatch({
    clock: systemClock,
    logger: createLogger({ level: 'fatal', redact: createRedactor([]), clock: systemClock, destinations: [] }),
    gaps,
    openMemory: () => scene.open(),
    rulesIn: (directory) => rulesIn([], directory),
    lease: { isActing: true },
    keep: () => undefined,
    onNotice: async () => undefined,
  });
}
