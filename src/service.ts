/** Something that lives as long as the process wants it to. Both calls are idempotent. */
export interface Service {
  readonly name: string;
  start(): Promise<void>;
  /** Resolves when the service has really stopped. */
  stop(): Promise<void>;
}
