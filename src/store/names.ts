/** Names that several records share. */
/** @returns a conversation key for a place: a project's chat, topic, and how often it was begun anew */
export function conversationKey(projectKey: string, chatId: string, threadId: string | null, epoch: number): string {
  return `${projectKey}/${chatId}/${threadId ?? ''}/${epoch}`;
}

/** @returns the lane of a directory on a host; one run at a time works in it */
export function laneOf(host: string, realDirectory: string): string {
  return `${host}:${realDirectory}`;
}

/** @returns the host part of a lane */
export function hostOfLane(lane: string): string {
  return lane.slice(0, lane.indexOf(':'));
}
