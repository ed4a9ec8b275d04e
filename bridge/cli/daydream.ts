import { DailyReview } from '../../monitoring/daydream/daydream.js';
import { DayZone } from '../../monitoring/daydream/dayZone.js';
import { systemClock } from '../../src/time.js';
import { eventsFileOf, reviewsFolderOf } from '../assembly/foundation.js';
import { type Command, printJson, printLines, sayLines } from '../command/command.js';
import { readOptions } from '../command/options.js';

export const command: Command = {
  help: `usage: watchkeeper daydream [--date DAY] [--json]

Reads the critical events since its last run and writes a review of each day to
logs/daydream/DAY.md: what needs a person, what happened in each project, what
was tried again and whether it helped, what keeps happening, the issues and the
slowest recoveries. When the reviews are on disk, it acknowledges what it read,
so that \`events archive\` may move it. The same events always give the same
review. Needs no Redis.

  --date DAY   only this day (2026-02-05). Without it: every day with new
               events, and every day since the last page up to yesterday; days
               before the first event have no page. Days follow
               \`daydream.timeZone\` (DAYDREAM_TIME_ZONE), or UTC
  --json       {"reviews": [{"date", "path", "facts"}], "acknowledged",
               "notices"}

If \`daydream.cron\` (DAYDREAM_CRON) is set, the bridge or its standby
runs it on schedule.

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
    if (values.json) printJson(io, done);
    else if (done.reviews.length === 0) printLines(io, 'nothing new, and no review to write');
    else for (const { path } of done.reviews) printLines(io, path);
    for (const notice of done.notices) sayLines(io, `watchkeeper: ${notice}`);
    return 0;
  },
};
