/** The kept copy of a session's transcripts, as its worklog knows it. */
export interface Kept {
  /** UTC epoch milliseconds, as all times here. */
  readonly at: number;
  /** The copy in the session's folder. Null if there is none. */
  readonly copy: { readonly bytes: number; readonly digest: string } | null;
  /** No run of the session could write more when it was made. */
  readonly complete: boolean;
  /** As the transcripts show it; the worklog may say less. */
  readonly last_activity: number | null;
  /** The copy was removed because of its age. */
  readonly removed: boolean;
  /** Why the last attempt failed. Null if it did not. */
  readonly failure: string | null;
}

export const NOTHING_KEPT: Omit<Kept, 'at'> = {
  copy: null,
  complete: false,
  last_activity: null,
  removed: false,
  failure: null,
};
