/** A long answer comes as a file, too: once at the most, and never at the price of the answer. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { SendMemory } from '../../../bridge/chat/sendMemory.js';
import { armFailpoint } from '../../../src/failpoints.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import type { AgentSession, OutboxEntry } from '../../../src/jobs/model.js';
import { DAY, HOUR, isoTime, SECOND } from '../../../src/time.js';
import { testFolder } from '../../harness/folder.js';
import { describeWithRedis } from '../../harness/redis.js';
import type { FaultKind } from '../../peers/telegram/faults.js';
import type { SeenMessage } from '../../peers/telegram/reader.js';
import { activeSession, answered, CHAT, deliveryOf, openScene, type Scene, withProgressMessage } from './scene.js';

const WORDS = ['first', 'second', 'third'];
/** Three messages, each of one word. */
const LONG = WORDS.map((word) => `**${word}**\n${`${word}\n`.repeat(Math.floor(3_600 / (word.length + 1)))}`).join(
  '\n',
);

describeWithRedis('an answer of three messages', () => {
  // rule: a-long-answer-comes-as-a-file
  test('comes as a file below them, with one notification in all', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), LONG);
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    const messages = scene.peer.botMessages(CHAT);
    expect(outline(messages)).toEqual([...WORDS, 'popoto-answer.md']);
    expect(messages.map(({ silent }) => silent)).toEqual([false, true, true, true]);
    expect(messages.map(({ replyTo }) => replyTo !== null)).toEqual([true, false, false, false]);
    expect(messages.at(-1)?.file?.content).toBe(LONG);
    // Whoever replies to the file goes on with the conversation.
    const fileId = String(messages.at(-1)?.messageId);
    expect(await scene.store.records.sessionOfMessage('popoto', String(CHAT), fileId)).toBe(session.session_id);
  });

  test('has no file if two messages are enough', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), LONG.slice(0, LONG.indexOf('**third')));
    await deliveryOf(scene).deliver(session.session_id);
    expect(outline(scene.peer.botMessages(CHAT))).toEqual(['first', 'second']);
    expect(scene.peer.botMessages(CHAT).map(({ silent }) => silent)).toEqual([false, true]);
  });

  // rule: secrets-stay-out-of-answers
  test('keeps its secrets out of the file and the messages, even if Markdown hides them', async () => {
    const scene = await openScene();
    const { token } = scene.peer;
    const hidden = [token, token.replace(':', '\\:'), token.replace(':', '&#58;'), token.replace('peer', '**peer**')];
    const link = `[the log](https://x.test/?t=${token.replace(':', '\\:')})`;
    const text = `${LONG}\n${hidden.join('\n\n')}\n\n${link}`;
    const session = await answered(scene, await activeSession(scene), text);
    await deliveryOf(scene).deliver(session.session_id);
    const messages = scene.peer.botMessages(CHAT);
    expect(messages.at(-1)?.file?.content).toContain('[redacted');
    const secret = token.split(':')[1] ?? '';
    expect(JSON.stringify(messages)).not.toContain(secret);
    expect(JSON.stringify(scene.peer.calls)).not.toContain(secret);
    expect(outline(messages).slice(0, 2)).toEqual(['first', 'second']);
  });

  test.each([
    ['the title of a link', (escaped: string) => `[it](https://x.test/ "${escaped}")`],
    ['an address that is not linked', (escaped: string) => `[an unused one]: ${escaped}`],
    ['text beside the language of code', (escaped: string) => `\`\`\`sh ${escaped}\nls\n\`\`\``],
    [
      'an address that is not UTF-8',
      (_: string, token: string) => `[it](https://x.test/%FF/${token.replaceAll('-', '%2D')})`,
    ],
    ['quotes within quotes', (escaped: string) => `${'> '.repeat(120)}${escaped}`],
  ])('keeps a secret out that is hidden in %s', async (_, hidden) => {
    const scene = await openScene();
    const escaped = scene.peer.token.replaceAll('-', '&#45;').replace(':', '\\:');
    const session = await answered(
      scene,
      await activeSession(scene),
      `${LONG}\n\n${hidden(escaped, scene.peer.token)}`,
    );
    await deliveryOf(scene).deliver(session.session_id);
    expect(JSON.stringify(scene.peer.botMessages(CHAT))).not.toContain('else');
  });

  test('goes into its topic, with its file, and outside of it if the topic was closed meanwhile', async () => {
    const scene = await openScene();
    scene.peer.openChat(CHAT, { forum: true });
    const threadId = scene.peer.createTopic(CHAT, 'Bugs', { userId: 1 });
    const session = await answered(scene, await activeSession(scene, { threadId }), LONG);
    scene.peer.inject({ kind: 'bad_request', description: 'Bad Request: TOPIC_CLOSED', method: 'sendDocument' });
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    const messages = scene.peer.botMessages(CHAT);
    expect(outline(messages)).toEqual([...WORDS, 'popoto-answer.md']);
    expect(messages.map((message) => message.threadId)).toEqual([threadId, threadId, threadId, null]);
  });
});

describeWithRedis('a fault at the file', () => {
  const noRight = 'Bad Request: not enough rights to send documents to the chat';
  const faults: readonly [string, FaultKind, { files: number; within: number }][] = [
    ['no right to send documents', { kind: 'bad_request', description: noRight }, { files: 0, within: 0 }],
    ['403', { kind: 'forbidden' }, { files: 0, within: 0 }],
    ['413', { kind: 'bad_request', description: 'Request Entity Too Large' }, { files: 0, within: 0 }],
    ['429', { kind: 'too_many_requests', retryAfterS: 7 }, { files: 1, within: 7 * SECOND }],
    ['429, for hours', { kind: 'too_many_requests', retryAfterS: 90_000 }, { files: 1, within: HOUR }],
    ['502', { kind: 'server_error', status: 502, html: true }, { files: 0, within: 0 }],
    ['lost answer', { kind: 'lost_answer' }, { files: 1, within: 0 }],
    ['reset', { kind: 'reset' }, { files: 0, within: 0 }],
  ];

  // rule: a-long-answer-comes-as-a-file
  test.each(faults)('%s: the answer counts as delivered, and its file is sent at most once', async (_, fault, end) => {
    const scene = await openScene();
    const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), LONG);
    scene.peer.inject({ ...fault, method: 'sendDocument' });
    const { state, tookMs } = await deliverUntilOver(scene, session);
    expect({ state, tookMs }).toEqual({ state: 'sent', tookMs: end.within });
    const [progress, ...messages] = scene.peer.botMessages(CHAT);
    expect(progress?.text).toBe('Done in 1 second.');
    expect(outline(messages)).toEqual([...WORDS, ...(end.files === 1 ? ['popoto-answer.md'] : [])]);
    expect(messages.filter(({ silent }) => !silent)).toHaveLength(1);
    expect(scene.told).toEqual([]);
    // "reset" and "lost answer" look the same from here.
    const isSure = end.files === 1 && fault.kind !== 'lost_answer';
    expect(scene.logged.filter((line) => line.includes('comes without its file'))).toHaveLength(isSure ? 0 : 1);
    // No second try, whoever asks for it.
    const calls = scene.peer.calls.length;
    await deliveryOf(scene).deliver(session.session_id);
    expect(scene.peer.calls).toHaveLength(calls);
  });

  test('429 for a whole day: the answer counts as delivered without it', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), LONG);
    const limited = { kind: 'too_many_requests', retryAfterS: 20_000, times: Number.POSITIVE_INFINITY } as const;
    scene.peer.inject({ ...limited, method: 'sendDocument' });
    const { state, tookMs } = await deliverUntilOver(scene, session);
    expect(state).toBe('sent');
    expect(tookMs).toBeGreaterThan(DAY);
    expect(tookMs).toBeLessThan(DAY + 2 * HOUR);
    expect(scene.logged.join('')).toContain('the answer comes without its file: a day has passed');
    expect(outline(scene.peer.botMessages(CHAT))).toEqual(WORDS);
    expect(scene.told).toEqual([]);
  });

  test('at the end of the day: the answer still counts as delivered', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), LONG);
    await scene.clock.advance(DAY - SECOND);
    let passing: Promise<unknown> | null = null;
    scene.peer.inject({
      kind: 'too_many_requests',
      retryAfterS: 7,
      method: 'sendDocument',
      match: () => {
        passing ??= scene.clock.advance(2 * SECOND);
        return true;
      },
    });
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    await passing;
    expect(outline(scene.peer.botMessages(CHAT))).toEqual(WORDS);
    expect(scene.told).toEqual([]);
  });

  test('a hang while the bridge stops: nothing is sent twice after the next start', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), LONG);
    const hang = scene.peer.inject({ kind: 'hang', method: 'sendDocument' });
    const first = deliveryOf(scene);
    const delivering = first.deliver(session.session_id);
    await scene.peer.waitFor(() => hang.used === 1);
    first.stopSoon();
    await scene.clock.advance(scene.drainMs);
    await delivering;
    await first.stop();
    expect((await deliverUntilOver(scene, session)).state).toBe('sent');
    expect(outline(scene.peer.botMessages(CHAT))).toEqual(WORDS);
    expect(documents(scene)).toBe(1);
  });

  test('a stop before the file: it is sent after the next start', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), LONG);
    const first = deliveryOf(scene);
    let stopped: Promise<void> | null = null;
    scene.peer.inject({
      kind: 'reset',
      match: (parameters) => {
        if (parameters.text('text').includes('third')) stopped ??= first.stop();
        return false;
      },
    });
    expect(await first.deliver(session.session_id)).toBe('queued');
    await stopped;
    expect(outline(scene.peer.botMessages(CHAT))).toEqual(WORDS);
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    expect(outline(scene.peer.botMessages(CHAT))).toEqual([...WORDS, 'popoto-answer.md']);
  });
});

describeWithRedis('the memory of sends, with a file', () => {
  // rule: a-long-answer-comes-as-a-file
  test('sends a file that a store has forgotten to ask for, and none a second time', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), LONG);
    const key = scene.store.keys.outbox(session.session_id);
    const before = await scene.store.redis.hgetall(key);
    const forget = async () => {
      // With the pause that the chat has asked for.
      await scene.store.redis.del(key, scene.store.keys.sendBan(String(CHAT)));
      await scene.store.redis.hset(key, before);
    };
    scene.peer.inject({ kind: 'too_many_requests', retryAfterS: 7, method: 'sendDocument' });
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('queued');
    await forget();
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    await forget();
    expect(await deliveryOf(scene).deliver(session.session_id)).toBe('sent');
    expect(outline(scene.peer.botMessages(CHAT))).toEqual([...WORDS, 'popoto-answer.md']);
  });

  test('continues after the messages that a version without files has sent', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), LONG);
    const logsFolder = testFolder();
    mkdirSync(join(logsFolder, 'sends'));
    const digest = createHash('sha256').update(LONG).digest('hex').slice(0, 16);
    const sent = {
      v: 1,
      timestamp: isoTime(scene.clock.now()),
      session_id: session.session_id,
      kind: 'answer',
      digest,
    };
    const lines = [0, 1].map((part) => ({ ...sent, of: 3, part, did: 'sent', by: scene.here, claim: '' }));
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    writeFileSync(join(logsFolder, 'sends', 'sends.jsonl'), text);
    const memory = new SendMemory(scene, logsFolder);
    const delivery = deliveryOf({ ...scene, memory });
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    expect(outline(scene.peer.botMessages(CHAT))).toEqual(['third', 'popoto-answer.md']);
  });

  test('knows the answer as sent once its messages are in the chat, and adds no file of a second wording', async () => {
    const scene = await openScene();
    const logsFolder = testFolder();
    const memory = new SendMemory(scene, logsFolder);
    const session = await answered(scene, await activeSession(scene), LONG);
    const former = { sessionId: session.session_id, kind: 'answer', digest: 'another', of: 3 } as const;
    for (const part of [0, 1, 2]) await memory.arrived(former, part);
    expect(await memory.lastSent(session.session_id, 0)).toBe('answer');
    await memory.arrived(former, 3);
    expect(await memory.lastSent(session.session_id, 0)).toBe('answer');
    const delivery = deliveryOf({ ...scene, memory });
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    expect(scene.peer.botMessages(CHAT)).toEqual([]);
  });

  test('does not send a file again if its sender died while sending it', async () => {
    const scene = await openScene();
    const session = await answered(scene, await activeSession(scene), LONG);
    const logsFolder = testFolder();
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const here = readProcessIdentity('testhost', child.pid);
    const dying = { ...scene, here, memory: new SendMemory({ ...scene, here }, logsFolder) };
    // The fourth send is the file's.
    armFailpoint('answer.send.after:throw:4');
    await deliveryOf(dying)
      .deliver(session.session_id)
      .catch(() => undefined);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await scene.clock.advance(2 * HOUR);
    const memory = new SendMemory(scene, logsFolder);
    expect((await deliverUntilOver({ ...scene, memory }, session)).state).toBe('sent');
    expect(outline(scene.peer.botMessages(CHAT))).toEqual([...WORDS, 'popoto-answer.md']);
    expect(documents(scene)).toBe(1);
  });
});

/** Tries whenever the entry is due, until its way is over. @returns the end, and after how long */
async function deliverUntilOver(scene: Scene, session: AgentSession) {
  const delivery = deliveryOf(scene);
  const begun = scene.clock.now();
  for (;;) {
    const state = await delivery.deliver(session.session_id);
    const tookMs = scene.clock.now() - begun;
    if (state !== 'queued' && state !== 'sending') {
      await delivery.stop();
      return { state, tookMs };
    }
    const { due_at } = (await scene.store.records.outboxEntry(session.session_id)) as OutboxEntry;
    await scene.clock.advance(Math.max(due_at - scene.clock.now(), 1));
  }
}

/** One word for each message: its first one, or the name of its file. */
function outline(messages: readonly SeenMessage[]): string[] {
  return messages.map(({ text, file }) => file?.name ?? text.split('\n')[0] ?? '');
}

function documents({ peer }: Scene): number {
  return peer.calls.filter(({ method }) => method === 'sendDocument').length;
}
