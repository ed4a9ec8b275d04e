import { counted } from '../../src/counted.js';
import type { ReloadAnswer } from '../../src/jobs/reloads.js';
import type { Store } from '../../src/jobs/store.js';
import { type Clock, describeDuration, SECOND } from '../../src/time.js';
import { withStore } from '../assembly/withStore.js';
import { type Command, type ExitCode, printJson, printLines } from '../command/command.js';
import { readOptions } from '../command/options.js';

const ANSWERED_WITHIN_MS = 15 * SECOND;
const LOOK_EVERY_MS = SECOND / 10;

export const command: Command = {
  help: `usage: watchkeeper reload [--json]

Has every bridge and standby that uses this Redis read its configuration again,
wherever it runs: in a terminal, as a service, in a container, on another host.
Each reads its own watchkeeper.config.json and says what has changed. One that
finds a fault keeps the old configuration and says so.

  --json   {"heard", "answers": [{"service", "host", "pid", "ok", "said"}]}

exit code: 0 all have read it, 1 one has rejected it or did not answer, or
nothing is running, 2 faulty configuration, 3 Redis is unreachable

example:
  watchkeeper reload`,
  async run(args, context) {
    const { io } = context;
    const { values } = readOptions(args, { json: { type: 'boolean' } });
    return withStore<ExitCode>(await context.readSettings(), async ({ store, foundation }) => {
      const { id, heard } = await store.reloads.ask();
      const answers = await answersTo(id, heard, store, foundation.clock);
      if (values.json) printJson(io, { heard, answers });
      else printLines(io, describe(answers, heard));
      return heard > 0 && answers.length >= heard && answers.every(({ ok }) => ok) ? 0 : 1;
    });
  },
};

async function answersTo(id: string, heard: number, { reloads }: Store, clock: Clock): Promise<ReloadAnswer[]> {
  const end = clock.monotonic() + ANSWERED_WITHIN_MS;
  for (;;) {
    const answers = await reloads.answers(id);
    if (answers.length >= heard || clock.monotonic() >= end) return answers;
    await clock.sleep(LOOK_EVERY_MS);
  }
}

function describe(answers: readonly ReloadAnswer[], heard: number): string[] {
  if (heard === 0) return ['no bridge and no standby is running with this Redis'];
  const silent = heard - answers.length;
  const within = describeDuration(ANSWERED_WITHIN_MS);
  return [
    ...answers.map(({ service, host, pid, said }) => `${service} on ${host}, process ${pid}: ${said}`),
    ...(silent > 0 ? [`${counted(silent, 'process')} did not answer within ${within}: its log says why`] : []),
  ];
}
