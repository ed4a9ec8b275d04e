import { DailyReview } from '../../monitoring/daydream/daydream.js';
import { DayZone } from '../../monitoring/daydream/dayZone.js';
import { systemClock } from '../../src/time.js';
import { eventsFileOf, reviewsFolderOf } from '../assembly/foundation.js';
import type { Command } from './command.js';
import { readOptions } from './options.js';

export const command: Command = {
  help: `usage: watchkeeper daydream [--date DAY] [--json]

Reads the critical events on from where it stopped and writes a review of each
day in logs/daydream/DAY.md: what needs a person, what happened per project,
what was tried again and whether it helped, what keeps happening, the issues,
the slowest recoveries. It acknowledges what it read once the reviews are on the
disk, so that \`events archive\` may move it. The same events give the same
review, however often. Needs no Redis.

  --date DAY   only this day (2026-02-05). Without it: every day with something
               new, and every day up to yesterday since the last page; days
               before the first event have none. Days are those of
               \`daydream.timeZone\` (DAYDREAM_TIME_ZONE), else UTC
  --json       {"reviews": [{"date", "path", "facts"}], "acknowledged",
               "notices"}

With \`daydream.cron\` in the configuration file, or DAYDREAM_CRON, the bridge
does it by itself.

exit code: 0 done, 2 no such day, 3 a review could not be written

examples:
  watchkeeper daydream
  watchkeeper daydream --date 2026-02-05`,
  async run(args, { io, readSettings }) {
    const { values } = readOptions(args, { date: { type: 'string' }, json: { type: 'boolean' } });
    const settings = await readSettings();
    const zone = new DayZone(settings.daydreamTimeZone);
    const review = new DailyReview(eventsFileOf(settings), reviewsFolderOf(settings), zone, systemClock);
    const done = await review.write(values.date);
    if (values.json) io.stdout(`${JSON.stringify(done)}\n`);
    else if (done.reviews.length === 0) io.stdout('nothing new, and no review to write\n');
    else for (const { path } of done.reviews) io.stdout(`${path}\n`);
    for (const notice of done.notices) io.stderr(`watchkeeper: ${notice}\n`);
    return 0;
  },
};
