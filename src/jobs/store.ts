/** All records in Redis, opened once; each part of the product gets the parts it needs. */
import type { Redis } from 'ioredis';
import { Leases } from '../redis/leases.js';
import type { Clock } from '../time.js';
import { BridgeStarts } from './bridgeStarts.js';
import { ChatMemory } from './chatMemory.js';
import { Expiry } from './expiry.js';
import { Gaps } from './gaps.js';
import { IncidentTransitions } from './incidentTransitions.js';
import { keysIn } from './keys.js';
import { BlockedLanes, Lanes } from './lanes.js';
import { Outbox } from './outbox.js';
import { OwedEvents } from './owedEvents.js';
import { Presences } from './presence.js';
import { Quarantine } from './quarantine.js';
import { Records } from './records.js';
import { Regain } from './regain.js';
import { Reloads } from './reloads.js';
import { Strays } from './strays.js';
import { Transitions } from './transitions.js';
import { Troubles } from './troubles.js';

export type Store = Readonly<ReturnType<typeof openStore>>;

/** @param redis with a finite number of retries; the caller closes it @param namespace put before every key; empty in production */
export function openStore(redis: Redis, clock: Clock, namespace = '') {
  const keys = keysIn(namespace);
  const records = new Records(redis, keys);
  const context = { redis, keys, records, clock };
  return {
    redis,
    keys,
    records,
    transitions: new Transitions(context),
    incidents: new IncidentTransitions(context),
    outbox: new Outbox(context),
    lanes: new Lanes(context),
    blockedLanes: new BlockedLanes(context),
    chatMemory: new ChatMemory(context),
    expiry: new Expiry(context),
    quarantine: new Quarantine(context),
    regain: new Regain(context),
    strays: new Strays(context),
    leases: new Leases(redis, keys, clock),
    presences: new Presences(context),
    bridgeStarts: new BridgeStarts(context),
    gaps: new Gaps(context),
    reloads: new Reloads(context),
    owedEvents: new OwedEvents(context),
    reportTroubles: new Troubles(context, keys.reportTroubles),
    botTroubles: new Troubles(context, keys.botTroubles),
  };
}
