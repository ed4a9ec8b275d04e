/** What the acting watchdog's process does beside watching: the daily review on its schedule, and forgetting. */
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { DayFacts } from '../../monitoring/daydream/dayFacts.js';
import { journalPath } from '../../src/journal/path.js';
import { DAY, isoTime, systemClock } from '../../src/time.js';
import { appendLines, eventAt } from '../monitoring/events/eventLines.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS, sayIn } from './testScene.js';

const EVERY_SECOND = { DAYDREAM_CRON: '* * * * * *' };
const LONG_AGO = Date.UTC(2026, 1, 5, 10);

describeScenes('the acting watchdog', () => {
  // rule: the-review-comes-once-a-day
  test(
    'inside the bridge writes the review on schedule and removes old journals; a standby does neither',
    async () => {
      const scene = await openTestScene({ projects: { hull: { chats: [{ id: 5 }] }, mast: { chats: [{ id: 6 }] } } });
      const configPath = join(scene.folder, 'watchkeeper.config.json');
      const config = JSON.parse(readFileSync(configPath, 'utf8'));
      delete config.projects.mast.repository;
      writeFileSync(configPath, JSON.stringify(config));
      appendLines(join(scene.logs, 'critical_events.jsonl'), [eventAt('A', LONG_AGO)]);
      const old = journalPath(scene.logs, 'tg_hull_5_1');
      const young = journalPath(scene.logs, 'tg_hull_5_2');
      for (const path of [old, young]) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, '{}\n');
      }
      const before = (systemClock.now() - 31 * DAY) / 1_000;
      for (const path of [old, dirname(old)]) utimesSync(path, before, before);

      const bridge = await scene.startBridge(EVERY_SECOND);
      await bridge.says('issues go to GitHub, but those of mast are files in logs/issues');
      const standby = scene.start(['watchdog'], EVERY_SECOND);
      const page = join(scene.logs, 'daydream', '2026-02-05.md');
      await scene.until('the review', () => existsSync(page));
      expect(readFileSync(page, 'utf8')).toContain('tg_popoto');
      await scene.until('the end of the old journal', () => !existsSync(dirname(old)));
      expect(existsSync(young)).toBe(true);
      await scene.until('an acknowledgement', () => existsSync(join(scene.logs, 'consumers', 'daydream.json')));
      const lines = async () => (bridge.stderr.match(/daydream: /g) ?? []).length;
      await scene.until('two more rounds of the schedule', async () => (await lines()) > 2);
      expect(standby.stderr).not.toContain('daydream');
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'records its watch, in the bridge and with --once, so that a quiet day differs from an unwatched one',
    async () => {
      const scene = await openTestScene({ projects: { hull: { chats: [{ id: 5 }] } } });
      const yesterday = systemClock.now() - DAY;
      const day = (at: number) => isoTime(at).slice(0, 10);
      const noted = () => existsSync(join(scene.logs, 'daydream/watched.json'));
      const reviewed = async () => {
        const said = await sayIn(scene, ['daydream', '--json']);
        const { reviews } = JSON.parse(said.out) as { reviews: { date: string; path: string }[] };
        return reviews.map(({ date, path }) => [date, readFileSync(path, 'utf8').split('\n')[2]]);
      };
      appendLines(join(scene.logs, 'critical_events.jsonl'), [eventAt('A', yesterday - DAY, { final: true })]);
      expect(await reviewed()).toEqual([[day(yesterday - DAY), expect.stringContaining('jobs in trouble: 1')]]);
      expect(await reviewed()).toEqual([[day(yesterday), expect.stringMatching(/^Nothing was watched: /)]]);

      expect((await sayIn(scene, ['watchdog', '--once', '--dry-run'])).code).toBe(0);
      expect(noted()).toBe(false);
      expect((await sayIn(scene, ['watchdog', '--once'])).code).toBe(0);
      expect(noted()).toBe(true);
      rmSync(join(scene.logs, 'daydream/watched.json'));
      const bridge = await scene.startBridge();
      await scene.until('the note of the bridge', noted);
      await bridge.kill();
      const today = await sayIn(scene, ['daydream', '--date', day(systemClock.now()), '--json']);
      const [review] = (JSON.parse(today.out) as { reviews: { facts: DayFacts }[] }).reviews;
      expect(review?.facts.watch.times).toHaveLength(1);
    },
    SCENE_TIMEOUT_MS,
  );
});
