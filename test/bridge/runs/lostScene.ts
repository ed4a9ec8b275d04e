/** A store that may lose everything beside a logs folder whose register of accepted messages stays. */
import { join } from 'node:path';
import { AcceptedMessages } from '../../../bridge/accepted/acceptedMessages.js';
import { LostMessages } from '../../../bridge/runs/lostMessages.js';
import { endOnDisk } from '../../../monitoring/rounds/answeredLocally.js';
import type { AgentSession, OutboxEntry } from '../../../src/jobs/model.js';
import { markUnsent } from '../../../src/journal/unsent.js';
import { JournalWriter } from '../../../src/journal/writer.js';
import { DAY, isoTime } from '../../../src/time.js';
import { afterThisTest } from '../../harness/scope.js';
import { acceptMessage, HOST, openSagaScene, type SagaScene } from '../../monitoring/incident/saga/sagaScene.js';

const BOOT = 'boot-1';
const REDIS = 'redis://user:secret@Store.example:6379/0?timeout=3';

export interface Place {
  readonly redisUrl?: string | null;
  readonly bot?: string | null;
}

export interface LostScene extends SagaScene {
  readonly logsFolder: string;
  /** Sessions that a chat was sent a final message for, with its kind. */
  readonly inChat: Map<string, OutboxEntry['kind']>;
  /** The sessions of each event, in order. */
  readonly reported: string[][];
  /** @returns the register as a new process finds it */
  register(place?: Place): AcceptedMessages;
  /** @returns what a new bridge makes of it */
  bridge(accepted?: AcceptedMessages, noteLost?: (...ids: readonly string[]) => Promise<void>): LostMessages;
  /** Accepts a message, as a bridge does it. */
  accept(messageId: string, accepted?: AcceptedMessages): Promise<AgentSession>;
}

export async function openLostScene(): Promise<LostScene> {
  const scene = await openSagaScene();
  const { store, clock, logger } = scene;
  const logsFolder = join(scene.folder, 'logs');
  const inChat = new Map<string, OutboxEntry['kind']>();
  const reported: string[][] = [];
  const register = ({ redisUrl = REDIS, bot = '123' }: Place = {}) => {
    const telegram = bot === null ? null : { token: `${bot}:secret`, apiRoot: 'http://127.0.0.1' };
    const accepted = new AcceptedMessages({ settings: { logsFolder, redisUrl, telegram }, clock, logger });
    afterThisTest(() => accepted.close());
    return accepted;
  };
  const endInChat = async (id: string) => inChat.get(id) ?? null;
  const disk = { records: store.records, logsFolder, bootId: BOOT, logger, endInChat };
  const note = async (...ids: readonly string[]) => void reported.push([...ids]);
  const bridge = (accepted = register(), noteLost = note) =>
    new LostMessages({
      store,
      clock,
      logger,
      accepted,
      settings: { host: HOST, logsFolder, retention: { keptMs: 30 * DAY, archiveMs: 0, archiveBytes: 0, logBytes: 0 } },
      logsId: 'logs',
      forgotten: { noteLost },
      endOnDisk: (session) => endOnDisk(disk, session),
      endProcesses: async () => null,
    });
  const accept = async (messageId: string, accepted = register()) => {
    const session = await acceptMessage(scene, messageId);
    accepted.note(session);
    accepted.flush();
    return session;
  };
  return { ...scene, logsFolder, inChat, reported, register, bridge, accept };
}

/** @param isUnsent whether it is proven that nobody has sent it */
export async function answerOnDisk(
  { clock, logsFolder }: LostScene,
  sessionId: string,
  answer: string,
  isUnsent = true,
) {
  await clock.advance(1_000);
  const journal = JournalWriter.open({ logsFolder, sessionId, clock, redact: (text) => text });
  journal.append({ event: 'session_start', source: 'startup' });
  journal.append({ event: 'session_end', reason: 'answered', answer });
  journal.close();
  if (isUnsent) markUnsent(logsFolder, sessionId, BOOT);
}

/** What a bridge writes before it starts an agent. */
export function beginOnDisk({ clock, logsFolder }: LostScene, sessionId: string, acceptedAt: number): void {
  const journal = JournalWriter.open({ logsFolder, sessionId, clock, redact: (text) => text });
  journal.append({ event: 'run_start', run_id: 'LOST', boot_id: BOOT, accepted_at: isoTime(acceptedAt) });
  journal.append({ event: 'session_start', source: 'startup' });
  journal.close();
}
