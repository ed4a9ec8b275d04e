/** The commands of session memory in a folder of the test, as people and agents call them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { command as handoff } from '../../../../bridge/cli/handoff/handoff.js';
import { command as learn } from '../../../../bridge/cli/learn/learn.js';
import { command as track } from '../../../../bridge/cli/track/track.js';
import { command as work } from '../../../../bridge/cli/work/work.js';
import { command as worktree } from '../../../../bridge/cli/worktree/worktree.js';
import type { SurroundingVariable } from '../../../../memory/sessions/surroundings.js';
import { UnreachableError, UsageError, WatchkeeperError } from '../../../../src/errors.js';
import { readProcessIdentity } from '../../../../src/host/identity.js';
import { testFolder } from '../../../harness/folder.js';
import { runCommand } from '../inProcess.js';

export interface Caller {
  readonly variables?: Partial<Record<SurroundingVariable, string>>;
  /** Of the process that calls; this one if missing. */
  readonly pid?: number;
  /** The directory of the scene if missing. */
  readonly where?: string;
}

const COMMANDS = { handoff, learn, track, work, worktree };

const noBridge = () => Promise.reject(new UsageError('no bridge is configured'));

export class WorkScene {
  readonly home = join(testFolder(), 'home');
  readonly directory = join(testFolder(), 'work');

  constructor() {
    mkdirSync(this.directory, { recursive: true });
  }

  /** Errors become what the command line makes of them. */
  async say(
    name: keyof typeof COMMANDS,
    args: readonly string[],
    { variables = {}, pid, where = this.directory }: Caller = {},
  ) {
    const surroundings = {
      directory: where,
      process: readProcessIdentity('host', pid),
      variables: { WATCHKEEPER_HOME: this.home, ...(process.env.PATH && { PATH: process.env.PATH }), ...variables },
    };
    try {
      return await runCommand(COMMANDS[name], args, { surroundings, readSettings: noBridge });
    } catch (error) {
      if (!(error instanceof WatchkeeperError)) throw error;
      const code = error instanceof UsageError ? 2 : error instanceof UnreachableError ? 3 : 1;
      return { code, out: '', err: error.message };
    }
  }

  async json(name: keyof typeof COMMANDS, args: readonly string[], caller: Caller = {}) {
    return JSON.parse((await this.say(name, [...args, '--json'], caller)).out);
  }

  /** @returns the id of a session with a step */
  async begin(task: string): Promise<string> {
    return (await this.json('track', ['init', task, '--step', 'a'])).session_id;
  }
}
