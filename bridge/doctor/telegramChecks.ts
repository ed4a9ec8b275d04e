/** Checks whether the bot can receive and send, and who may write to it. Asks Telegram, changes nothing there. */
import type { UserFromGetMe } from 'grammy/types';
import type { Place, Project, Settings } from '../../src/config/settings.js';
import { counted } from '../../src/counted.js';
import type { Presence } from '../../src/jobs/presence.js';
import { type Clock, describeDuration, SECOND } from '../../src/time.js';
import type { TelegramApi } from '../telegram/api.js';
import { asChatError, ChatError } from '../telegram/chatError.js';
import { type CheckResult, fault, ok, skipped, unchecked, warning } from './checkResult.js';

/** Another poller, interrupted by our poll, comes back within this time: backoffs begin with a few seconds. */
const LISTEN_MS = 8 * SECOND;
const LOOK_AGAIN_MS = SECOND;
const POLL_LATE_MS = 90 * SECOND;
const NAME = { token: 'telegram token', privacy: 'telegram group privacy', poller: 'telegram poller' } as const;

/** Another process that may be polling for messages. */
export interface OwnBridge {
  /** The latest presence of our own bridge; null if none of ours fetches this bot's messages. */
  readonly presence: Presence | null;
  /** False if Redis did not answer, so that a bridge of ours may poll unseen. */
  readonly isKnown: boolean;
}

export async function checkTelegram(
  api: TelegramApi,
  settings: Settings,
  ownBridge: OwnBridge,
  clock: Clock,
): Promise<CheckResult[]> {
  let bot: UserFromGetMe;
  try {
    bot = await api.getMe();
  } catch (error) {
    return [tokenComplaint(error)];
  }
  const chats = [
    ...new Set([...settings.projects.values()].flatMap(({ places }) => places.map((each) => each.chatId))),
  ];
  return [
    ok(NAME.token, `the bot is @${bot.username}`),
    ...(await checkPrivacy(api, bot, settings)),
    await checkPoller(api, ownBridge, clock),
    ...(await Promise.all(chats.map((chatId) => checkChat(api, chatId)))),
  ];
}

function tokenComplaint(error: unknown): CheckResult {
  const { kind, description } = asChatError(error);
  if (kind === 'unauthorized') {
    return fault(
      NAME.token,
      `Telegram refuses the bot token (${description})`,
      'get the token from @BotFather (/mybots, API Token) and update TELEGRAM_BOT_TOKEN',
    );
  }
  return fault(
    NAME.token,
    `Telegram does not answer correctly (${description})`,
    'check the network of this host and TELEGRAM_API_ROOT; no proxy is used',
  );
}

/** An administrator gets every message, whatever the mode. */
async function checkPrivacy(api: TelegramApi, bot: UserFromGetMe, { projects }: Settings): Promise<CheckResult[]> {
  if (bot.can_read_all_group_messages) {
    const words = 'privacy mode is off: the bot receives all messages, and so those that mention it in a group';
    return [ok(NAME.privacy, words)];
  }
  const groups = [...projects.values()].flatMap(({ places }) => places).filter(({ chatId }) => chatId.startsWith('-'));
  if (groups.length === 0)
    return [ok(NAME.privacy, 'privacy mode is on, which only matters in groups; none is listed')];
  const deaf: Place[] = [];
  const unanswered = new Map<string, string>();
  for (const place of groups) {
    const rights = await rightsIn(api, place.chatId);
    if (rights instanceof ChatError) unanswered.set(place.chatId, rights.description);
    else if (rights === 'ordinary') deaf.push(place);
  }
  const complaints = [
    ...(deaf.length === 0 ? [] : [deafness(deaf)]),
    ...[...unanswered].map(([id, why]) =>
      unchecked(
        NAME.privacy,
        `privacy mode is on, and Telegram did not say whether the bot is an administrator of ${id} (${why})`,
      ),
    ),
  ];
  if (complaints.length > 0) return complaints;
  return [ok(NAME.privacy, 'privacy mode is on, but the bot is an administrator of every group')];
}

/** A refusal is an answer: the bot is no member there. @returns the error if Telegram did not answer */
async function rightsIn(api: TelegramApi, chatId: string): Promise<'administrator' | 'ordinary' | ChatError> {
  try {
    const { status } = await api.getOwnMembership(chatId);
    return status === 'administrator' ? 'administrator' : 'ordinary';
  } catch (error) {
    const failure = asChatError(error);
    return failure.kind === 'refused' ? 'ordinary' : failure;
  }
}

function deafness(deaf: readonly Place[]): CheckResult {
  const ids = [...new Set(deaf.map(({ chatId }) => chatId))].join(', ');
  const wantsAll = deaf.some(({ trigger }) => trigger === 'any') ? '; `"trigger": "any"` has no effect there' : '';
  return warning(
    NAME.privacy,
    `privacy mode is on: in ${ids} the bot receives only commands and replies: /ask arrives there, and a mention never does${wantsAll}`,
    'if people are to mention the bot, send /setprivacy to @BotFather, choose the bot and Disable; then remove the bot from these groups and add it again',
  );
}

async function checkPoller(api: TelegramApi, { presence, isKnown }: OwnBridge, clock: Clock): Promise<CheckResult> {
  try {
    const webhook = await api.getWebhookInfo();
    if (webhook.url !== undefined && webhook.url !== '') return webhookComplaint(webhook.url);
    if (presence !== null) return judgeOwnPoller(presence, clock);
    if (!isKnown) {
      return skipped(NAME.poller, 'not checked: without Redis, it is unknown whether our own bridge is polling');
    }
    return await listenForOthers(api, clock);
  } catch (error) {
    return fault(
      NAME.poller,
      `messages cannot be fetched (${asChatError(error).description})`,
      'try again; if it persists, check the network',
    );
  }
}

function webhookComplaint(url: string): CheckResult {
  const host = URL.canParse(url) ? new URL(url).host : 'somewhere';
  return fault(
    NAME.poller,
    `a webhook sends the bot's messages to ${host}, so no bridge can fetch them`,
    'if nothing else needs it, remove it by opening https://api.telegram.org/bot<token>/deleteWebhook, or create another bot for Watchkeeper',
  );
}

/** Asks only our own bridge. @returns nothing if none of ours fetches the bot's messages, as far as is known */
export function checkOwnPoller({ presence }: OwnBridge, clock: Clock): CheckResult[] {
  return presence === null ? [] : [judgeOwnPoller(presence, clock)];
}

/** Our own bridge's poll is not interrupted: its presence says how it is doing. */
function judgeOwnPoller({ owner, polled_at, poll_trouble, started_at }: Presence, clock: Clock): CheckResult {
  const who = `our bridge (process ${owner.pid} on ${owner.host})`;
  if (poll_trouble === 'another poller') return competitor(`${who} reports that another program fetches its messages`);
  const ageMs = clock.now() - (polled_at ?? started_at);
  if (poll_trouble === 'unauthorized') {
    const since = polled_at === null ? 'and was never accepted' : `${describeDuration(ageMs)} after its last answer`;
    return fault(
      NAME.poller,
      `Telegram refuses the bot token of ${who}, ${since}: no message arrives`,
      'get the token from @BotFather (/mybots, API Token), update TELEGRAM_BOT_TOKEN and restart the bridge',
    );
  }
  const words = `${who} last heard from Telegram ${describeDuration(ageMs)} ago`;
  if (ageMs <= POLL_LATE_MS) return ok(NAME.poller, words);
  return fault(NAME.poller, words, 'check the end of its bridge.log, then the network; restart it');
}

/**
 * A poll interrupts any other poller, which comes back and interrupts ours: that is how another one shows itself. If messages
 * are waiting, polls return at once; then only fetching them would show it.
 */
async function listenForOthers(api: TelegramApi, clock: Clock): Promise<CheckResult> {
  const end = clock.monotonic() + LISTEN_MS;
  let waiting = false;
  for (let leftMs = LISTEN_MS; leftMs > 0; leftMs = end - clock.monotonic()) {
    try {
      const updates = await api.peekAtUpdates(Math.ceil(leftMs / SECOND));
      waiting = updates.length > 0;
    } catch (error) {
      const { status, description } = asChatError(error);
      if (status === 409) return competitor(`another program fetches the bot's messages (${description})`);
      throw error;
    }
    if (waiting) await clock.sleep(Math.min(LOOK_AGAIN_MS, Math.max(0, end - clock.monotonic())));
  }
  return ok(NAME.poller, waiting ? 'nobody fetches messages, and some are waiting' : 'nobody else fetches messages');
}

function competitor(found: string): CheckResult {
  return fault(
    NAME.poller,
    found,
    'only one bridge may run per bot: stop the other program (check other hosts, too), or get a separate token from @BotFather',
  );
}

async function checkChat(api: TelegramApi, chatId: string): Promise<CheckResult> {
  const name = `telegram chat ${chatId}`;
  try {
    const chat = await api.getChat(chatId);
    return ok(name, `the bot sees it (${chat.type})`);
  } catch (error) {
    const { kind, description, migrateToChatId } = asChatError(error);
    if (migrateToChatId !== null) {
      return fault(
        name,
        'the group was upgraded to a supergroup with a new id',
        `put ${migrateToChatId} into the project's \`chats\``,
      );
    }
    if (kind !== 'refused') return unchecked(name, description);
    return chatId.startsWith('-')
      ? fault(
          name,
          `the bot does not see it (${description})`,
          'add the bot to the group, or correct the id in `chats`',
        )
      : warning(
          name,
          `the bot does not see it yet (${description})`,
          'ask that person to send /start to the bot once, or correct the id in `chats`',
        );
  }
}

/** Checks whether at least one person may send messages. */
export function checkAllowLists({ projects, telegram }: Settings): CheckResult[] {
  if (telegram === null)
    return [skipped('allow-list', 'TELEGRAM_BOT_TOKEN is not set: messages come from the terminal')];
  return [...projects.values()].map(checkAllowList);
}

function checkAllowList({ key, places, senders }: Project): CheckResult {
  const name = `allow-list of ${key}`;
  const howToLearn = 'start the bridge and write to the bot: it replies with the missing id';
  if (places.length === 0) {
    return warning(name, 'no chat is listed: it gets nothing from Telegram', `add \`chats\`; ${howToLearn}`);
  }
  if (senders.length === 0) {
    return fault(name, 'no sender is listed, so nobody is allowed', `add \`senders\`; ${howToLearn}`);
  }
  return ok(name, `${counted(senders.length, 'sender')}, ${counted(places.length, 'place')} (chats or topics)`);
}
