/** The agents: one bash script, started through `command`; what it does is told by its first word. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Kind } from '../chaos/plan.js';
import { HARNESS_FILES } from '../chaos/records.js';
import { NOTES } from '../chaos/textAgent.js';
import type { SceneProject } from '../e2e/sceneFiles.js';

/**
 * - `answers`: works for a second or some, and answers.
 * - `plods`: works for eight seconds, prints a line for each, and answers.
 * - `sheds`: first of all starts a daemon without environment in a session of its own, then answers.
 * - `crashes`: dies of a signal, and answers in its second attempt.
 * - `fails`: dies of a signal each time.
 */
export const MANNERS = ['answers', 'sheds', 'crashes', 'fails', 'plods'] as const;
export type Manner = (typeof MANNERS)[number];

/** As the checker of chaos knows them. */
export const KIND_OF: Readonly<Record<Manner, Kind>> = {
  answers: 'slow',
  sheds: 'slow',
  crashes: 'crashes',
  fails: 'fails',
  plods: 'long',
};
/** In the command line of a daemon, before the id of its run. */
export const SHED_NAME = 'shed-by-';
const CHATS_EACH = 2;
const FIRST_CHAT = 2_000;
const SILENCE_MS = 8_000;

const SCRIPT = `manner=$1
STEPS=$2
if [ "$manner" = sheds ]; then
  env -i setsid /bin/sh -c 'sleep 30; : ${SHED_NAME}$0' "$WATCHKEEPER_RUN" >/dev/null 2>&1 </dev/null &
fi
${NOTES}
record start
trap 'record stop' EXIT
sleep "$(( RANDOM % 2 )).$(( RANDOM % 9 ))"
case "$manner-$WATCHKEEPER_ATTEMPT" in
  fails-*|crashes-1) trap - EXIT; kill -SEGV $$; sleep 5 ;;
esac
sleep "0.$(( 3 + RANDOM % 6 ))"
step 1
if [ "$manner" = plods ]; then
  for (( second = 2; second <= 8; second += 1 )); do
    printf 'step %s\\n' "$second" >&2
    sleep 1
    step "$second"
  done
fi
printf 'answer of %s by %s\\n' "$WATCHKEEPER_SESSION" "$WATCHKEEPER_RUN"
`;

/** Writes the script, and @returns a project for each manner, with a directory for each of its chats. */
export function agentProjects(folder: string): Record<string, SceneProject> {
  const script = join(folder, 'agent.sh');
  writeFileSync(script, SCRIPT);
  const entries = MANNERS.map((manner) => {
    const chats = chatsOf(manner).map((id) => ({ id, directory: `chat${id}` }));
    const command = { command: ['bash', script, manner, join(folder, HARNESS_FILES.steps)], output: 'text' };
    return [manner, { chats, agent: { kind: 'command', ...command }, thresholds: { silence_ms: SILENCE_MS } }] as const;
  });
  return Object.fromEntries(entries);
}

export function chatsOf(manner: Manner): number[] {
  const first = FIRST_CHAT + MANNERS.indexOf(manner) * CHATS_EACH;
  return Array.from({ length: CHATS_EACH }, (_, index) => first + index);
}
