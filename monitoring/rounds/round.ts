/** Work that the acting watchdog does every now and then after a look at everything. */
export interface Round {
  /** Does the work if its time has come. Never throws: nothing waits for it, and the next round goes on. */
  runIfDue(): Promise<void>;
}
