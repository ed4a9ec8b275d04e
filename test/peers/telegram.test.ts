import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Api, Bot, GrammyError, HttpError, InputFile } from 'grammy';
import { FormattingError, type TextEntity } from './telegram/formatting/formattedText.js';
import { parseHtml } from './telegram/formatting/html.js';
import { parseMarkdownV2 } from './telegram/formatting/markdownV2.js';
import { startTelegramPeer, type TelegramPeer } from './telegram/telegramPeer.js';

const CHAT = 42;
const GROUP = -100_500;

let folder: string;
let peer: TelegramPeer;
let api: Api;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'telegram-peer-'));
  peer = await startTelegramPeer({ logFile: join(folder, 'chat', 'log.jsonl') });
  api = new Api(peer.token, { apiRoot: peer.url });
});

afterEach(async () => {
  await peer.stop();
  rmSync(folder, { recursive: true });
});

/** @returns what grammY threw, with the server's words */
async function refusal(call: Promise<unknown>): Promise<GrammyError> {
  try {
    await call;
  } catch (thrown) {
    if (thrown instanceof GrammyError) return thrown;
    throw thrown;
  }
  throw new Error('the call was not refused');
}

function logLines(): Record<string, unknown>[] {
  const text = readFileSync(join(folder, 'chat', 'log.jsonl'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

describe('updates', () => {
  test('a long poll returns when somebody writes, and repeats the update until a higher offset confirms it', async () => {
    const poll = api.getUpdates({ timeout: 30 });
    await peer.waitFor(() => peer.polling);
    const messageId = peer.say(CHAT, '/start now');
    const [update] = await poll;
    expect(update?.message).toMatchObject({
      message_id: messageId,
      text: '/start now',
      chat: { id: CHAT, type: 'private' },
      from: { id: CHAT },
      entities: [{ type: 'bot_command', offset: 0, length: 6 }],
    });
    expect(await api.getUpdates()).toHaveLength(1);
    expect(await api.getUpdates({ offset: (update?.update_id ?? 0) + 1 })).toEqual([]);
    expect(peer.unconfirmedUpdates).toBe(0);
  });

  test('a poll without news returns empty after its timeout, and the limit holds', async () => {
    expect(await api.getUpdates({ timeout: 1 })).toEqual([]);
    for (const text of ['one', 'two', 'three']) peer.say(CHAT, text);
    expect((await api.getUpdates({ limit: 2 })).map((update) => update.message?.text)).toEqual(['one', 'two']);
    expect((await api.getUpdates({ offset: -1 })).map((update) => update.message?.text)).toEqual(['three']);
    expect(peer.unconfirmedUpdates).toBe(1);
  });

  test('a second poller ends the first one with 409', async () => {
    const first = refusal(api.getUpdates({ timeout: 30 }));
    await peer.waitFor(() => peer.polling);
    const second = api.getUpdates({ timeout: 30 });
    expect(await first).toMatchObject({ error_code: 409, description: expect.stringContaining('other getUpdates') });
    peer.say(CHAT, 'who hears me?');
    expect(await second).toHaveLength(1);
  });

  test('a poller that disconnects takes no update with it', async () => {
    const leave = new AbortController();
    // grammY types the signal of a shim, and takes Node's.
    const signal = leave.signal as Parameters<typeof api.getUpdates>[1];
    const poll = api.getUpdates({ timeout: 30 }, signal).catch(() => 'left');
    await peer.waitFor(() => peer.polling);
    leave.abort();
    expect(await poll).toBe('left');
    await peer.waitFor(() => !peer.polling);
    peer.say(CHAT, 'still here');
    expect(await api.getUpdates()).toHaveLength(1);
  });

  test('only the requested kinds come, and the choice is remembered', async () => {
    await api.getUpdates({ allowed_updates: ['message_reaction'] });
    const messageId = peer.say(CHAT, 'not wanted');
    peer.react(CHAT, messageId, '👍');
    expect(await api.getUpdates()).toMatchObject([
      { message_reaction: { message_id: messageId, old_reaction: [], new_reaction: [{ type: 'emoji', emoji: '👍' }] } },
    ]);
  });

  test('a grammY bot runs on it: messages, edits, taps, files from people', async () => {
    const bot = new Bot(peer.token, { client: { apiRoot: peer.url } });
    const heard: string[] = [];
    bot.on('message:text', async (context) => {
      heard.push(context.message.text);
      await context.reply('choose', { reply_markup: { inline_keyboard: [[{ text: 'Yes', callback_data: 'y' }]] } });
    });
    bot.on('edited_message:text', (context) => void heard.push(`edited: ${context.editedMessage.text}`));
    bot.on('message:sticker', (context) => void heard.push(`sticker ${context.message.sticker.emoji}`));
    bot.on('callback_query:data', (context) => context.answerCallbackQuery(`got ${context.callbackQuery.data}`));
    const running = bot.start();
    const question = peer.say(CHAT, 'hello');
    const answer = await peer.waitFor(() => peer.botMessages(CHAT)[0]);
    const callbackId = peer.tap(CHAT, answer.messageId, 'y');
    expect(await peer.waitFor(() => peer.tapAnswer(callbackId))).toEqual({ text: 'got y', alert: false });
    peer.edit(CHAT, question, 'hello again');
    peer.send(CHAT, { kind: 'sticker', emoji: '🎉' });
    await peer.waitFor(() => peer.unconfirmedUpdates === 0 && peer.polling);
    expect(heard).toEqual(['hello', 'edited: hello again', 'sticker 🎉']);
    await bot.stop();
    await running;
  });
});

describe('messages of the bot', () => {
  test('show whether they made a sound, and each wording with its markup', async () => {
    peer.say(CHAT, 'hello');
    await api.sendMessage(CHAT, 'loud');
    const { message_id } = await api.sendMessage(CHAT, '<b>a</b>', { parse_mode: 'HTML', disable_notification: true });
    await api.editMessageText(CHAT, message_id, 'b');
    expect(peer.botMessages(CHAT)).toMatchObject([
      { silent: false, formerTexts: [] },
      { silent: true, entities: [], formerTexts: [{ text: 'a', entities: [{ type: 'bold' }] }] },
    ]);
  });

  test('a reply, its edits and its end, in the view of the reader and the log', async () => {
    const question = peer.say(CHAT, 'how far?');
    const sent = await api.sendMessage(CHAT, 'working', { reply_parameters: { message_id: question } });
    expect(sent.reply_to_message).toMatchObject({ message_id: question, text: 'how far?' });
    await api.editMessageText(CHAT, sent.message_id, 'done');
    expect(peer.botMessages(CHAT)).toMatchObject([
      { text: 'done', replyTo: question, threadId: null, formerTexts: [{ text: 'working' }] },
    ]);
    await api.sendChatAction(CHAT, 'typing');
    await api.deleteMessage(CHAT, sent.message_id);
    expect(peer.botMessages(CHAT)).toEqual([]);
    expect(logLines().map(({ who, what, text }) => [who, what, text])).toEqual([
      ['person 42', 'message', 'how far?'],
      ['bot', 'message', 'working'],
      ['bot', 'edit', 'done'],
      ['bot', 'typing', 'typing'],
      ['bot', 'delete', 'done'],
    ]);
    expect(logLines()[1]).toMatchObject({ chat: CHAT, thread: null, message_id: sent.message_id, reply_to: question });
  });

  test('messages that the real server refuses are refused, with its text', async () => {
    const question = peer.say(CHAT, 'hi');
    const { message_id: mine } = await api.sendMessage(CHAT, ' padded ');
    const cases: [Promise<unknown>, string][] = [
      [api.sendMessage(43, 'hello stranger'), 'chat not found'],
      [api.sendMessage(CHAT, ''), 'message text is empty'],
      [api.sendMessage(CHAT, ' \n '), 'text must be non-empty'],
      [api.sendMessage(CHAT, 'x'.repeat(4097)), 'message is too long'],
      [api.editMessageText(CHAT, mine, 'x'.repeat(4097)), 'MESSAGE_TOO_LONG'],
      [api.editMessageText(CHAT, mine, 'padded'), 'message is not modified: specified new message content'],
      [api.editMessageText(CHAT, 999, 'x'), 'message to edit not found'],
      [api.editMessageText(CHAT, question, 'x'), "message can't be edited"],
      [api.deleteMessage(CHAT, 999), 'message to delete not found'],
      [api.sendMessage(CHAT, 'x', { reply_parameters: { message_id: 999 } }), 'message to be replied not found'],
      [api.sendMessage(CHAT, 'x', { message_thread_id: 5 }), 'message thread not found'],
      [api.sendMessage(CHAT, '<b>x', { parse_mode: 'HTML' }), "can't parse entities: Can't find end tag"],
      [api.sendMessage(CHAT, 'x.', { parse_mode: 'MarkdownV2' }), "can't parse entities: Character '.' is reserved"],
      [api.sendMessage(CHAT, 'x', { reply_markup: keyboard('d'.repeat(65)) }), 'BUTTON_DATA_INVALID'],
      [api.answerCallbackQuery('none'), 'query is too old'],
      [api.setMyCommands([{ command: 'Bad Name', description: 'x' }]), 'BOT_COMMAND_INVALID'],
    ];
    for (const [call, words] of cases) {
      const { error_code, description } = await refusal(call);
      expect([error_code, description]).toEqual([400, expect.stringMatching(new RegExp(`^Bad Request: ${words}`))]);
    }
    expect(peer.botMessages(CHAT).map((message) => message.text)).toEqual(['padded']);
  });

  test('limits count after formatting is applied, and a person sees it without markup', async () => {
    peer.say(CHAT, 'hi');
    const longest = 'x'.repeat(4096);
    await api.sendMessage(CHAT, `<b>${longest}</b>`, { parse_mode: 'HTML' });
    await api.sendMessage(CHAT, 'a &lt;b&gt; <i>c</i>', { parse_mode: 'HTML' });
    expect(peer.botMessages(CHAT).map((message) => message.text)).toEqual([longest, 'a <b> c']);
    expect(peer.botMessages(CHAT)[1]?.entities).toEqual([{ type: 'italic', offset: 6, length: 1 }]);
  });

  test('a bot has one reaction per message, from the closed list', async () => {
    const messageId = peer.say(CHAT, 'hi');
    await api.setMessageReaction(CHAT, messageId, [{ type: 'emoji', emoji: '👀' }]);
    await api.setMessageReaction(CHAT, messageId, [{ type: 'emoji', emoji: '👀' }]);
    expect(peer.messages(CHAT)[0]?.reactions).toEqual([{ userId: peer.botId, emoji: '👀' }]);
    expect(peer.transcript.filter((entry) => entry.what === 'reaction')).toHaveLength(1);
    const hourglass = api.raw.setMessageReaction({
      chat_id: CHAT,
      message_id: messageId,
      reaction: [{ type: 'emoji', emoji: '⏳' as '👀' }],
    });
    expect((await refusal(hourglass)).description).toBe('Bad Request: REACTION_INVALID');
    await api.setMessageReaction(CHAT, messageId, []);
    expect(peer.messages(CHAT)[0]?.reactions).toEqual([]);
  });

  test('a document is uploaded in multipart and downloaded by its path', async () => {
    peer.say(CHAT, 'send it');
    const fileName = 'notes 1.txt';
    const sent = await api.sendDocument(CHAT, new InputFile(Buffer.from('line\r\n--x\r\n'), fileName), {
      caption: 'here',
      reply_parameters: { message_id: 2 },
    });
    expect(sent).toMatchObject({
      caption: 'here',
      document: { file_name: fileName, file_size: 11 },
      reply_to_message: { message_id: 2 },
    });
    const file = await api.getFile(sent.document.file_id);
    const download = await fetch(`${peer.url}/file/bot${peer.token}/${file.file_path}`);
    expect(await download.text()).toBe('line\r\n--x\r\n');
    const again = await api.sendDocument(CHAT, sent.document.file_id);
    expect(again.document.file_id).toBe(sent.document.file_id);
    expect(JSON.stringify(peer.calls[0]?.parameters)).toContain(JSON.stringify({ fileName, size: 11 }));
  });

  test('a document that is empty, over 50 MB, or has too long a caption is refused; a silent one is marked', async () => {
    peer.say(CHAT, 'send it');
    const send = (data: Buffer, caption = '') => api.sendDocument(CHAT, new InputFile(data, 'a.md'), { caption });
    expect((await refusal(send(Buffer.alloc(0)))).error_code).toBe(400);
    expect((await refusal(send(Buffer.alloc(50 * 1024 * 1024 + 1)))).error_code).toBe(413);
    expect((await refusal(send(Buffer.from('x'), 'x'.repeat(1_025)))).description).toContain('caption is too long');
    await api.sendDocument(CHAT, new InputFile(Buffer.from('x'), 'a.md'), { disable_notification: true });
    expect(peer.botMessages(CHAT)).toMatchObject([{ silent: true, file: { name: 'a.md', content: 'x' } }]);
  });
});

describe('topics', () => {
  test('messages find their topic, a closed one refuses them, an unknown one is not found', async () => {
    const threadId = peer.createTopic(GROUP, 'Deploys');
    const question = peer.say(GROUP, 'ship it', { threadId, userId: 7 });
    expect((await api.getUpdates()).at(-1)?.message).toMatchObject({
      message_thread_id: threadId,
      is_topic_message: true,
      chat: { id: GROUP, type: 'supergroup', is_forum: true },
      // As the real server writes it: without an answer of its own the message "answers" the topic's first one.
      reply_to_message: { message_id: threadId, forum_topic_created: { name: 'Deploys' } },
    });
    await api.sendMessage(GROUP, 'shipping', {
      message_thread_id: threadId,
      reply_parameters: { message_id: question },
    });
    expect(peer.botMessages(GROUP)).toMatchObject([{ threadId, replyTo: question }]);
    expect((await refusal(api.sendMessage(GROUP, 'x', { message_thread_id: 999 }))).description).toBe(
      'Bad Request: message thread not found',
    );
    peer.closeTopic(GROUP, threadId);
    const late = api.sendMessage(GROUP, 'late', { message_thread_id: threadId });
    expect((await refusal(late)).description).toBe('Bad Request: TOPIC_CLOSED');
    expect(() => peer.say(GROUP, 'me too', { threadId })).toThrow('is closed');
    peer.reopenTopic(GROUP, threadId);
    await api.sendMessage(GROUP, 'in time', { message_thread_id: threadId });
  });

  test('the bot opens and closes topics, in forums only', async () => {
    peer.openChat(GROUP, { forum: true });
    const { message_thread_id: threadId } = await api.createForumTopic(GROUP, 'Alerts');
    await api.closeForumTopic(GROUP, threadId);
    expect(peer.state().chats).toMatchObject([{ topics: [{ threadId, name: 'Alerts', closed: true }] }]);
    peer.openChat(GROUP - 1);
    expect((await refusal(api.createForumTopic(GROUP - 1, 'x'))).description).toContain('the chat is not a forum');
  });

  test('outside forums an answer in a group has a thread that is not a topic', async () => {
    const first = peer.say(GROUP, 'first');
    const second = peer.say(GROUP, 'second', { replyTo: first });
    const update = (await api.getUpdates()).at(-1)?.message;
    expect(update).toMatchObject({ message_id: second, message_thread_id: first });
    expect(update).not.toHaveProperty('is_topic_message');
    expect(peer.messages(GROUP)[1]?.threadId).toBeNull();
    await api.sendMessage(GROUP, 'third', { message_thread_id: first });
  });
});

describe('faults', () => {
  beforeEach(() => {
    peer.say(CHAT, 'hi');
  });

  test('refusals have the requested text and count, and no effect', async () => {
    peer.inject({ kind: 'too_many_requests', retryAfterS: 7, method: 'sendMessage', times: 2 });
    const other = peer.inject({ kind: 'forbidden', chatId: 999 });
    for (let round = 0; round < 2; round += 1) {
      const limited = await refusal(api.sendMessage(CHAT, 'x'));
      expect([limited.error_code, limited.parameters]).toEqual([429, { retry_after: 7 }]);
    }
    peer.inject({ kind: 'forbidden' });
    expect((await refusal(api.sendMessage(CHAT, 'x'))).description).toBe('Forbidden: bot was blocked by the user');
    peer.inject({ kind: 'chat_migrated', migrateToChatId: -200 });
    expect((await refusal(api.sendMessage(CHAT, 'x'))).parameters).toEqual({ migrate_to_chat_id: -200 });
    peer.inject({ kind: 'bad_request', description: 'Bad Request: have no rights to send a message' });
    expect((await refusal(api.sendMessage(CHAT, 'x'))).description).toContain('no rights');
    peer.inject({ kind: 'server_error', status: 500 });
    expect((await refusal(api.sendMessage(CHAT, 'x'))).error_code).toBe(500);
    expect(peer.botMessages(CHAT)).toEqual([]);
    expect([other.used, other.left]).toEqual([0, 1]);
    await api.sendMessage(CHAT, 'through');
    expect(peer.calls.map((call) => call.fault)).toEqual([
      'too_many_requests',
      'too_many_requests',
      'forbidden',
      'chat_migrated',
      'bad_request',
      'server_error',
      null,
    ]);
  });

  test('a page instead of JSON, a reset and a hang reach grammY as HttpError and change nothing', async () => {
    const impatient = new Api(peer.token, { apiRoot: peer.url, timeoutSeconds: 0.2 });
    for (const kind of ['server_error', 'reset', 'hang'] as const) {
      peer.inject(kind === 'server_error' ? { kind, html: true } : { kind });
      await expect(impatient.sendMessage(CHAT, 'x')).rejects.toBeInstanceOf(HttpError);
    }
    expect(peer.botMessages(CHAT)).toEqual([]);
  });

  test('a lost answer: the bot gets nothing, the person sees the message once', async () => {
    const fault = peer.inject({ kind: 'lost_answer', match: (parameters) => parameters.text('text') === 'precious' });
    await api.sendMessage(CHAT, 'other');
    await expect(api.sendMessage(CHAT, 'precious')).rejects.toBeInstanceOf(HttpError);
    expect(fault.used).toBe(1);
    expect(peer.botMessages(CHAT).map((message) => message.text)).toEqual(['other', 'precious']);
    expect(peer.calls.at(-1)).toMatchObject({ fault: 'lost_answer', outcome: 'unanswered' });
  });

  test('updates with a lost answer come again', async () => {
    peer.inject({ kind: 'lost_answer', method: 'getUpdates' });
    await expect(api.getUpdates()).rejects.toBeInstanceOf(HttpError);
    expect(await api.getUpdates()).toHaveLength(1);
  });

  test('a wrong token and an unknown method', async () => {
    const wrong = new Api('1:wrong', { apiRoot: peer.url });
    expect(await refusal(wrong.getMe())).toMatchObject({ error_code: 401, description: 'Unauthorized' });
    expect(await refusal(api.logOut())).toMatchObject({ error_code: 404 });
  });
});

describe('the reader', () => {
  test('waiting ends with the event, or explains what was seen instead', async () => {
    const seen = peer.waitFor(() => peer.messages(CHAT).find((message) => message.text === 'now'));
    peer.say(CHAT, 'not yet');
    const messageId = peer.say(CHAT, 'now');
    expect((await seen).messageId).toBe(messageId);
    await expect(peer.waitFor(() => peer.messages(CHAT)[5], 20)).rejects.toThrow('"text":"not yet"');
    const abandoned = expect(peer.waitFor(() => false)).rejects.toThrow('stopped');
    await peer.stop();
    await abandoned;
  });

  test('the state survives JSON', async () => {
    peer.send(GROUP, { kind: 'document', fileName: 'a.txt', caption: 'look' });
    await api.setMyCommands([{ command: 'status', description: 'What runs now' }]);
    const state = peer.state();
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
    expect(state).toMatchObject({
      chats: [{ chatId: GROUP, messages: [{ kind: 'document', text: '[document a.txt] look' }] }],
      commands: [{ command: 'status' }],
      calls: [{ method: 'setMyCommands', outcome: 'ok' }],
    });
  });
});

describe('parse modes', () => {
  test.each([
    ['a &lt;<b>b<i>c</i></b>&#33;', 'a <bc!', 'bold 3+2, italic 4+1'],
    ['<pre><code class="language-ts">x &amp; y</code></pre>', 'x & y', 'pre ts 0+5'],
    [
      '<a href="https://x.org/?a=1&amp;b=2">x</a> <blockquote expandable>q</>',
      'x q',
      'text_link 0+1, expandable_blockquote 2+1',
    ],
    ['🏟 <span class="tg-spoiler">s</span>&nbsp;', '🏟 s&nbsp;', 'spoiler 3+1'],
  ])('HTML %s', (source, text, entities) => {
    expect(shown(parseHtml(source))).toEqual([text, entities]);
  });

  test.each([
    ['a <b>b', 'Can\'t find end tag corresponding to start tag "b"'],
    ['🏟 <abac>x', 'Unsupported start tag "abac" at byte offset 5'],
    ['<i>a</em>', 'Unmatched end tag at byte offset 4, expected "</i>", found "</em>"'],
    ['a</b>', 'Unexpected end tag at byte offset 1'],
    ['a < b', 'Unsupported start tag "" at byte offset 2'],
    ['a <b', 'Unclosed start tag at byte offset 2'],
    ['<span>x</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
  ])('HTML refuses %s', (source, words) => {
    expect(() => parseHtml(source)).toThrow(new FormattingError(words));
  });

  test.each([
    ['*b _i_* ~s~ ||h|| __u__', 'b i s h u', 'bold 0+3, italic 2+1, strikethrough 4+1, spoiler 6+1, underline 8+1'],
    ['`a.b!` \\. \\\\', 'a.b! . \\', 'code 0+4'],
    ['```ts\nconst a = [1];\n```', 'const a = [1];\n', 'pre ts 0+15'],
    ['[name](http://x.org/\\)a)', 'name', 'text_link 0+4'],
    ['>quoted\n>more\nplain', 'quoted\nmore\nplain', 'blockquote 0+11'],
    ['>hidden||', 'hidden', 'expandable_blockquote 0+6'],
  ])('MarkdownV2 %s', (source, text, entities) => {
    expect(shown(parseMarkdownV2(source))).toEqual([text, entities]);
  });

  test.each([
    ['1.0', "Character '.' is reserved and must be escaped with the preceding '\\'"],
    ['a>b', "Character '>' is reserved and must be escaped with the preceding '\\'"],
    ['🏟 🏟_abacaba', "Can't find end of Italic entity at byte offset 9"],
    ['🏟 🏟_abac * asd ', "Can't find end of Bold entity at byte offset 15"],
    ['🏟 🏟_🏟 🏟__', "Can't find end of Underline entity at byte offset 19"],
    ['🏟 🏟```a ', "Can't find end of PreCode entity at byte offset 9"],
    ['[telegram\\.org](asd', "Can't find end of a URL at byte offset 16"],
  ])('MarkdownV2 refuses %s', (source, words) => {
    expect(() => parseMarkdownV2(source)).toThrow(new FormattingError(words));
  });

  function shown({ text, entities }: ReturnType<typeof parseHtml>): [string, string] {
    return [text, entities.map(describeEntity).join(', ')];
  }
});

function describeEntity({ type, language, offset, length }: TextEntity): string {
  return `${language === undefined ? type : `${type} ${language}`} ${offset}+${length}`;
}

function keyboard(data: string) {
  return { inline_keyboard: [[{ text: 'Go', callback_data: data }]] };
}
