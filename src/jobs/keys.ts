/** Every Redis key, in one place. All share the hash tag `{wk}`, so that one script may touch any of them on a cluster. */
export type Keys = Readonly<ReturnType<typeof keysIn>>;

/** @param namespace put before every key; empty in production, one per test */
export function keysIn(namespace = '') {
  const root = `${namespace}{wk}:`;
  return {
    ...sessionKeys(root),
    ...incidentKeys(root),
    ...processKeys(root),
    /** Channel where writers announce necessary checks. */
    wakeChannel: `${root}wake`,
    /** Matches all of our keys, for Redis' SCAN. */
    pattern: `${root}*`,
    /** Prefix that BullMQ puts before its own keys. */
    bullPrefix: `${root}bull`,
  };
}

/** Sessions, their lanes and their chats. */
function sessionKeys(root: string) {
  return {
    /** String: the {@link Schema} of everything stored. */
    schema: `${root}schema`,
    /** Hash: one {@link AgentSession}. */
    session: (sessionId: string) => `${root}session:${sessionId}`,
    /** Sorted set of session ids; score: for `active` the record's `rev`, else the instant of the change. */
    status: (status: 'pending' | 'active' | 'ended') => `${root}sessions:${status}`,
    /** Hash `session_id`, `claimed_by`, `revival_id`: the truth about one message. `part_of`: it is a piece of another one. */
    message: (projectKey: string, chatId: string, messageId: string) =>
      `${root}message:${projectKey}:${chatId}:${messageId}`,
    /** List of pending session ids, first in, first out. */
    lane: (lane: string) => `${root}lane:${lane}`,
    /** String: the run that holds the lane, so that every write of a run that lost it is refused. */
    laneHolder: (lane: string) => `${root}lane-holder:${lane}`,
    /** Hash by lane: the {@link BlockedLane}s. */
    blockedLanes: `${root}blocked-lanes`,
    /** String: since when no run holds the lane, epoch ms; missing if none ever did. */
    laneFree: (lane: string) => `${root}lane-free:${lane}`,
    /** Set of the lanes of a host that may have something waiting. */
    lanes: (host: string) => `${root}lanes:${host}`,
    /** Set of the hosts that ever had a lane. */
    hosts: `${root}hosts`,
    /** String: the provider's conversation id, as the agents of one host know it. */
    conversation: (conversationKey: string, host: string) => `${root}conversation:${host}:${conversationKey}`,
    /** Counter: how often a new conversation was started in a place. */
    conversationEpoch: (projectKey: string, chatId: string, threadId: string | null) =>
      `${root}conversation-epoch:${projectKey}:${chatId}:${threadId ?? ''}`,
    /** Exists once a chat was notified why its message waits. */
    notifiedWaiting: (sessionId: string) => `${root}told-waiting:${sessionId}`,
    /** String: the session that a message of ours in a chat belongs to. */
    ownMessage: (projectKey: string, chatId: string, messageId: string) =>
      `${root}own-message:${projectKey}:${chatId}:${messageId}`,
  };
}

/** Incidents, final messages, leases, issues, and records that were set aside. */
function incidentKeys(root: string) {
  return {
    /** Hash `rev`, `doc`. */
    incident: (incidentId: string) => `${root}incident:${incidentId}`,
    /** String: the one open incident about something other than a session's run; see `IncidentSubject`. */
    incidentAbout: (subject: string) => `${root}incident-about:${subject}`,
    /** Sorted set of open incident ids by their opening. */
    openIncidents: `${root}incidents:open`,
    /** Sorted set of closed incident ids by their closing. */
    closedIncidents: `${root}incidents:closed`,
    /** Hash `rev`, `doc`: the final message of a session. */
    outbox: (sessionId: string) => `${root}outbox:${sessionId}`,
    /** Sorted set of session ids with an undelivered final message, or a progress message without its last line, by `due_at`. */
    outboxDue: `${root}outbox-due`,
    /** Sorted set of session ids by the expiry of their run's lease. */
    runLeases: `${root}run-leases`,
    /** Hash `owner`, `fence`, `until`. */
    lease: (name: string) => `${root}lease:${name}`,
    /** Hash `rev`, `doc`: what is known of the issue of one fingerprint. */
    issue: (fingerprint: string) => `${root}issue:${fingerprint}`,
    /** String with an expiry: when the last new issue of a project was created. */
    issueCreated: (projectKey: string) => `${root}issue-created:${projectKey}`,
    /** String: the key of the marks in the bodies of our issues. */
    issueMarkerKey: `${root}issue-marker-key`,
    /** The unchanged record of a session or an incident that could not be read. */
    quarantine: (kind: 'session' | 'incident', id: string) => `${root}quarantine:${kind}:${id}`,
    /** Sorted set of those keys, by the instant of the move. */
    quarantined: `${root}quarantined`,
  };
}

/** The keys of all that watchdogs and bridges remember and announce. */
function processKeys(root: string) {
  return {
    /** List of {@link WatchdogGap}s of the watchdogs of a logs folder, the newest first. */
    gaps: (logsId: string) => `${root}gaps:${logsId}`,
    /** List of critical events that could not be written to the file of a logs folder yet, the oldest first. */
    owedEvents: (logsId: string) => `${root}owed-events:${logsId}`,
    /** String: the bot whose numbers of messages carry no mark; those of another one are marked with its id. */
    firstBot: `${root}first-bot`,
    /** String: the next Telegram update to ask for. */
    updateOffset: (botId: string) => `${root}update-offset:${botId}`,
    /** String with an expiry: the {@link Presence} of the bridge that serves a host. */
    bridge: (host: string) => `${root}bridge:${host}`,
    /** String: when a bridge of the host last announced itself, epoch ms. */
    bridgeSeen: (host: string) => `${root}bridge-seen:${host}`,
    /** Sorted set: the starts of the host's bridge that no orderly stop followed, by their instant. */
    bridgeStarts: (host: string) => `${root}bridge-starts:${host}`,
    /** String with an expiry: that a series of such starts was reported. */
    bridgeRestartsReported: (host: string) => `${root}bridge-restarts-told:${host}`,
    /** String: the {@link BridgeAbsence} of the host that was reported and is not over. */
    bridgeAbsence: (host: string) => `${root}bridge-absence:${host}`,
    /** Hash: the {@link Trouble} of each repository that refuses reports. */
    reportTroubles: `${root}report-troubles`,
    /** Hash: the {@link Trouble} of each bot whose token is refused. */
    botTroubles: `${root}bot-troubles`,
    /** String: the {@link ServedPlace}s of the host, as last announced by its bridge. */
    hostPlaces: (host: string) => `${root}host-places:${host}`,
    /** String with an expiry and no meaning: it only shows that Redis accepts writes. */
    touched: (host: string) => `${root}touched:${host}`,
    /** List with an expiry: what bridges and standbys answered to a request to read their configuration again. */
    reload: (id: string) => `${root}reload:${id}`,
    /** String with an expiry: the last {@link MemoryMark} of a process. */
    memoryMark: (era: string) => `${root}memory-mark:${era}`,
    /** String with an expiry: until when Telegram wants no edits in a chat, epoch ms, and how long that was to be, in ms. */
    editBan: (chatId: string) => `${root}edit-ban:${chatId}`,
    /** String with an expiry: until when Telegram wants no messages in a chat, epoch ms, and for how long, as it was asked. */
    sendBan: (chatId: string) => `${root}send-ban:${chatId}`,
    /** String with an expiry: the session whose final message is tried first after that. */
    firstSend: (chatId: string) => `${root}first-send:${chatId}`,
    /** String with an expiry: the {@link Presence} of the bridge that fetches a bot's messages. */
    poller: (botId: string) => `${root}poller:${botId}`,
  };
}
