/** What the server refuses, as it says it. */
export interface ErrorParameters {
  readonly retry_after?: number;
  readonly migrate_to_chat_id?: number;
}

export class ApiError extends Error {
  readonly code: number;
  readonly parameters: ErrorParameters | undefined;

  constructor(code: number, description: string, parameters?: ErrorParameters) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

/** @returns a 400 with the server's own prefix */
export function badRequest(what: string): ApiError {
  return new ApiError(400, `Bad Request: ${what}`);
}
