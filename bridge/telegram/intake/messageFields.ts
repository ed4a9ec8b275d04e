/**
 * Every field of a Telegram message, and what becomes of it: nothing that a person sends is dropped without a decision. The
 * fields that are read are checked against the Bot API: permissions are decided by them, so nothing passes for a number or a
 * text unless it is one: `String([100])` is the id of a person.
 */
import type { Message as TelegramMessage } from 'grammy/types';
import * as z from 'zod';
import { UsageError } from '../../../src/errors.js';
import { entitySchema } from './entities.js';

/**
 * - `given`: the agent reads it, in the words of the request or in a note below them.
 * - `answered`: the chat reads that only text can be read.
 * - `used`: it decides whose the message is, where it belongs, and whether it starts anything.
 * - `event`: something happened in the chat that asks for nothing.
 * - `looks`: how the message looks or was sent; it has no words.
 */
export type Fate = 'given' | 'answered' | 'used' | 'event' | 'looks';

/** Content that is not text, as a person calls it. The first that a message has counts: some also have a plainer one. */
const CONTENTS = {
  live_photo: 'a live picture',
  photo: 'a picture',
  voice: 'a voice message',
  video_note: 'a video message',
  audio: 'an audio file',
  animation: 'an animation',
  video: 'a video',
  document: 'a file',
  sticker: 'a sticker',
  venue: 'a place',
  location: 'a place',
  contact: 'a contact',
  poll: 'a poll',
  dice: 'a dice',
  story: 'a story',
  game: 'a game',
  paid_media: 'paid media',
  checklist: 'a checklist',
  rich_message: 'a message with rich formatting',
  invoice: 'an invoice',
  giveaway: 'a giveaway',
} as const satisfies Partial<Record<keyof TelegramMessage, string>>;

const [given, answered, used, event, looks] = ['given', 'answered', 'used', 'event', 'looks'] as const;

/**
 * Complete by type: a field that Telegram adds does not compile without a decision.
 * @internal for tests
 */
export const FIELDS = {
  ...{ text: given, entities: given, quote: given, reply_to_message: given, external_reply: given },
  ...{ reply_to_story: given, reply_to_checklist_task_id: given, reply_to_poll_option_id: given },
  ...{ link_preview_options: given, forward_origin: given, via_bot: given },
  ...(Object.fromEntries(Object.keys(CONTENTS).map((field) => [field, answered])) as Record<
    keyof typeof CONTENTS,
    typeof answered
  >),
  // Read for whether it mentions the bot; the answer asks for the request as text.
  ...{ caption: answered, caption_entities: answered },
  ...{ message_id: used, message_thread_id: used, chat: used, from: used, sender_chat: used, date: used },
  ...{ is_topic_message: used, is_automatic_forward: used, media_group_id: used, migrate_to_chat_id: used },
  ...{ edit_date: looks, has_protected_content: looks, is_from_offline: looks, effect_id: looks, reply_markup: looks },
  ...{ show_caption_above_media: looks, has_media_spoiler: looks, author_signature: looks, sender_tag: looks },
  ...{ sender_boost_count: looks, is_paid_post: looks, paid_star_count: looks, suggested_post_info: looks },
  // Only in kinds of updates that the bridge does not ask for.
  ...{ business_connection_id: looks, sender_business_bot: looks, direct_messages_topic: looks, guest_query_id: looks },
  ...{ guest_bot_caller_user: looks, guest_bot_caller_chat: looks, receiver_user: looks, ephemeral_message_id: looks },
  ...{ new_chat_members: event, left_chat_member: event, new_chat_title: event, new_chat_photo: event },
  ...{ delete_chat_photo: event, group_chat_created: event, supergroup_chat_created: event },
  ...{ channel_chat_created: event, message_auto_delete_timer_changed: event, migrate_from_chat_id: event },
  ...{ pinned_message: event, successful_payment: event, refunded_payment: event, users_shared: event },
  ...{ chat_shared: event, connected_website: event, write_access_allowed: event, passport_data: event },
  ...{ proximity_alert_triggered: event, boost_added: event, chat_background_set: event },
  ...{ forum_topic_created: event, forum_topic_edited: event, forum_topic_closed: event },
  ...{ forum_topic_reopened: event, general_forum_topic_hidden: event, general_forum_topic_unhidden: event },
  ...{ giveaway_created: event, giveaway_winners: event, giveaway_completed: event, gift: event },
  ...{ gift_upgrade_sent: event, unique_gift: event, paid_message_price_changed: event },
  ...{ direct_message_price_changed: event, video_chat_scheduled: event, video_chat_started: event },
  ...{ video_chat_ended: event, video_chat_participants_invited: event, web_app_data: event },
  ...{ checklist_tasks_done: event, checklist_tasks_added: event, community_chat_added: event },
  ...{ community_chat_removed: event, community_chat_joined: event, chat_owner_left: event },
  ...{ chat_owner_changed: event, managed_bot_created: event, poll_option_added: event, poll_option_deleted: event },
  ...{ suggested_post_approved: event, suggested_post_approval_failed: event, suggested_post_declined: event },
  ...{ suggested_post_paid: event, suggested_post_refunded: event },
} as const satisfies Readonly<Record<keyof TelegramMessage, Fate>>;

const id = z.int();
const name = z.string().optional();
/** A person or a chat. */
const senderSchema = z.looseObject({ id, title: name, first_name: name, last_name: name });
export type Sender = z.infer<typeof senderSchema>;
const entities = z.array(entitySchema).optional();
const originSchema = z.looseObject({
  type: z.string(),
  sender_user: senderSchema.optional(),
  sender_user_name: name,
  sender_chat: senderSchema.optional(),
  chat: senderSchema.optional(),
});
export type Origin = z.infer<typeof originSchema>;
const words = { text: z.string().optional(), entities, caption: z.string().optional(), caption_entities: entities };
const answeredSchema = z.looseObject({
  ...words,
  message_id: id,
  from: senderSchema.optional(),
  sender_chat: senderSchema.optional(),
});
export type AnsweredMessage = z.infer<typeof answeredSchema>;
const messageSchema = z.looseObject({
  ...words,
  message_id: id,
  date: id.optional(),
  chat: z.looseObject({ id }),
  from: senderSchema.optional(),
  sender_chat: senderSchema.optional(),
  message_thread_id: id.optional(),
  is_topic_message: z.boolean().optional(),
  is_automatic_forward: z.boolean().optional(),
  forward_origin: originSchema.optional(),
  via_bot: z.looseObject({ id }).optional(),
  reply_to_message: answeredSchema.optional(),
  external_reply: z.looseObject({ origin: originSchema }).optional(),
  reply_to_story: z.looseObject({}).optional(),
  reply_to_checklist_task_id: id.optional(),
  reply_to_poll_option_id: z.string().optional(),
  quote: z.looseObject({ text: z.string(), entities }).optional(),
  link_preview_options: z.looseObject({ url: z.string().optional() }).optional(),
  migrate_to_chat_id: id.optional(),
  media_group_id: z.string().optional(),
});
export type Message = z.infer<typeof messageSchema>;

/** Checks every field that is read against the Bot API. @throws UsageError if one does not match */
export function checked(given: TelegramMessage): Message {
  const parsed = messageSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const fields = [...new Set(parsed.error.issues.map(({ path }) => path.join('.') || 'message'))];
  throw new UsageError(`the update holds a message whose ${fields.join(', ')} cannot be read`);
}

/** @returns what the message is, if it is not text: `a picture`; null if it has no content of that kind */
export function contentOf(message: Readonly<Record<string, unknown>>): string | null {
  return Object.entries(CONTENTS).find(([field]) => message[field] !== undefined)?.[1] ?? null;
}

export function nameOf({ id, title, first_name, last_name }: Sender): string {
  return title ?? ([first_name, last_name].filter((part) => part !== undefined).join(' ') || String(id));
}
