/** The options of a project's agent `command`. */
import * as z from 'zod';

export const CONVERSATION = '{conversation}';
export const PROMPT = '{prompt}';

export const OUTPUTS = ['text', 'json_lines', 'codex', 'gemini'] as const;
export type Output = (typeof OUTPUTS)[number];

const words = z
  .array(z.string(), 'must be a list: the program and its arguments, each by itself')
  .refine(([program]) => program !== undefined && program !== '', 'must begin with a program');

export const commandOptions = z
  .strictObject({
    /** For a new conversation. If it contains `{conversation}`, the id is chosen here; otherwise the program may report one. */
    command: words,
    /** To continue a conversation; without it every message begins a new one. */
    resume: words
      .refine((list) => list.some((word) => word.includes(CONVERSATION)), `must have ${CONVERSATION} in it`)
      .optional(),
    prompt: z.enum(['stdin', 'argument'], 'must be "stdin" or "argument"').default('stdin'),
    /** For the doctor: exits with 0 if the program can begin, which usually means that it is logged in. */
    check: words.optional(),
    output: z.enum(OUTPUTS, `must be one of ${OUTPUTS.join(', ')}`).default('text'),
  })
  .refine(
    ({ prompt, command, resume = [] }) =>
      prompt === 'argument' || ![...command, ...resume].some((word) => word.includes(PROMPT)),
    { path: ['prompt'], message: `must be "argument" where ${PROMPT} stands in the command` },
  );
export type CommandOptions = z.infer<typeof commandOptions>;
