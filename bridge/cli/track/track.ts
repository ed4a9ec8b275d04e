/** `track`: the record that agents and people keep of a session by hand. */
import type { Command } from '../../command/command.js';
import { wordsCommand } from '../../command/word.js';
import { checkpoint } from './checkpoint.js';
import { crashDetect } from './crashDetect.js';
import { done } from './done.js';
import { file } from './file.js';
import { init } from './init.js';
import { monitor } from './monitor.js';
import { log, note, ping } from './notes.js';
import { resume } from './resume.js';
import { scan } from './scan.js';
import { status } from './status.js';
import { step } from './step.js';
import { sync } from './sync.js';

export const command: Command = wordsCommand({
  name: 'track',
  about: `Records what is done in a session: its steps, files and notes. The record
survives any crash, and the next agent goes on from it. Without --session, the
session is that of the agent in whose shell the command runs, else the one that
holds the current directory.`,
  words: {
    init,
    step,
    file,
    ping,
    log,
    note,
    anchor: note,
    sync,
    checkpoint,
    status,
    scan,
    monitor,
    resume,
    'crash-detect': crashDetect,
    done,
  },
  examples: `  watchkeeper track init "Fix the login" --step "Find the cause" --step "Test it"
  watchkeeper track step 1 --start --file src/login.ts
  watchkeeper track status`,
});
