/** What a model says, whatever the API that it says it through. */
export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly name: string; readonly input: object | string };

export function say(text: string): Block {
  return { type: 'text', text };
}

/** @param input a text for tools of the Responses API that take any text */
export function call(name: string, input: object | string): Block {
  return { type: 'tool_use', name, input };
}

/** What stands in the conversation that a model is asked to go on with. */
export interface Asked {
  /** What people and the program wrote, oldest first. */
  readonly texts: readonly string[];
  /** How many calls have their result. */
  readonly results: number;
  /** Without tools a program asks beside the conversation, such as for its title. */
  readonly hasTools?: boolean;
}
