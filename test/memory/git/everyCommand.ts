/** Calls all that the product does in a project: each word of `track`, `work` and `worktree`, as its command line lists them. */
import type { Said } from '../../bridge/cli/program.js';

export type Command = 'track' | 'work' | 'worktree';
export type Say = (command: Command, args: readonly string[]) => Said | Promise<Said>;

export interface Called {
  readonly line: string;
  readonly code: number | null;
  readonly err: string;
}

/** In the place of a session's id. */
const ID = 'ID';
/** By word: what it is called with, one call after the other. A word that is not here is called alone. */
const CALLS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'track init': [['Task', '--step', 'a']],
  'track step': [
    ['1', '--start', '--file', 'a.txt'],
    ['--add', 'b'],
    ['1', '--done'],
  ],
  'track file': [['a.txt', '--working']],
  'track log': [['words']],
  'track note': [['words']],
  'track anchor': [['words']],
  'track checkpoint': [['here'], ['--verify', 'here'], ['--list'], ['--drop', 'here']],
  'track scan': [[], []],
  'track monitor': [['--check']],
  'track done': [['--as', 'cancelled']],
  'work list': [['--here'], ['--all'], ['--repository']],
  'work show': [[ID]],
  'work start': [['--purpose', 'Task']],
  'work set': [['purpose=Other', '--session', ID]],
  'work continue': [[ID]],
  'work reopen': [[ID]],
  'work archive': [[ID]],
  'work unarchive': [[ID]],
  'work verify': [[ID]],
  'work export': [[ID]],
  'work rebuild': [[ID]],
  'work purge': [[ID], [ID, '--yes']],
  // Without a yes, it makes nothing.
  'worktree start': [
    ['wanted', '--type', 'fix'],
    ['other', '--type', 'fix', '--from', 'main'],
  ],
  'worktree list': [['--size']],
  'worktree path': [['main']],
  'worktree end': [['--merged']],
};

/**
 * @param isMeant of a command and its word; all of them by default
 * @returns how each call ended
 */
export async function everyWord(say: Say, isMeant: (line: string) => boolean = () => true): Promise<Called[]> {
  const called: Called[] = [];
  for (const command of ['track', 'work', 'worktree'] as const) {
    for (const word of await wordsOf(say, command)) {
      const line = `${command} ${word}`;
      if (!isMeant(line)) continue;
      for (const args of CALLS[line] ?? [[]]) {
        const id = args.includes(ID) ? await idOf(say) : '';
        const { code, err } = await say(command, [word, ...args.map((each) => (each === ID ? id : each))]);
        called.push({ line: [line, ...args].join(' '), code, err });
      }
    }
  }
  return called;
}

async function wordsOf(say: Say, command: Command): Promise<string[]> {
  const { err } = await say(command, []);
  const [, words = ''] = /\(known: ([^)]+)\)/.exec(err) ?? [];
  return words.split(', ');
}

/** @returns the id of the session that began first */
async function idOf(say: Say): Promise<string> {
  const listed = JSON.parse((await say('work', ['list', '--all', '--json'])).out);
  return listed.at(-1)?.session_id ?? '';
}
