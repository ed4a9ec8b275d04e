import { join } from 'node:path';
import type { Settings } from '../../src/config/settings.js';

/**
 * What a bridge that came up with less than it was made for still wants from its operator. What is said of the projects'
 * file comes with the settings.
 * @returns sentences for the log; none where everything is filled in
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
