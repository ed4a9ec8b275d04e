/** Claude Code in a terminal, as a person uses it: typed to, read from the screen, with the plugin and a model of the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { writeInstallation } from '../../bridge/plugin/installation.js';
import { Places } from '../../memory/home/places.js';
import { packageRoot } from '../../src/host/program.js';
import { testFolder } from '../harness/folder.js';
import { afterThisTest } from '../harness/scope.js';
import { AnthropicPeer, type Model } from '../peers/anthropic/anthropicPeer.js';
import { claudeEnvironment } from '../peers/anthropic/environment.js';
import { eventually } from './eventually.js';

const WITHIN_MS = 20_000;
const KEY_LENGTH = 20;
const PROMPT = '❯';
const SIZE = 'stty rows 50 cols 160';

export interface TerminalPlace {
  readonly folder: string;
  /** In which people work. */
  readonly work: string;
  /** Of the memory of sessions. */
  readonly home: string;
  readonly peer: AnthropicPeer;
  readonly environment: Readonly<Record<string, string>>;
}

/** @param permissions as in Claude Code's settings */
export async function terminalPlace(model: Model, permissions: object): Promise<TerminalPlace> {
  const peer = new AnthropicPeer(model);
  await peer.listen();
  afterThisTest(() => peer.stop());
  const folder = testFolder();
  const [home, work, config] = ['home', 'work', 'user/.claude'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [work, config]) mkdirSync(path, { recursive: true });
  writeInstallation(new Places(home), { root: packageRoot(), node: process.execPath });
  writeFileSync(join(config, 'settings.json'), JSON.stringify({ permissions, bashEditDiffEnabled: true }));
  const answered = { hasCompletedOnboarding: true, theme: 'dark', hasTrustDialogAccepted: true };
  writeFileSync(
    join(config, '.claude.json'),
    JSON.stringify({
      ...answered,
      projects: { [work]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      customApiKeyResponses: { approved: [peer.apiKey.slice(-KEY_LENGTH)] },
    }),
  );
  const environment = {
    PATH: process.env.PATH ?? '',
    ...claudeEnvironment(peer, join(folder, 'user')),
    WATCHKEEPER_HOME: home,
    TERM: 'xterm-256color',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_ENABLE_TODO_TOOLS: '1',
  };
  return { folder, work, home, peer, environment };
}

export class ClaudeTerminal {
  readonly #child: ChildProcess;
  readonly ended: Promise<unknown>;
  #printed = '';

  /**
   * @param program the path of `claude`
   * @param directory in which it is started
   */
  constructor({ environment }: TerminalPlace, program: string, directory: string, words = '') {
    const command = `${SIZE}; exec '${program}' --plugin-dir '${join(packageRoot(), 'plugin')}' ${words}`;
    const child = spawn('script', ['-qfec', command, '/dev/null'], { cwd: directory, env: environment });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#printed += text;
    });
    this.#child = child;
    this.ended = new Promise((resolve) => void child.once('close', resolve));
    afterThisTest(async () => {
      // The terminal goes away, and with it the program.
      child.kill('SIGKILL');
      await this.ended;
    });
  }

  /** All that was printed, without blanks: a screen is drawn in pieces. */
  get screen(): string {
    return stripVTControlCharacters(this.#printed).replace(/\s+/g, '');
  }

  /** As the terminal got it. */
  get printed(): string {
    return this.#printed;
  }

  /** Types a line where the program asks for one; what is typed before would be lost. */
  async type(line: string): Promise<void> {
    await this.shows(PROMPT);
    const before = this.screen.length;
    this.press(line);
    await this.shows(line, before);
    this.press('\r');
  }

  press(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /** @param from of the screen's text, from where it must be */
  async shows(words: string, from = 0): Promise<void> {
    await this.until(words, () => this.screen.includes(words.replace(/\s+/g, ''), from));
  }

  async until<T>(what: string, look: () => T | false | null | undefined): Promise<T> {
    return eventually(look, { what, withinMs: WITHIN_MS, instead: () => this.screen.slice(-3_000) });
  }
}

export interface WorklogLine {
  readonly event: string;
  readonly [field: string]: unknown;
}

/** @returns the worklog of each session, by its id, oldest first */
export function worklogsIn({ home }: TerminalPlace): Map<string, WorklogLine[]> {
  const folder = join(home, 'sessions');
  const read = (id: string): WorklogLine[] =>
    readFileSync(join(folder, id, 'worklog.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  return new Map(
    readdirSync(folder)
      .sort()
      .map((id) => [id, read(id)]),
  );
}
