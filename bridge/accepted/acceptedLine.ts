/** The lines of the register of accepted messages. They hold the fields that a session's record needs, but no text of a person. */
import type { Settings } from '../../src/config/settings.js';
import { firstAttemptId, isSessionId } from '../../src/ids.js';
import type { AgentSession, Sender } from '../../src/jobs/model.js';
import { newSession } from '../../src/jobs/newRecords.js';
import { parseObject } from '../../src/json.js';
import { isoTime } from '../../src/time.js';

/** Stands in the record of a session that is stored again from its line. */
const TEXT_IS_LOST = '(Redis has lost the text of this message)';

const TEXTS = [
  'session_id',
  'project_key',
  'chat_id',
  'message_id',
  'conversation_key',
  'lane',
  'working_directory',
  'agent',
  'store',
] as const;

/** Where a message was accepted. Another Redis, or another bot, says nothing about it. */
export interface Origin {
  /** The address of the Redis without login and query. */
  readonly store: string;
  /** Telegram's id of the bot; null without one. */
  readonly bot: string | null;
}

export interface OpenMessage extends Origin {
  /** As at its acceptance, without its text. */
  readonly session: AgentSession;
  /** When Redis was last known to have it; epoch ms. */
  readonly seenAt: number;
}

export type AcceptedLine =
  | { readonly did: 'accepted'; readonly message: OpenMessage }
  | { readonly did: 'ended'; readonly sessionId: string };

/** @returns where this process accepts messages */
export function originOf({ redisUrl, telegram }: Pick<Settings, 'redisUrl' | 'telegram'>): Origin {
  return { store: addressOf(redisUrl), bot: telegram?.token.split(':')[0] ?? null };
}

function addressOf(redisUrl: string | null): string {
  if (redisUrl === null || !URL.canParse(redisUrl)) return 'own';
  const { protocol, hostname, port, pathname, searchParams } = new URL(redisUrl);
  const place =
    protocol === 'unix:' ? pathname : `${hostname.toLowerCase()}:${port || '6379'}${pathname.replace(/^\/0?$/, '')}`;
  const database = searchParams.get('db');
  return database === null ? place : `${place}?db=${database}`;
}

export function acceptedText({ session, store, bot, seenAt }: OpenMessage): string {
  const { session_id, project_key, conversation_key, lane, working_directory, agent, created_at } = session;
  const { chat_id, message_id, thread_id, sender } = session.request;
  const place = { session_id: firstAttemptId(session_id), project_key, chat_id, message_id, thread_id, sender };
  const work = { conversation_key, lane, working_directory, agent, created_at };
  return textOf('accepted', seenAt, { store, bot, ...place, ...work });
}

export function endedText(sessionId: string, at: number): string {
  return textOf('ended', at, { session_id: firstAttemptId(sessionId) });
}

function textOf(did: AcceptedLine['did'], at: number, fields: object): string {
  return `${JSON.stringify({ v: 1, timestamp: isoTime(at), did, ...fields })}\n`;
}

/** @returns null for a line that is not ours: torn, or of another version */
export function readAcceptedLine(text: string): AcceptedLine | null {
  const line = parseObject<Record<string, unknown>>(text) ?? {};
  const { v, did, session_id: sessionId } = line;
  if (v !== 1 || typeof sessionId !== 'string' || !isSessionId(sessionId)) return null;
  if (did === 'ended') return { did, sessionId };
  return did === 'accepted' ? readAccepted(line) : null;
}

function readAccepted(line: Record<string, unknown>): AcceptedLine | null {
  const seenAt = Date.parse(String(line.timestamp));
  const texts = Object.fromEntries(TEXTS.map((name) => [name, line[name]]));
  if (!Object.values(texts).every((value) => typeof value === 'string')) return null;
  if (Number.isNaN(seenAt) || typeof line.created_at !== 'number') return null;
  const { store, ...named } = texts as Record<(typeof TEXTS)[number], string>;
  const draft = { ...named, thread_id: textOrNull(line.thread_id), sender: senderOf(line.sender) };
  const session = newSession({ ...draft, message_text: TEXT_IS_LOST }, line.created_at);
  const message = { session, store, bot: textOrNull(line.bot), seenAt };
  return { did: 'accepted', message };
}

function senderOf(value: unknown): Sender {
  const { id, name } = { ...(value as Partial<Sender> | null) };
  return { id: String(id ?? ''), name: String(name ?? '') };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
