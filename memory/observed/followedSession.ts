/**
 * What was observed of a session, for a process that stays: the transcripts of its conversations are followed, so that a look costs
 * what was written since the last one. What it returns is what {@link observe} would.
 */
import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { seenFile } from '../../src/files/seenFile.js';
import { batchesOf } from '../../src/journal/reader.js';
import type { JournalRecord } from '../../src/journal/record.js';
import type { Redact } from '../../src/log/redact.js';
import type { Clock } from '../../src/time.js';
import { AS_IT_IS } from '../../src/transcripts/draft/trimmer.js';
import { TranscriptFollower } from '../../src/transcripts/transcriptFollower.js';
import { journalIn } from '../home/places.js';
import { Observed } from './observed.js';
import { type ProgramFolders, transcriptOf } from './programFolders.js';
import { isIn, recordsOf, type Share, sharesOf } from './shares.js';
import { nameFilesIn, type Observation, type ObservedSession, observeKept } from './sources.js';
import { observedTrimmer } from './trimmer.js';

const NONE: readonly JournalRecord[] = [];

export interface FollowedSessionOptions {
  readonly folders: ProgramFolders;
  readonly redact: Redact;
  /** Its time is about that of the file system. */
  readonly clock: Pick<Clock, 'now'>;
}

export class FollowedSession {
  readonly #options: FollowedSessionOptions;
  /** What the shares were found by. */
  #foundBy = '';
  #shares: FollowedShare[] = [];

  constructor(options: FollowedSessionOptions) {
    this.#options = options;
  }

  /**
   * Reads on.
   * @param session its worklog as it is now
   * @returns its fold is valid until the next call
   */
  async readOn(session: ObservedSession): Promise<Observation> {
    let isVoid = this.#find(session);
    if (this.#shares.every(({ follower }) => follower === null)) return observeKept(session);
    let shown = new Observed();
    for (const share of this.#shares) {
      // A share is folded into those before it.
      if (isVoid) share.begin(shown);
      isVoid = (await share.readOn()) || isVoid;
      shown = share.shown;
    }
    return shown.lines > 0 ? { observed: 'transcript', fold: shown } : observeKept(session);
  }

  /** @returns whether the shares are others than before */
  #find(session: ObservedSession): boolean {
    const foundBy = this.#findingOf(session);
    if (foundBy === this.#foundBy) return false;
    const { log, folder, workspace } = session;
    const shares = sharesOf(log, journalIn(folder), this.#options.folders);
    this.#shares = shares.map((share) => new FollowedShare(share, workspace, this.#options));
    this.#foundBy = this.#findingOf(session);
    return true;
  }

  /** Whatever may change the list of shares. What is followed is not looked for again as long as it is there. */
  #findingOf({ log, folder, workspace }: ObservedSession): string {
    const copy = seenFile(journalIn(folder));
    const places = log.conversations.map((conversation) => {
      const share = this.#shares.find((each) => isDeepStrictEqual(each.conversation, conversation));
      if (share?.follower && existsSync(share.follower.path)) return share.follower.path;
      const path = transcriptOf(conversation, this.#options.folders);
      return path === null ? null : [path, seenFile(path)?.size];
    });
    return JSON.stringify([log.conversations, log.end?.at, workspace?.root, copy?.size, copy?.mtimeMs, places]);
  }
}

/** A share of a conversation, folded into those before it. */
class FollowedShare {
  readonly conversation: Share['conversation'];
  /** Null: there is only a kept copy. */
  readonly follower: TranscriptFollower | null;
  readonly #share: Share;
  readonly #workspace: ObservedSession['workspace'];
  readonly #isShared: (line: JournalRecord) => boolean;
  /** Of the shares before. */
  #start = new Observed();
  #fold = new Observed();
  #presumed: readonly JournalRecord[] = NONE;
  #isRead = false;
  /** Null: it has to be made anew. */
  #shown: Observed | null = null;

  constructor(share: Share, workspace: ObservedSession['workspace'], { clock, redact }: FollowedSessionOptions) {
    const { conversation, transcript } = share;
    this.conversation = conversation;
    this.#share = share;
    this.#workspace = workspace;
    this.#isShared = isIn(share);
    this.follower =
      transcript === null ? null : new TranscriptFollower(transcript.path, { clock, trimmer: observedTrimmer(redact) });
  }

  /** With what is only presumed. */
  get shown(): Observed {
    if (this.#shown === null) {
      this.#shown = this.#fold.copy();
      this.#take(this.#shown, this.#presumed);
    }
    return this.#shown;
  }

  /** @param start of the shares before; it must not change any more */
  begin(start: Observed): void {
    this.#start = start;
    this.follower?.rewind();
    this.#startOver();
  }

  /** @returns whether anything is new */
  async readOn(): Promise<boolean> {
    if (this.follower === null) return this.#readCopy();
    let isNew = false;
    for await (const { records, restarted } of batchesOf(this.follower)) {
      if (restarted) this.#startOver();
      this.#take(this.#fold, records);
      isNew ||= restarted || records.length > 0;
    }
    const presumed = this.follower.presumed();
    isNew ||= presumed !== this.#presumed;
    this.#presumed = presumed;
    if (isNew) this.#shown = null;
    return isNew;
  }

  async #readCopy(): Promise<boolean> {
    if (this.#isRead) return false;
    for await (const { records } of recordsOf(this.#share, AS_IT_IS)) this.#take(this.#fold, records);
    this.#isRead = true;
    return true;
  }

  #startOver(): void {
    this.#fold = this.#start.copy();
    this.#isRead = false;
    this.#shown = null;
    nameFilesIn(this.#fold, this.#workspace, this.conversation.cwd);
  }

  #take(fold: Observed, lines: readonly JournalRecord[]): void {
    for (const line of lines) if (this.#isShared(line)) fold.take(line);
  }
}
