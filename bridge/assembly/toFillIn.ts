import { join } from 'node:path';
import type { Settings } from '../../src/config/settings.js';

/**
 * Settings that the operator still has to fill in for a bridge that runs with less than it can do. Notes on the projects' file
 * come with the settings.
 * @returns sentences for the log; none if everything is filled in
 */
export function toFillIn({ telegram, github, logsFolder }: Settings): string[] {
  const sentences: string[] = [];
  if (telegram === null) {
    sentences.push(
      'to fill in: TELEGRAM_BOT_TOKEN (or TELEGRAM_BOT_TOKEN_FILE), from @BotFather; until then this terminal is the chat, and `watchkeeper enqueue` gives it work',
    );
  }
  if (github === null) {
    sentences.push(
      `to fill in: GITHUB_TOKEN (or GITHUB_TOKEN_FILE), which may read and write issues; until then issues are files in ${join(logsFolder, 'issues')}`,
    );
  }
  return sentences;
}
