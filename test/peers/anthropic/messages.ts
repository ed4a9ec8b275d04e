/** What a client asks of the Messages API, and reading it (https://docs.anthropic.com/en/api/messages). */

export interface ContentBlock {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
  readonly id?: string;
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
  readonly content?: string | readonly ContentBlock[];
}

export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly ContentBlock[];
}

export interface MessagesRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly name: string }[];
}

/** One request to `/v1/messages`, as the peer's log shows it. */
export interface SeenRequest {
  /** UTC epoch milliseconds. */
  readonly at: number;
  readonly request: MessagesRequest;
  /** The key or token that it came with. */
  readonly credential: string;
  /** How it was answered: `answered`, `pending`, or the kind of the fault. */
  outcome: string;
  /** What was counted for it; 0 until it is answered. */
  tokens: { readonly input: number; readonly output: number };
  /** The client has gone away, or the answer is complete. */
  isOver: boolean;
}

/** @returns all that people and the program wrote, without the tools' results, oldest first */
export function userTexts({ messages }: MessagesRequest): string[] {
  return messages.flatMap(({ role, content }) => {
    if (role !== 'user') return [];
    if (typeof content === 'string') return [content];
    return content.flatMap((block) => (block.type === 'text' && block.text !== undefined ? [block.text] : []));
  });
}

/** @returns the results of every call of this conversation, oldest first */
export function toolResults({ messages }: MessagesRequest): ContentBlock[] {
  return messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result'),
  );
}

/** @returns the results since the last message that was not a result */
export function newToolResults({ messages }: MessagesRequest): ContentBlock[] {
  const last = messages.findLast(({ role }) => role === 'user');
  return last === undefined || typeof last.content === 'string'
    ? []
    : last.content.filter(({ type }) => type === 'tool_result');
}

/** @returns a result's text */
export function resultText({ content }: ContentBlock): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map(({ text = '' }) => text).join('\n');
}
