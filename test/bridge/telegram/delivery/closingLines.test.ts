/** What stands in the progress message of a session that has ended. */

import { expect, test } from '@jest/globals';
import { ChatRouter } from '../../../../bridge/chat/chatRouter.js';
import { DeliveryService } from '../../../../bridge/chat/deliveryService.js';
import { EnqueuedHandoffs } from '../../../../bridge/handoffs/handoffs.js';
import type { TelegramDelivery } from '../../../../bridge/telegram/delivery/delivery.js';
import { ProgressEdits } from '../../../../bridge/telegram/progress/progressEdits.js';
import { BridgeWorklogs } from '../../../../memory/sessions/bridgeWorklogs.js';
import type { AgentSession } from '../../../../src/jobs/model.js';
import { DAY, MINUTE, SECOND } from '../../../../src/time.js';
import { describeWithRedis } from '../../../harness/redis.js';
import type { FaultKind } from '../../../peers/telegram/faults.js';
import {
  activeSession,
  answered,
  CHAT,
  deadProcess,
  deliveryOf,
  displayOf,
  openScene,
  type Scene,
  withProgressMessage,
} from '../scene.js';

const ANSWER = 'forty-two';

describeWithRedis('the last line of a progress message', () => {
  const faults: readonly [string, FaultKind][] = [
    ['429', { kind: 'too_many_requests', retryAfterS: 7 }],
    ['502', { kind: 'server_error', status: 502 }],
    ['reset', { kind: 'reset' }],
    ['401', { kind: 'unauthorized' }],
  ];

  // rule: the-progress-message-gets-its-last-line
  test.each(faults)('is written eventually, although Telegram answered %s at first', async (_name, fault) => {
    const scene = await openScene();
    const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), ANSWER);
    scene.peer.inject({ ...fault, method: 'editMessageText', times: 2 });
    const delivery = deliveryOf(scene);
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    await untilClosed(scene, serviceOf(scene, delivery), session);
    expect(shown(scene)).toEqual(['Done in 1 second.', ANSWER]);
  });

  // rule: the-progress-message-gets-its-last-line
  test('is written by the next bridge if the first one died between the answer and the line', async () => {
    const scene = await openScene();
    const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), ANSWER);
    const hang = scene.peer.inject({ kind: 'hang', method: 'editMessageText' });
    const died = deliveryOf(scene);
    expect(await died.deliver(session.session_id)).toBe('sent');
    await scene.peer.waitFor(() => hang.used === 1);
    expect(shown(scene)).toEqual(['Working …', ANSWER]);
    const next = deliveryOf({ ...scene, edits: new ProgressEdits(scene) });
    await untilClosed(scene, serviceOf(scene, next), session);
    expect(shown(scene)).toEqual(['Done in 1 second.', ANSWER]);
    died.stopSoon();
    await scene.clock.advance(scene.drainMs);
    await died.stop();
  });

  // rule: a-lost-redis-and-bridge-cost-no-end
  test('keeps its message open in the register beside the logs until it is written', async () => {
    const scene = await openScene();
    const [shown, quiet] = [await activeSession(scene), await activeSession(scene, { directory: '/srv/other' })];
    await answered(scene, await withProgressMessage(scene, shown), ANSWER);
    await answered(scene, quiet, ANSWER);
    const fault = scene.peer.inject({ kind: 'reset', method: 'editMessageText' });
    const ended: string[] = [];
    const delivery = deliveryOf({ ...scene, ended: (id) => void ended.push(id) });
    const base = {
      ...scene,
      accepted: { ended: (id: string) => void ended.push(id) },
      worklogs: new BridgeWorklogs(scene.logsFolder, scene),
      handoffs: new EnqueuedHandoffs({ ...scene, variables: {} }),
    };
    const router = new ChatRouter(base, scene.logsFolder, delivery, delivery);
    expect(await router.deliver(shown.session_id)).toBe('sent');
    expect(await router.deliver(quiet.session_id)).toBe('sent');
    await scene.peer.waitFor(() => fault.used === 1);
    expect(ended).toEqual([quiet.session_id]);
    await untilClosed(scene, serviceOf(scene, delivery), shown);
    expect(ended).toEqual([quiet.session_id, shown.session_id]);
  });

  // rule: the-progress-message-gets-its-last-line
  test('is written by the next bridge at once if the first one is dead, unless an edit has failed and waits for its next try', async () => {
    const scene = await openScene();
    const here = await deadProcess();
    for (const fault of [{ kind: 'hang' }, { kind: 'reset' }] as const) {
      const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), ANSWER);
      const used = scene.peer.inject({ ...fault, method: 'editMessageText' });
      const died = deliveryOf({ ...scene, here });
      expect(await died.deliver(session.session_id)).toBe('sent');
      await scene.peer.waitFor(() => used.used === 1);
      if (fault.kind !== 'hang') await died.stop();
      const next = deliveryOf({ ...scene, edits: new ProgressEdits(scene) });
      await serviceOf(scene, next).runOnce();
      await next.stop();
      expect(shown(scene).slice(-2)).toEqual([fault.kind === 'hang' ? 'Done in 1 second.' : 'Working …', ANSWER]);
      if (fault.kind === 'hang') {
        died.stopSoon();
        await scene.clock.advance(scene.drainMs);
        await died.stop();
      }
    }
  });

  test('says that the answer could not be delivered', async () => {
    const scene = await openScene();
    const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), ANSWER);
    scene.peer.inject({ kind: 'bad_request', description: 'message is too long', method: 'sendMessage' });
    const delivery = deliveryOf(scene);
    expect(await delivery.deliver(session.session_id)).toBe('given_up');
    await delivery.stop();
    expect(shown(scene)).toEqual(['Done in 1 second, but the answer could not be delivered.']);
  });

  // rule: the-progress-message-gets-its-last-line
  test('stays if a process that was stopped between its check and its edit edits after the end', async () => {
    const scene = await openScene();
    const session = await withProgressMessage(scene, await activeSession(scene));
    const delivery = deliveryOf(scene);
    const stood = new ProgressEdits(scene);
    const message = {
      sessionId: session.session_id,
      chatId: session.request.chat_id,
      messageId: session.request.progress_message_id ?? '',
    };
    await stood.edit(message, { plain: 'Thinking · 47 s', html: null }, async () => {
      const mayEdit = await stood.isOpen(session.session_id);
      await answered(scene, session, ANSWER);
      expect(await delivery.deliver(session.session_id)).toBe('sent');
      await delivery.stop();
      expect(shown(scene)).toEqual(['Done in 1 second.', ANSWER]);
      await scene.clock.stall(33 * SECOND);
      return mayEdit;
    });
    expect(shown(scene)).toEqual(['Thinking · 47 s', ANSWER]);
    await untilClosed(scene, serviceOf(scene, deliveryOf(scene)), session);
    expect(shown(scene)).toEqual(['Done in 1 second.', ANSWER]);
    expect(
      await stood.edit(message, { plain: 'Thinking · 48 s', html: null }, () => stood.isOpen(session.session_id)),
    ).toBe(false);
  });

  // rule: the-progress-message-gets-its-last-line
  test('is written again if an edit that was given up may still arrive', async () => {
    const scene = await openScene();
    const session = await answered(scene, await withProgressMessage(scene, await activeSession(scene)), ANSWER);
    const messageId = session.request.progress_message_id ?? '';
    const quiet = async () => ({ messageId, mayComeLate: true });
    const delivery = deliveryOf(scene, Object.assign(displayOf(scene), { quiet }));
    expect(await delivery.deliver(session.session_id)).toBe('sent');
    await scene.peer.waitFor(() => shown(scene)[0] === 'Done in 1 second.');
    await scene.api.editMessageText(session.request.chat_id, messageId, { plain: 'Thinking · 47 s', html: null });
    await untilClosed(scene, serviceOf(scene, delivery), session);
    expect(shown(scene)).toEqual(['Done in 1 second.', ANSWER]);
  });

  test('is given up if Telegram refuses it for good, or for a day', async () => {
    const scene = await openScene();
    const [gone, away] = [await activeSession(scene), await activeSession(scene, { directory: '/srv/other' })];
    for (const session of [gone, away]) await answered(scene, await withProgressMessage(scene, session), ANSWER);
    const delivery = deliveryOf(scene);
    scene.peer.inject({ kind: 'bad_request', description: 'message to edit not found', method: 'editMessageText' });
    await delivery.deliver(gone.session_id);
    await untilClosed(scene, serviceOf(scene, delivery), gone);
    scene.peer.inject({ kind: 'reset', method: 'editMessageText', times: Number.POSITIVE_INFINITY });
    await delivery.deliver(away.session_id);
    await delivery.stop();
    await scene.clock.advance(DAY + MINUTE);
    await untilClosed(scene, serviceOf(scene, deliveryOf(scene)), away);
    expect(await scene.store.records.dueOutbox(Number.MAX_SAFE_INTEGER)).toEqual({ due: [], nextAt: null });
  });
});

function serviceOf(scene: Scene, delivery: TelegramDelivery): DeliveryService {
  const chat = { deliver: (id: string) => delivery.deliver(id), showProgress: async () => undefined };
  return new DeliveryService(scene, chat);
}

/** Looks at what is due whenever the entry says so, until nothing of it is. */
async function untilClosed(scene: Scene, service: DeliveryService, { session_id }: AgentSession): Promise<void> {
  for (;;) {
    const entry = await scene.store.records.outboxEntry(session_id);
    if (entry?.progress_message_id === null) return;
    const waitMs = (entry?.due_at ?? 0) - scene.clock.now();
    if (waitMs > 0) await scene.clock.advance(waitMs);
    await service.runOnce();
  }
}

function shown(scene: Scene): string[] {
  return scene.peer.botMessages(CHAT).map((message) => message.text);
}
