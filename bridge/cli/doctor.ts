import type { Settings } from '../../src/config/settings.js';
import { counted } from '../../src/counted.js';
import { describeError, UsageError } from '../../src/errors.js';
import { createRedactor } from '../../src/log/redact.js';
import { systemClock } from '../../src/time.js';
import { type Command, type CommandContext, type ExitCode, printJson, printLines } from '../command/command.js';
import { readOptions } from '../command/options.js';
import { paragraph } from '../command/table.js';
import { type CheckResult, fault, type Verdict } from '../doctor/checkResult.js';
import { examine } from '../doctor/examine.js';

const WORDS: Readonly<Record<Verdict, string>> = { ok: 'ok', warning: 'WARNING', fault: 'FAULT', skipped: 'skipped' };
const WIDTH = Math.max(...Object.values(WORDS).map((word) => word.length)) + 2;

export const command: Command = {
  help: `usage: watchkeeper doctor [--quick] [--json]

Checks everything that Watchkeeper needs, and says how to fix what is wrong:
configuration, Redis, a job through the queue, the bridge of this host, bot
token, group privacy, other programs that fetch the bot's messages, chats, the
GitHub token and its permissions, agents with their logins and isolation,
folders and who may read them, retention, session memory, the plugin of agents
in terminals, allow-lists.

It changes nothing permanently: it adds one job to Redis and one file to the
logs folder, and removes both. (Claude Code notes in its user's home that it was
started when asked for its login.) If no bridge of yours is running, it listens
for a few seconds whether another program fetches the bot's messages.

  --quick   for health checks: takes less than 2 seconds, uses no network
            beyond Redis, starts no agent, writes nothing
  --json    {"verdict", "checks": [{"name", "verdict", "found", "remedy"}]};
            verdict: ok, warning, fault or skipped

exit code: 0 no fault (there may be warnings), 1 a fault, 2 faulty
configuration, 3 Redis is unreachable

examples:
  watchkeeper doctor
  watchkeeper doctor --json | jq -r '.checks[] | select(.remedy != null) | .name + ": " + .remedy'`,
  async run(args, context) {
    const { values } = readOptions(args, { quick: { type: 'boolean' }, json: { type: 'boolean' } });
    const { checks, exitCode } = await diagnose(context, values.quick === true);
    const verdict = worstOf(checks);
    if (values.json) printJson(context.io, { verdict, checks });
    else printLines(context.io, describe(checks, context.io));
    return exitCode;
  },
};

async function diagnose(
  context: CommandContext,
  quick: boolean,
): Promise<{ checks: readonly CheckResult[]; exitCode: ExitCode }> {
  let settings: Settings;
  try {
    settings = await context.readSettings();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const remedy = 'correct the configuration, then run the doctor again: nothing else can be checked before';
    return { checks: [{ ...fault('configuration', '', remedy), found: describeFaults(error) }], exitCode: 2 };
  }
  const asker = { run: context.runProgram, surroundings: context.surroundings };
  const { checks: found, isRedisReachable } = await examine(settings, quick, systemClock, asker);
  // Error texts of other programs may repeat their arguments.
  const redact = createRedactor(settings.secrets);
  const checks = found.map((check) => ({ ...check, found: redact(check.found) }));
  if (!isRedisReachable) return { checks, exitCode: 3 };
  return { checks, exitCode: worstOf(checks) === 'fault' ? 1 : 0 };
}

/** Each of its lines is one fault. */
function describeFaults(error: UsageError): string {
  return error.message.includes('\n') ? error.message : describeError(error);
}

function worstOf(checks: readonly CheckResult[]): Verdict {
  const has = (verdict: Verdict) => checks.some((check) => check.verdict === verdict);
  return has('fault') ? 'fault' : has('warning') ? 'warning' : 'ok';
}

function describe(checks: readonly CheckResult[], io: CommandContext['io']): string[] {
  const indent = ' '.repeat(WIDTH);
  const lines = checks.flatMap(({ name, verdict, found, remedy }) => {
    const words = `${WORDS[verdict].padEnd(WIDTH)}${name}: ${found}`;
    return paragraph(remedy === null ? words : `${words}\n→ ${remedy}`, io, indent).split('\n');
  });
  const faults = checks.filter(({ verdict }) => verdict === 'fault').length;
  const warnings = checks.filter(({ verdict }) => verdict === 'warning').length;
  const summary =
    faults + warnings === 0 ? 'all is well' : `${counted(faults, 'fault')}, ${counted(warnings, 'warning')}`;
  return [...lines, '', summary];
}
