/**
 * A refused request is tried again after a long pause, because only a person can change the reason. A person who has just mended a
 * token restarts the process, or has it read its configuration again: then each is tried once without that pause.
 */
export class RefusedTries {
  readonly #tried = new Set<string>();

  /** @returns whether this process has not tried it yet, since its start or since {@link forget} */
  isNew(incidentId: string): boolean {
    return !this.#tried.has(incidentId);
  }

  note(incidentId: string): void {
    this.#tried.add(incidentId);
  }

  forget(): void {
    this.#tried.clear();
  }

  forgetAllBut(incidentIds: ReadonlySet<string>): void {
    for (const id of this.#tried) if (!incidentIds.has(id)) this.#tried.delete(id);
  }
}
