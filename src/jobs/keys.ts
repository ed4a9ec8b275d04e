/**
 * Every Redis key, in one place. All share the hash tag `{wk}`, so that one script may touch any of them on a cluster.
 */
export interface Keys {
  /** String: the {@link Schema} of everything stored. */
  readonly schema: string;
  /** Hash: one {@link AgentSession}. */
  session(sessionId: string): string;
  /** Sorted set of session ids; score: for `active` the record's `rev`, else the instant of the change. */
  status(status: 'pending' | 'active' | 'ended'): string;
  /** Hash `session_id`, `claimed_by`, `revival_id`: the truth about one message. */
  message(projectKey: string, chatId: string, messageId: string): string;
  /** List of pending session ids, first in, first out. */
  lane(lane: string): string;
  /** String: the run that holds the lane, so that every write of a run that lost it is refused. */
  laneHolder(lane: string): string;
  /** Hash by lane: the {@link BlockedLane}s. */
  readonly blockedLanes: string;
  /** String: since when no run holds the lane, epoch ms; missing if none ever did. */
  laneFree(lane: string): string;
  /** Set of the lanes of a host that may have something waiting. */
  lanes(host: string): string;
  /** Set of the hosts that ever had a lane. */
  readonly hosts: string;
  /** String: the provider's conversation id, as the agents of one host know it. */
  conversation(conversationKey: string, host: string): string;
  /** Counter: how often a new conversation was started in a place. */
  conversationEpoch(projectKey: string, chatId: string, threadId: string | null): string;
  /** String: the session that a message of ours in a chat belongs to. */
  ownMessage(projectKey: string, chatId: string, messageId: string): string;
  /** Exists once a chat was notified why its message waits. */
  toldWaiting(sessionId: string): string;
  /** Hash `rev`, `doc`. */
  incident(incidentId: string): string;
  /** String: the one open incident about something other than a session's run; see `IncidentSubject`. */
  incidentAbout(subject: string): string;
  /** Sorted set of open incident ids by their opening. */
  readonly openIncidents: string;
  /** Sorted set of closed incident ids by their closing. */
  readonly closedIncidents: string;
  /** Hash `rev`, `doc`: the final message of a session. */
  outbox(sessionId: string): string;
  /** Sorted set of session ids with an undelivered final message, or a progress message without its last line, by `due_at`. */
  readonly outboxDue: string;
  /** Sorted set of session ids by the expiry of their run's lease. */
  readonly runLeases: string;
  /** Hash `owner`, `fence`, `until`. */
  lease(name: string): string;
  /** Hash `rev`, `doc`: what is known of the issue of one fingerprint. */
  issue(fingerprint: string): string;
  /** String with an expiry: when the last new issue of a project was created. */
  issueCreated(projectKey: string): string;
  /** String: the key of the marks in the bodies of our issues. */
  readonly issueMarkerKey: string;
  /** The unchanged record of a session or an incident that could not be read. */
  quarantine(kind: 'session' | 'incident', id: string): string;
  /** Sorted set of those keys, by the instant of the move. */
  readonly quarantined: string;
  /** List of {@link WatchdogGap}s of the watchdogs of a logs folder, the newest first. */
  gaps(logsId: string): string;
  owedEvents(logsId: string): string;
  /** String: the next Telegram update to ask for. */
  updateOffset(botId: string): string;
  /** String with an expiry: the {@link Presence} of the bridge that serves a host. */
  bridge(host: string): string;
  /** String: when a bridge of the host last announced itself, epoch ms. */
  bridgeSeen(host: string): string;
  /** String: the {@link BridgeAbsence} of the host that was reported and is not over. */
  bridgeAbsence(host: string): string;
  /** Sorted set: the starts of the host's bridge that no orderly stop followed, by their instant. */
  bridgeStarts(host: string): string;
  /** String with an expiry: that a series of such starts was reported. */
  bridgeRestartsTold(host: string): string;
  /** String: the {@link ServedPlace}s of the host, as last announced by its bridge. */
  hostPlaces(host: string): string;
  /** String with an expiry and no meaning: it only shows that Redis accepts writes. */
  touched(host: string): string;
  /** String with an expiry: the last {@link MemoryMark} of a process. */
  memoryMark(era: string): string;
  /** String with an expiry: the {@link Presence} of the bridge that fetches a bot's messages. */
  poller(botId: string): string;
  /** Channel on which writers announce what to check. */
  readonly wakeChannel: string;
  /** Matches all of our keys, for Redis' SCAN. */
  readonly pattern: string;
  /** Prefix that BullMQ puts before its own keys. */
  readonly bullPrefix: string;
}

/**
 * @param namespace put before every key; empty in production, one per test
 */
export function keysIn(namespace = ''): Keys {
  const root = `${namespace}{wk}:`;
  return {
    schema: `${root}schema`,
    session: (sessionId) => `${root}session:${sessionId}`,
    status: (status) => `${root}sessions:${status}`,
    message: (projectKey, chatId, messageId) => `${root}message:${projectKey}:${chatId}:${messageId}`,
    lane: (lane) => `${root}lane:${lane}`,
    laneHolder: (lane) => `${root}lane-holder:${lane}`,
    blockedLanes: `${root}blocked-lanes`,
    laneFree: (lane) => `${root}lane-free:${lane}`,
    lanes: (host) => `${root}lanes:${host}`,
    hosts: `${root}hosts`,
    conversation: (conversationKey, host) => `${root}conversation:${host}:${conversationKey}`,
    conversationEpoch: (projectKey, chatId, threadId) =>
      `${root}conversation-epoch:${projectKey}:${chatId}:${threadId ?? ''}`,
    toldWaiting: (sessionId) => `${root}told-waiting:${sessionId}`,
    ownMessage: (projectKey, chatId, messageId) => `${root}own-message:${projectKey}:${chatId}:${messageId}`,
    incident: (incidentId) => `${root}incident:${incidentId}`,
    incidentAbout: (subject) => `${root}incident-about:${subject}`,
    openIncidents: `${root}incidents:open`,
    closedIncidents: `${root}incidents:closed`,
    outbox: (sessionId) => `${root}outbox:${sessionId}`,
    outboxDue: `${root}outbox-due`,
    runLeases: `${root}run-leases`,
    lease: (name) => `${root}lease:${name}`,
    issue: (fingerprint) => `${root}issue:${fingerprint}`,
    issueCreated: (projectKey) => `${root}issue-created:${projectKey}`,
    issueMarkerKey: `${root}issue-marker-key`,
    quarantine: (kind, id) => `${root}quarantine:${kind}:${id}`,
    quarantined: `${root}quarantined`,
    gaps: (logsId) => `${root}gaps:${logsId}`,
    owedEvents: (logsId) => `${root}owed-events:${logsId}`,
    updateOffset: (botId) => `${root}update-offset:${botId}`,
    bridge: (host) => `${root}bridge:${host}`,
    bridgeSeen: (host) => `${root}bridge-seen:${host}`,
    bridgeStarts: (host) => `${root}bridge-starts:${host}`,
    bridgeRestartsTold: (host) => `${root}bridge-restarts-told:${host}`,
    bridgeAbsence: (host) => `${root}bridge-absence:${host}`,
    hostPlaces: (host) => `${root}host-places:${host}`,
    touched: (host) => `${root}touched:${host}`,
    memoryMark: (era) => `${root}memory-mark:${era}`,
    poller: (botId) => `${root}poller:${botId}`,
    wakeChannel: `${root}wake`,
    pattern: `${root}*`,
    bullPrefix: `${root}bull`,
  };
}
