/** Claude Code in a terminal, as a person uses it: typed to, read from the screen, with the plugin and a model of the test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { writeInstallation } from '../../bridge/plugin/installation.js';
import { Places } from '../../memory/home/places.js';
import { packageRoot } from '../../src/host/program.js';
import { testFolder } from '../harness/folder.js';
import { afterThisTest } from '../harness/scope.js';
import { AnthropicPeer, type Model } from '../peers/anthropic/anthropicPeer.js';
import { claudeEnvironment } from '../peers/anthropic/environment.js';
import { type MessagesRequest, userTexts } from '../peers/anthropic/messages.js';
import { type Block, say } from '../peers/modelBlocks.js';
import { eventually } from './eventually.js';
import { killAtOnce, type RecordedPlace, type RunningAgent, startAgent } from './recorded.js';

const WITHIN_MS = 20_000;
/** Ctrl+U. */
const CLEAR_LINE = '\u0015';
const TYPED_AGAIN_MS = 5_000;
const KEY_LENGTH = 20;
const PROMPT = '❯';
const SIZE = 'stty rows 50 cols 160';

export interface TerminalPlace extends RecordedPlace {
  readonly folder: string;
  readonly peer: AnthropicPeer;
}

/**
 * @param permissions as in Claude Code's settings
 * @param further names of folders beside that in which people work; the program trusts them, too
 */
export async function terminalPlace(
  model: Model,
  permissions: object,
  further: readonly string[] = [],
): Promise<TerminalPlace> {
  const peer = new AnthropicPeer(model);
  await peer.listen();
  afterThisTest(() => peer.stop());
  const folder = testFolder();
  const [home, work, config] = ['home', 'work', 'user/.claude'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const trusted = [work, ...further.map((name) => join(folder, name))];
  for (const path of [...trusted, config]) mkdirSync(path, { recursive: true });
  writeInstallation(new Places(home), { root: packageRoot(), node: process.execPath });
  // The other renderer is left out of every launch after one that was killed while it started.
  // What moves on the screen is drawn many times a second, for as long as an agent waits.
  const settings = { permissions, bashEditDiffEnabled: true, tui: 'default', prefersReducedMotion: true };
  writeFileSync(join(config, 'settings.json'), JSON.stringify(settings));
  // Each of these is asked in a dialog of its own, which takes the keys of a prompt that is being typed.
  const answered = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    hasTrustDialogAccepted: true,
    hasSeenAutoDefaultNudge: true,
  };
  writeFileSync(
    join(config, '.claude.json'),
    JSON.stringify({
      ...answered,
      projects: Object.fromEntries(
        trusted.map((path) => [path, { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }]),
      ),
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
   * @param hasPlugin false: only if the words name it
   */
  constructor({ environment }: TerminalPlace, program: string, directory: string, words = '', hasPlugin = true) {
    const plugin = hasPlugin ? `--plugin-dir '${join(packageRoot(), 'plugin')}'` : '';
    const command = `${SIZE}; exec '${program}' ${plugin} ${words}`;
    const child = spawn('script', ['-qfec', command, '/dev/null'], { cwd: directory, env: environment });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#printed += text;
    });
    this.#child = child;
    this.ended = new Promise((resolve) => void child.once('close', resolve));
    afterThisTest(async () => {
      // The program would first end in peace, and write.
      for (const pid of childrenOf(child.pid)) await killAtOnce(pid);
      child.kill('SIGKILL');
      await this.ended;
    });
  }

  /** All that was printed, without blanks: a screen is drawn in pieces. */
  get screen(): string {
    return withoutBlanks(this.#printed);
  }

  /** As the terminal got it. */
  get printed(): string {
    return this.#printed;
  }

  /** Types a line where the program asks for one; what is typed before would be lost. */
  async type(line: string): Promise<void> {
    await this.shows(PROMPT);
    // Of what was printed, not of the screen: that gets shorter once a half printed sequence is whole.
    const before = this.#printed.length;
    const isShown = () => withoutBlanks(this.#printed.slice(before)).includes(line.replace(/\s+/g, ''));
    let pressedAt = performance.now();
    this.press(line);
    await this.until(line, () => {
      // A program that draws its screen anew loses what was typed before; one that is only late gets the line once.
      if (!isShown() && performance.now() - pressedAt > TYPED_AGAIN_MS) {
        pressedAt = performance.now();
        this.press(`${CLEAR_LINE}${line}`);
      }
      return isShown();
    });
    this.press('\r');
  }

  /** Closes the window: the program loses its terminal. */
  close(): void {
    this.#child.kill('SIGKILL');
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

function childrenOf(pid: number | undefined): number[] {
  const list = `/proc/${pid}/task/${pid}/children`;
  return existsSync(list) ? (readFileSync(list, 'utf8').match(/\d+/g) ?? []).map(Number) : [];
}

/**
 * Starts Claude Code for one prompt, without a terminal.
 * @param program the path of `claude`
 * @param words further options
 */
export function askClaude(
  place: RecordedPlace,
  program: string,
  prompt: string,
  { directory = place.work, words = [] }: { readonly directory?: string; readonly words?: readonly string[] } = {},
): RunningAgent {
  const plugin = ['--plugin-dir', join(packageRoot(), 'plugin')];
  return startAgent(place, [program, ...plugin, ...words, '-p', prompt], directory);
}

/** What the model answers to a request, by the last of our prompts in it: a message for each that it has said since. */
export type Deeds = Readonly<Record<string, readonly (readonly Block[])[]>>;

/** @returns the next message; null if none of the prompts is in the request, or it is none of a conversation */
export function nextOf(deeds: Deeds, request: MessagesRequest): readonly Block[] | null {
  const promptIn = (text: string) => Object.keys(deeds).find((ours) => text.includes(ours));
  const prompt = promptIn(userTexts(request).findLast((text) => promptIn(text) !== undefined) ?? '');
  if (prompt === undefined || (request.tools ?? []).length === 0) return null;
  const at = request.messages.findLastIndex(
    ({ role, content }) => role === 'user' && JSON.stringify(content).includes(prompt),
  );
  const turns = request.messages.slice(at).filter(({ role }) => role === 'assistant').length;
  return deeds[prompt]?.[turns] ?? [say('Nothing more.')];
}

/** Whether Claude Code asks to have a conversation summed up. */
export function isCompaction(request: MessagesRequest): boolean {
  return userTexts(request).at(-1)?.includes('Respond with TEXT ONLY') ?? false;
}

const withoutBlanks = (printed: string) => stripVTControlCharacters(printed).replace(/\s+/g, '');
