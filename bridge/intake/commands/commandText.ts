/** How commands are written, and what the chat reads about them. */
import { type Project, placeIn } from '../../../src/config/settings.js';

/** In the order of the menu. */
export const COMMANDS = [
  { command: 'status', description: 'What runs and what waits' },
  { command: 'cancel', description: 'Stop the running work; as a reply: that message; "all": everything here' },
  { command: 'new', description: 'Begin a new conversation' },
  { command: 'ask', description: 'Work on the text that follows; in a group also as a reply' },
  { command: 'help', description: 'What I can do' },
] as const;

export interface Command {
  readonly name: string;
  readonly argument: string;
}

export interface CommandPlace {
  readonly project: Project;
  /** The directory of the runs of the place's messages. */
  readonly directory: string;
  readonly chatId: string;
  readonly threadId: string | null;
  readonly replyTo: string | null;
  /** The bot whose numbers the ids of messages are, if they are marked. */
  readonly bot?: string | undefined;
  /** Whether messages of a group that mention the bot reach it; false in Telegram's privacy mode. */
  readonly hearsMentions?: boolean;
}

/** A word after the slash, at most one addressee; `/home/me/x is broken` is no command. */
const COMMAND = /^\/([a-z0-9_]{1,64})(?:@(\w{3,64}))?(?:\s+([\s\S]*))?$/i;
/** People write it as they would to each other; as work it would wait behind the run that it is to stop. */
const LONE_STOP = /^[\s\p{P}\p{S}]*(?:stop|cancel|abort)[\s\p{P}\p{S}]*$/iu;

const HOW_TO_ASK = 'Send me what you want as a text message. I reply with the answer.';
const HOW_TO_ADDRESS =
  'Here I work on messages that mention me or reply to me, and on /ask with your request behind it. I reply with the answer.';
const PRIVACY = "Telegram's privacy mode is on: unless I am an administrator of this group,";
const DEAF_TO_MENTIONS = `${PRIVACY} messages that only mention me do not reach me. Use /ask, or reply to one of my messages.`;
const DEAF_TO_TALK = `${PRIVACY} only commands and replies to my messages reach me. Use /ask.`;

/** @returns null if the text is no command, `for_another` if it is addressed to another bot */
export function parseCommand(text: string, botName: string | null): Command | 'for_another' | null {
  const [, name, addressee, argument] = COMMAND.exec(text.trim()) ?? [];
  if (name === undefined) return null;
  if (addressee !== undefined && addressee.toLowerCase() !== botName?.toLowerCase()) return 'for_another';
  return { name: name.toLowerCase(), argument: (argument ?? '').trim() };
}

/** @returns whether it is one of ours */
export function isKnownCommand({ name }: Command): boolean {
  return name === 'start' || COMMANDS.some(({ command }) => command === name);
}

/** @returns whether the text is nothing but the wish that something ends */
export function isLoneStop(text: string): boolean {
  return LONE_STOP.test(text);
}

/** @returns whether the answer to a command makes no sound: it is about messages that people have put behind them */
export function answersSilently({ name, argument }: Command): boolean {
  return name === 'cancel' && argument.toLowerCase() === 'all';
}

/** @returns the bot's abilities, and which messages reach it here */
export function help({ project, chatId, threadId, hearsMentions = true }: CommandPlace): string {
  const isGroup = chatId.startsWith('-');
  const isPicky = isGroup && placeIn(project, chatId, threadId)?.trigger === 'addressed';
  const hearing = isGroup && !hearsMentions ? [isPicky ? DEAF_TO_MENTIONS : DEAF_TO_TALK] : [];
  return [
    `I run a coding agent on the project "${project.key}". ${isPicky ? HOW_TO_ADDRESS : HOW_TO_ASK}`,
    ...hearing,
    'Reply to one of my messages to continue its conversation. Messages for the same folder run one after the other.',
    COMMANDS.map(({ command, description }) => `/${command} - ${description}`).join('\n'),
  ].join('\n\n');
}
