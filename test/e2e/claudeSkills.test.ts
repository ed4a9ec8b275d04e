/**
 * The nine skills for sessions, worktrees, handoffs and learnings, typed in a real Claude Code: the model gets the text of the skill, and
 * its commands, taken from that text as written, do what they should.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { compiledProgram } from '../../src/host/program.js';
import { call, say } from '../peers/modelBlocks.js';
import {
  ClaudeTerminal,
  type Deeds,
  describeWithClaude,
  nextOf,
  type TerminalPlace,
  terminalPlace,
} from './claudeTerminal.js';
import { shown } from './recorded.js';

const LIMIT_MS = 300_000;
const WATCHKEEPER = `${process.execPath} ${compiledProgram('bridge/cli/main')}`;
const ALLOWED = { defaultMode: 'acceptEdits', allow: ['Bash', 'Write'] };
const AUTHOR = ['-c', 'user.name=a', '-c', 'user.email=a@example.invalid'];

interface Skill {
  readonly name: string;
  /** Beginnings of commands that the text of the skill has; each is run as written. */
  readonly runs: readonly string[];
  /** Examples in the text, and what replaces them here. */
  readonly given?: Readonly<Record<string, string>>;
}

/** A model that does what a skill says. */
class Apprentice {
  readonly #deeds: Record<string, Deeds[string]> = {};
  readonly place: TerminalPlace;
  readonly #claude: string;

  private constructor(place: TerminalPlace, claude: string, deeds: Record<string, Deeds[string]>) {
    this.place = place;
    this.#claude = claude;
    this.#deeds = deeds;
  }

  static async in(claude: string): Promise<Apprentice> {
    const deeds: Record<string, Deeds[string]> = {};
    const place = await terminalPlace((request) => nextOf(deeds, request) ?? [say('A title.')], ALLOWED);
    for (const words of [
      ['init', '-q', '-b', 'main'],
      [...AUTHOR, 'commit', '-q', '--allow-empty', '-m', 'first'],
    ])
      execFileSync('git', words, { cwd: place.work });
    return new Apprentice(place, claude, deeds);
  }

  terminal(): ClaudeTerminal {
    return new ClaudeTerminal(this.place, this.#claude, this.place.work);
  }

  /** Types the skill, as a person does. @returns what its commands printed, in their order */
  async does(terminal: ClaudeTerminal, { name, runs, given = {} }: Skill): Promise<string[]> {
    const prompt = `<command-name>/watchkeeper:${name}</command-name>`;
    const done = `Done with ${name}, number ${this.place.peer.requests.length}.`;
    const before = this.place.peer.requests.length;
    const from = terminal.screen.length;
    const calls = () => {
      const text = this.#textOf(name, before);
      return runs.map((begin) => replaced(commandIn(text, begin), given));
    };
    // The first answer is made when the text of the skill is there.
    Object.defineProperty(this.#deeds, prompt, {
      configurable: true,
      enumerable: true,
      get: () => [
        ...calls().map((command) => [call('Bash', { command: command.replaceAll('watchkeeper ', `${WATCHKEEPER} `) })]),
        [say(done)],
      ],
    });
    await terminal.type(`/watchkeeper:${name}`);
    await terminal.shows(done, from);
    return this.#resultsOf(before, runs.length);
  }

  #textOf(name: string, from: number): string {
    const texts = this.place.peer.requests.slice(from).map(({ request }) => JSON.stringify(request.messages));
    const text = texts.find((each) => each.includes(`<command-name>/watchkeeper:${name}</command-name>`));
    if (text === undefined) throw new Error(`no request has the skill ${name}`);
    // Skills that were typed before are in the request, too.
    const own = text.slice(text.lastIndexOf(`<command-name>/watchkeeper:${name}</command-name>`));
    return own.replaceAll('\\n', '\n').replaceAll('\\"', '"').replaceAll('\\\\', '\\');
  }

  #resultsOf(from: number, count: number): string[] {
    const last = this.place.peer.requests.slice(from).at(-1)?.request.messages ?? [];
    const results = last.flatMap(({ content }) =>
      Array.isArray(content) ? content.filter((block) => block.type === 'tool_result') : [],
    );
    return results.slice(-count).map((block) => JSON.stringify(block));
  }
}

/** @returns the command of the skill's text that begins so, with the lines that continue it */
function commandIn(text: string, begin: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  const at = lines.findIndex((line) => line.startsWith(begin) || line.includes(`\`${begin}`));
  if (at < 0) throw new Error(`the skill has no command ${begin}`);
  const [inText] = new RegExp(`\`(${begin}[^\`]*)\``).exec(lines[at] ?? '')?.slice(1) ?? [];
  if (inText !== undefined) return inText;
  let end = at;
  while (lines[end]?.endsWith('\\')) end += 1;
  return lines
    .slice(at, end + 1)
    .map((line) => line.replace(/\\$/, ''))
    .join(' ');
}

function replaced(command: string, given: Readonly<Record<string, string>>): string {
  return Object.entries(given).reduce((text, [example, word]) => text.replaceAll(example, word), command);
}

describeWithClaude('the skills in a real Claude Code', (claude) => {
  test(
    'begin a session, bookmark its code, hand it over, learn from it, and end it',
    async () => {
      const apprentice = await Apprentice.in(claude);
      const { place } = apprentice;
      const terminal = apprentice.terminal();
      await apprentice.does(terminal, {
        name: 'starting-session',
        runs: ['watchkeeper work list --here', 'watchkeeper work start --purpose'],
      });
      const [session] = shown<{ session_id: string; purpose: string; name: string }[]>(
        place,
        'work list --here --json',
      );
      expect(session).toMatchObject({ purpose: 'Fix the login', name: 'login' });
      const id = session?.session_id ?? '';

      await apprentice.does(terminal, { name: 'bookmarking-code', runs: ['watchkeeper track checkpoint before'] });
      writeFileSync(join(place.work, 'new.ts'), 'x');
      const compared = await apprentice.does(terminal, {
        name: 'bookmarking-code',
        runs: ['watchkeeper track checkpoint --list', 'watchkeeper track checkpoint --verify'],
      });
      expect(compared[0]).toContain('before-refactoring');
      expect(compared[1]).toContain('1 more changed file');

      await apprentice.does(terminal, {
        name: 'handing-over',
        runs: ['watchkeeper handoff create'],
        given: { 'src/auth.ts --': 'new.ts --' },
      });
      expect(shown(place, 'handoff list --json')).toMatchObject([
        { title: 'Login', session_id: id, status: 'offered' },
      ]);
      expect(shown(place, `work show ${id} --json`)).toMatchObject({ lifecycle: 'active' });

      const learned = await apprentice.does(terminal, {
        name: 'learning-from-sessions',
        runs: ['watchkeeper learn draw', 'watchkeeper learn add'],
      });
      expect(learned).toHaveLength(2);
      expect(shown<string>(place, 'learn')).toContain('npm test needs Redis');

      await apprentice.does(terminal, {
        name: 'ending-session',
        runs: ['watchkeeper work show', 'watchkeeper work end'],
      });
      expect(shown(place, `work show ${id} --json`)).toMatchObject({
        lifecycle: 'ended',
        end: { reason: 'completed', summary: 'The clock was in local time' },
      });
      // Ending it left the handoff, and the repository.
      expect(shown(place, 'handoff list --json')).toMatchObject([{ status: 'offered' }]);
      expect(existsSync(join(place.work, 'new.ts'))).toBe(true);
    },
    LIMIT_MS,
  );

  test(
    'take a handoff over, and resume the session that a person chose',
    async () => {
      const apprentice = await Apprentice.in(claude);
      const { place } = apprentice;
      const wk = (...words: string[]) =>
        spawnSync('sh', ['-c', `${WATCHKEEPER} ${words.join(' ')}`], {
          ...{ cwd: place.work, env: place.environment, encoding: 'utf8' },
        }).stdout;
      wk('work start --purpose "Mend the roof"');
      const [{ session_id: id } = { session_id: '' }] = shown<{ session_id: string }[]>(
        place,
        'work list --here --json',
      );
      const { handoff_id } = JSON.parse(wk('handoff create --title Roof --learning wet --next dry --json'));
      const terminal = apprentice.terminal();
      const taken = await apprentice.does(terminal, {
        name: 'taking-over',
        runs: ['watchkeeper handoff list', 'watchkeeper handoff show', 'watchkeeper handoff accept'],
        given: { ho_01M8KCBXK5VDSK37E3XKYAD8SB: handoff_id },
      });
      expect(taken[2]).toContain('is yours, to follow');
      expect(shown(place, `handoff show ${handoff_id} --json`)).toMatchObject({ status: 'accepted', as: 'follow' });

      const resumed = await apprentice.does(terminal, {
        name: 'resuming-session',
        runs: [
          'watchkeeper work list --here',
          'watchkeeper work show ID',
          'watchkeeper track resume',
          'watchkeeper work continue',
        ],
        given: { ID: id },
      });
      expect(resumed[2]).toContain('Mend the roof');
      expect(resumed[3]).toContain(id);
    },
    LIMIT_MS,
  );

  test(
    'start a worktree, and end it with its changes kept',
    async () => {
      const apprentice = await Apprentice.in(claude);
      const { place } = apprentice;
      const terminal = apprentice.terminal();
      const path = join(`${place.work}.worktrees`, 'feature-login');
      const made = await apprentice.does(terminal, {
        name: 'starting-worktree',
        runs: [
          'watchkeeper worktree list',
          'watchkeeper worktree start login --type feature --yes',
          'watchkeeper worktree path',
        ],
      });
      expect(made[2]).toContain(path);
      // It makes no session.
      expect(shown<unknown[]>(place, 'work list --here --json')).toEqual([]);
      writeFileSync(join(path, 'open.ts'), 'half');
      const refused = await apprentice.does(terminal, {
        name: 'ending-worktree',
        runs: ['watchkeeper worktree list', 'watchkeeper worktree end NAME --merge'],
        given: { NAME: 'feature/login' },
      });
      expect(refused[1]).toContain('open.ts');
      expect(existsSync(join(path, 'open.ts'))).toBe(true);
      const ended = await apprentice.does(terminal, {
        name: 'ending-worktree',
        runs: ['watchkeeper worktree end NAME --discard'],
        given: { NAME: 'feature/login' },
      });
      expect(ended[0]).toContain('refs/watchkeeper/removed/');
      expect(existsSync(path)).toBe(false);
    },
    LIMIT_MS,
  );
});
