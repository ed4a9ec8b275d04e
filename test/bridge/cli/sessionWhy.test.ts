/** How a session ended, in the words of `watchkeeper session`. */
import { expect, test } from '@jest/globals';
import { endWordsOf } from '../../../bridge/cli/sessionWhy.js';

test.each([
  ['silent_for_1_minutes', 'silent for 1 minute'],
  ['silent_for_15_minutes', 'silent for 15 minutes'],
  ['running_for_1_seconds', 'running for 1 second'],
  ['error_cascade_of_6', 'error cascade of 6'],
  ['run_failed_signal_SIGKILL', 'the agent was killed by SIGKILL'],
  // Mostly it is the bridge that was lost: nothing is known against the agent.
  ['run_lost', 'its run was lost'],
])('the end %s is called "%s"', (reason, words) => expect(endWordsOf(reason)).toBe(words));
