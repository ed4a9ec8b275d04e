import * as z from 'zod';

/** The calls that only check whether something has happened yet. */
export interface PollingList {
  /** Tools that poll whatever their input is. */
  readonly tools: readonly string[];
  /** Tools that poll if the text they send is empty. */
  readonly tools_without_text: readonly string[];
  /** Shell commands that poll: their beginnings, whole words. */
  readonly commands: readonly string[];
}

/** Judgement rules, 15. */
export const DEFAULT_POLLING: PollingList = {
  tools: ['wait', 'wait_agent', 'TaskOutput', 'BashOutput', 'read_bash'],
  tools_without_text: ['write_stdin'],
  commands: ['sleep', 'gh run view', 'gh run watch', 'gh run list', 'gh pr checks'],
};

const WORDS = 'must be a list of texts that are not empty';
const words = z.array(z.string(WORDS).trim().min(1, WORDS), WORDS);

export const pollingAdditions = z.strictObject({
  tools: words.optional(),
  toolsWithoutText: words.optional(),
  commands: words.optional(),
});

export function pollingWith(added: z.infer<typeof pollingAdditions> = {}): PollingList {
  const { tools, tools_without_text: withoutText, commands } = DEFAULT_POLLING;
  return {
    tools: [...tools, ...(added.tools ?? [])],
    tools_without_text: [...withoutText, ...(added.toolsWithoutText ?? [])],
    commands: [...commands, ...(added.commands ?? [])],
  };
}
