/** Limits that GitHub has and `emulate` has not, worded as GitHub words them. */

/** Characters; GitHub stores an issue's or a comment's body in no more. */
const LONGEST_BODY = 65_536;
const LONGEST_TITLE = 256;

/** @returns the answer to a write that breaks a limit, null where it may pass */
export function breaksLimit(path: string, body: unknown): object | null {
  if (!/\/issues(\/|$)/.test(path) || typeof body !== 'object' || body === null) return null;
  const resource = path.includes('/comments') ? 'IssueComment' : 'Issue';
  if ('body' in body && typeof body.body === 'string' && body.body.length > LONGEST_BODY) {
    return tooLong(resource, 'body', LONGEST_BODY);
  }
  if ('title' in body && typeof body.title === 'string' && body.title.length > LONGEST_TITLE) {
    return tooLong(resource, 'title', LONGEST_TITLE);
  }
  return null;
}

function tooLong(resource: string, field: string, most: number): object {
  return {
    message: 'Validation Failed',
    errors: [{ resource, code: 'custom', field, message: `${field} is too long (maximum is ${most} characters)` }],
    documentation_url: 'https://docs.github.com/rest/issues/issues',
    status: '422',
  };
}
