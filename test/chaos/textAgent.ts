/**
 * An agent of which the bridge knows nothing but what it prints: a bash script, started through `command` with `"output": "text"`.
 * It appends a line per step to a file of its own, so that what it did can be counted whatever the bridge has heard.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SceneProject } from '../e2e/sceneFiles.js';
import { HARNESS_FILES } from './records.js';

/** A step that an agent has done. */
export interface AgentStep {
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly session: string;
  readonly run: string;
  readonly step: number;
}

/**
 * The functions by which any bash script of ours notes what it does: `record start`, `record stop` and `step N`. They need no
 * other program, for a busy machine takes long to start one.
 */
export const NOTES = `now() {
  local at=\${EPOCHREALTIME//[.,]/}
  printf -v NOW '%s' "\${at%???}"
}
record() {
  now
  printf '{"at":%s,"event":"%s","session":"%s","run":"%s","pid":%s,"attempt":%s}\\n' \\
    "$NOW" "$1" "$WATCHKEEPER_SESSION" "$WATCHKEEPER_RUN" $$ "$WATCHKEEPER_ATTEMPT" >> "$SCRIPTED_RECORD"
}
step() {
  now
  printf '{"at":%s,"session":"%s","run":"%s","step":%s}\\n' \\
    "$NOW" "$WATCHKEEPER_SESSION" "$WATCHKEEPER_RUN" "$1" >> "$STEPS"
}
`;

/** Its first two words say what it does, as the kinds of `plan.ts` are told there, and whether it prints its steps. */
const SCRIPT = `STEPS=$1
read -r kind form _
${NOTES}
work() {
  local done
  for (( done = 1; done <= $1; done += 1 )); do
    sleep "$2"
    step "$done"
    [ "$form" = mute ] || printf 'step %s\\n' "$done" >&2
  done
}
record start
trap 'record stop' EXIT
case "$kind-$WATCHKEEPER_ATTEMPT" in
  long-*) work 16 0.3 ;;
  fails-*|crashes-1) work 1 0.3; trap - EXIT; kill -SEGV $$; sleep 5 ;;
  exits-1) work 1 0.1; exit 1 ;;
  silent-1) work 1 0.1; sleep 600 ;;
  stubborn-1)
    work 1 0.1
    trap '' TERM
    setsid sleep 600 >/dev/null 2>&1 </dev/null &
    sleep 600 ;;
  quick-1) work 1 0.1 ;;
  slow-1) work 5 0.3 ;;
  *) work 2 0.3 ;;
esac
printf 'answer of %s by %s\\n' "$WATCHKEEPER_SESSION" "$WATCHKEEPER_RUN"
`;

/** Writes the script into the scene's folder. @returns the agent as in a project's configuration */
export function textAgent(folder: string): NonNullable<SceneProject['agent']> {
  const script = join(folder, 'text-agent.sh');
  mkdirSync(folder, { recursive: true });
  writeFileSync(script, SCRIPT);
  const command = { command: ['bash', script, join(folder, HARNESS_FILES.steps)], output: 'text' };
  return { kind: 'command', ...command };
}
