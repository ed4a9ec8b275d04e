/** Reads stored records. Nothing here writes. */
import type { Redis } from 'ioredis';
import { CorruptRecordError } from '../errors.js';
import { Script } from '../redis/script.js';
import { type Incident, isIncident } from './incidents.js';
import type { Keys } from './keys.js';
import { readSessionOfMessage } from './messageIndex.js';
import type { AgentSession, OutboxEntry } from './model.js';
import { markedNumber, messageOf } from './names.js';
import { decodeSession, readSession } from './sessionCodec.js';

/** How many hashes one pipeline requests: keeps single replies of Redis short. */
const PIPELINE_SIZE = 500;

/*
 * Purpose: read an index as one text: ten thousand ids with a number each would be twenty thousand replies, and parsing those
 * takes as long as a check of ten thousand files. Reads only.
 * KEYS: the index.
 * Returns: a line with the id and a line with the score of each entry. An id names a folder, so it has no end of line.
 */
const INDEX_SCRIPT = new Script(`
return table.concat(redis.call('ZRANGE', KEYS[1], '0', '-1', 'WITHSCORES'), '\\n')
`);

/*
 * Purpose: find the lanes of a host with waiting sessions, and those without a holder, in one request. If no session waits
 * anywhere, only the holders are read: building a lane's keys is the expensive part. Read-only.
 * KEYS: the set of the host's lanes; the index of waiting sessions.
 * ARGV: the prefixes of the keys of a lane's list and of its holder.
 * Returns: the lanes.
 */
const LANES_SCRIPT = new Script(`
local found = {}
local waiting = redis.call('ZCARD', KEYS[2]) > 0
for _, lane in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  if redis.call('EXISTS', ARGV[2] .. lane) == 0 or (waiting and redis.call('LLEN', ARGV[1] .. lane) > 0) then
    found[#found + 1] = lane
  end
end
return found
`);

export interface LaneView {
  readonly lane: string;
  readonly holder: string | null;
  /** Since when no run holds it, epoch ms; null if none ever did. */
  readonly freeSince: number | null;
  readonly head: string | null;
  readonly waiting: number;
}

export class Records {
  protected readonly redis: Redis;
  protected readonly keys: Keys;

  constructor(redis: Redis, keys: Keys) {
    this.redis = redis;
    this.keys = keys;
  }

  /** @returns null if there is none @throws CorruptRecordError if the record cannot be read */
  async session(sessionId: string): Promise<AgentSession | null> {
    return decodeSession(await this.redis.hgetall(this.keys.session(sessionId)));
  }

  /** @returns the sessions in the order of the ids; a missing one is left out, an unreadable one is returned as its error */
  async sessions(sessionIds: readonly string[]): Promise<(AgentSession | CorruptRecordError)[]> {
    const found: (AgentSession | CorruptRecordError)[] = [];
    for (let from = 0; from < sessionIds.length; from += PIPELINE_SIZE) {
      const pipeline = this.redis.pipeline();
      for (const id of sessionIds.slice(from, from + PIPELINE_SIZE)) pipeline.hgetall(this.keys.session(id));
      for (const [error, fields] of (await pipeline.exec()) ?? []) {
        if (error !== null) throw error;
        const session = readSession(fields as Record<string, string>);
        if (session !== null) found.push(session);
      }
    }
    return found;
  }

  /** @returns active session ids with the `rev` of their records: a changed rev means a changed record */
  async activeRevisions(): Promise<Map<string, number>> {
    const lines = String(await INDEX_SCRIPT.run(this.redis, [this.keys.status('active')])).split('\n');
    return new Map(pairsOf(lines));
  }

  /** @returns session ids, the oldest change first; at most `most` of the newest */
  async sessionIds(status: 'pending' | 'active' | 'ended', most = 1_000_000): Promise<string[]> {
    return this.redis.zrange(this.keys.status(status), String(-most), '-1');
  }

  /** @param bot whose numbers are marked, if any @returns the session of a message; null if that was never seen */
  async sessionOfMessage(projectKey: string, chatId: string, messageId: string, bot: string | null = null) {
    return readSessionOfMessage(this.redis, this.keys, (id) => [projectKey, chatId, markedNumber(id, bot)], messageId);
  }

  /** @returns the incident that used the one revival of the session's message; null if it is unused */
  async claimOf(session: AgentSession): Promise<string | null> {
    const key = this.keys.message(...messageOf(session));
    return this.redis.hget(key, 'claimed_by');
  }

  /** @returns every host that ever had a lane */
  async hosts(): Promise<string[]> {
    return this.redis.smembers(this.keys.hosts);
  }

  /** @returns the open incident about a subject other than a session's run; null if none is open */
  async incidentAbout(subject: string): Promise<Incident | null> {
    const id = await this.redis.get(this.keys.incidentAbout(subject));
    return id === null ? null : this.incident(id);
  }

  /** @returns the lanes of a host that are held or have waiting sessions */
  async lanes(host: string): Promise<LaneView[]> {
    const lanes = await this.redis.smembers(this.keys.lanes(host));
    return Promise.all(lanes.map((lane) => this.lane(lane)));
  }

  /** @returns the lanes of a host with waiting sessions, and those without a holder: all that need action */
  async lanesWorthALook(host: string): Promise<LaneView[]> {
    const { lanes, status, lane, laneHolder } = this.keys;
    const found = await LANES_SCRIPT.run(this.redis, [lanes(host), status('pending')], [lane(''), laneHolder('')]);
    return Promise.all((found as string[]).map((name) => this.lane(name)));
  }

  async lane(lane: string): Promise<LaneView> {
    const [holder, free, head, waiting] = await Promise.all([
      this.redis.get(this.keys.laneHolder(lane)),
      this.redis.get(this.keys.laneFree(lane)),
      this.redis.lindex(this.keys.lane(lane), 0),
      this.redis.llen(this.keys.lane(lane)),
    ]);
    return { lane, holder, freeSince: free === null ? null : Number(free), head, waiting };
  }

  /** @returns the waiting sessions of a lane, the next one first */
  async waitingIn(lane: string): Promise<string[]> {
    return this.redis.lrange(this.keys.lane(lane), 0, -1);
  }

  /** @throws CorruptRecordError if the record cannot be read */
  async incident(incidentId: string): Promise<Incident | null> {
    const name = `incident ${incidentId}`;
    const doc = parseDocument<unknown>(name, await this.redis.hget(this.keys.incident(incidentId), 'doc'));
    if (doc === null || isIncident(doc)) return doc;
    throw new CorruptRecordError(`${name}: the record is not what this version writes; it is set aside`);
  }

  /** The oldest first. @param onBroken called for each unreadable record; it is left out */
  async openIncidents(onBroken?: (error: CorruptRecordError) => void): Promise<Incident[]> {
    const ids = await this.redis.zrange(this.keys.openIncidents, '0', '-1');
    return readable(ids, (id) => this.incident(id), onBroken);
  }

  /** @returns the incidents closed last, the newest first */
  async closedIncidents(most: number): Promise<Incident[]> {
    const ids = await this.redis.zrange(this.keys.closedIncidents, '0', String(most - 1), 'REV');
    return readable(ids, (id) => this.incident(id));
  }

  /** @throws CorruptRecordError if the record cannot be read */
  async outboxEntry(sessionId: string): Promise<OutboxEntry | null> {
    const doc = await this.redis.hget(this.keys.outbox(sessionId), 'doc');
    return parseDocument<OutboxEntry>(`the final message of session ${sessionId}`, doc);
  }

  /** @returns ids of sessions whose final message is due, and when the next one will be */
  async dueOutbox(now: number): Promise<{ due: string[]; nextAt: number | null }> {
    const due = await this.redis.zrangebyscore(this.keys.outboxDue, '-inf', now);
    const next = await this.redis.zrangebyscore(this.keys.outboxDue, `(${now}`, '+inf', 'WITHSCORES', 'LIMIT', 0, 1);
    return { due, nextAt: next[1] === undefined ? null : Number(next[1]) };
  }

  /** @returns the final messages on their way; an unreadable one is left out */
  async outboxEntries(): Promise<OutboxEntry[]> {
    const ids = await this.redis.zrange(this.keys.outboxDue, '0', '-1');
    return readable(ids, (id) => this.outboxEntry(id));
  }

  /** @returns when the lease of the session's run expires or expired, epoch ms; null if it has none */
  async leaseUntil(sessionId: string): Promise<number | null> {
    const until = await this.redis.zscore(this.keys.runLeases, sessionId);
    return until === null ? null : Number(until);
  }

  /** @returns the sessions whose run's lease expired before `instant`, each with that time (both epoch ms) */
  async leasesOverBefore(instant: number): Promise<Map<string, number>> {
    const flat = await this.redis.zrangebyscore(this.keys.runLeases, '-inf', `(${instant}`, 'WITHSCORES');
    return new Map(pairsOf(flat));
  }

  /** @returns the provider's conversation id; null if the conversation has not begun */
  async conversationId(conversationKey: string, host: string): Promise<string | null> {
    return this.redis.get(this.keys.conversation(conversationKey, host));
  }

  /** @returns how often a new conversation was started in this place */
  async conversationEpoch(projectKey: string, chatId: string, threadId: string | null): Promise<number> {
    return Number((await this.redis.get(this.keys.conversationEpoch(projectKey, chatId, threadId))) ?? 0);
  }

  async updateOffset(botId: string): Promise<number | null> {
    const offset = await this.redis.get(this.keys.updateOffset(botId));
    return offset === null ? null : Number(offset);
  }
}

/** @returns the records of the ids without the missing and the unreadable ones */
async function readable<T>(
  ids: readonly string[],
  read: (id: string) => Promise<T | null>,
  onBroken?: (error: CorruptRecordError) => void,
): Promise<Awaited<T>[]> {
  const orBroken = (error: unknown) => {
    if (!(error instanceof CorruptRecordError)) throw error;
    onBroken?.(error);
    return null;
  };
  const found = await Promise.all(ids.map((id) => read(id).catch(orBroken)));
  return found.filter((record) => record !== null);
}

/** @returns members with their scores, from Redis' flat list of both in turn */
function pairsOf(flat: readonly string[]): [member: string, score: number][] {
  return flat.flatMap((member, at) =>
    at % 2 === 0 && flat[at + 1] !== undefined ? [[member, Number(flat[at + 1])]] : [],
  );
}

function parseDocument<T>(name: string, doc: string | null): T | null {
  try {
    return doc === null ? null : (JSON.parse(doc) as T);
  } catch (error) {
    throw new CorruptRecordError(`${name}: the record is not JSON; it is set aside`, { cause: error });
  }
}
