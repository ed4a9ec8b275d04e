/** Checks whether anybody may send messages. */
import type { Project, Settings } from '../../src/config/settings.js';
import { counted } from '../../src/counted.js';
import { type CheckResult, fault, ok, skipped, warning } from './checkResult.js';

export function checkAllowLists({ projects, telegram }: Settings): CheckResult[] {
  if (telegram === null) return [skipped('allow-list', 'no TELEGRAM_BOT_TOKEN is set: the terminal is the chat')];
  return [...projects.values()].map(checkProject);
}

function checkProject({ key, places, senders }: Project): CheckResult {
  const name = `allow-list of ${key}`;
  const howToLearn = 'start the bridge and write to the bot: it answers with the id that is missing';
  if (places.length === 0) {
    return warning(name, 'no chat is listed: nothing from Telegram reaches it', `add \`chats\`; ${howToLearn}`);
  }
  if (senders.length === 0) {
    return fault(name, 'no sender is listed, and that means nobody', `add \`senders\`; ${howToLearn}`);
  }
  return ok(name, `${counted(senders.length, 'sender')}, ${counted(places.length, 'place')} (chats or topics)`);
}
