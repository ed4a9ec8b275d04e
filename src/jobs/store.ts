/** All records in Redis, opened once; each part of the product gets the parts it needs. */
import type { Redis } from 'ioredis';
import { Leases } from '../redis/leases.js';
import type { Clock } from '../time.js';
import { BlockedLanes } from './blockedLanes.js';
import { BridgeStarts } from './bridgeStarts.js';
import { ChatMemory } from './chatMemory.js';
import { Expiry } from './expiry.js';
import { Gaps } from './gaps.js';
import { IncidentTransitions } from './incidentTransitions.js';
import { type Keys, keysIn } from './keys.js';
import { Lanes } from './lanes.js';
import { Outbox } from './outbox.js';
import { OwedEvents } from './owedEvents.js';
import { Presences } from './presence.js';
import { Quarantine } from './quarantine.js';
import { Records } from './records.js';
import { Regain } from './regain.js';
import { Strays } from './strays.js';
import { Transitions } from './transitions.js';

export interface Store {
  readonly redis: Redis;
  readonly keys: Keys;
  readonly records: Records;
  readonly transitions: Transitions;
  readonly incidents: IncidentTransitions;
  readonly outbox: Outbox;
  readonly lanes: Lanes;
  readonly blockedLanes: BlockedLanes;
  readonly chatMemory: ChatMemory;
  readonly expiry: Expiry;
  readonly quarantine: Quarantine;
  readonly regain: Regain;
  readonly strays: Strays;
  readonly leases: Leases;
  readonly presences: Presences;
  readonly bridgeStarts: BridgeStarts;
  readonly gaps: Gaps;
  readonly owedEvents: OwedEvents;
}

/**
 * @param redis a connection for commands, with a finite number of retries per request; the caller closes it
 * @param namespace put before every key; empty in production
 */
export function openStore(redis: Redis, clock: Clock, namespace = ''): Store {
  const keys = keysIn(namespace);
  const records = new Records(redis, keys);
  const context = { redis, keys, records };
  const blockedLanes = new BlockedLanes(context, clock);
  return {
    redis,
    keys,
    records,
    transitions: new Transitions(context, clock),
    incidents: new IncidentTransitions(context, clock),
    outbox: new Outbox(context, clock),
    lanes: new Lanes(context),
    blockedLanes,
    chatMemory: new ChatMemory(context),
    expiry: new Expiry(context),
    quarantine: new Quarantine(context, clock),
    regain: new Regain(context, clock),
    strays: new Strays(context, clock, blockedLanes),
    leases: new Leases(redis, keys, clock),
    presences: new Presences(redis, keys),
    bridgeStarts: new BridgeStarts(redis, keys, clock),
    gaps: new Gaps(redis, keys),
    owedEvents: new OwedEvents(redis, keys),
  };
}
