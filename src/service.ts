/** A part of a process that is started and stopped. Both calls are idempotent. */
export interface Service {
  readonly name: string;
  start(): Promise<void>;
  /** Resolves when the service has really stopped. */
  stop(): Promise<void>;
}
