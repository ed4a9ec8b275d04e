/** `track`: the record that agents and people keep of a session by hand. */
import { init } from '../../../memory/verbs/begin.js';
import { checkpoint } from '../../../memory/verbs/checkpoint.js';
import { crashDetect } from '../../../memory/verbs/crashDetect.js';
import { done } from '../../../memory/verbs/done.js';
import { file } from '../../../memory/verbs/file.js';
import { log, note, ping } from '../../../memory/verbs/notes.js';
import { resume } from '../../../memory/verbs/resume.js';
import { scan } from '../../../memory/verbs/scan.js';
import { status } from '../../../memory/verbs/status.js';
import { step } from '../../../memory/verbs/step.js';
import { sync } from '../../../memory/verbs/sync.js';
import type { Command } from '../../command/command.js';
import { verbsCommand } from '../../verbs/verbsCommand.js';

import { monitor } from './monitor.js';

export const command: Command = verbsCommand({
  name: 'track',
  about: `Records what is done in a session: its steps, files and notes. The record
survives any crash, and the next agent goes on from it. Without --session, the
session is that of the agent in whose shell the command runs, else the one that
holds the current directory.`,
  verbs: [init, step, file, ping, log, note, sync, checkpoint, status, scan, monitor, resume, crashDetect, done],
  aliases: { anchor: note },
  examples: `  watchkeeper track init "Fix the login" --step "Find the cause" --step "Test it"
  watchkeeper track step 1 --start --file src/login.ts
  watchkeeper track status`,
});
