/** What a project may say of its agent `command`. */
import { z } from 'zod';

/** Stands for the conversation's id. */
export const CONVERSATION = '{conversation}';
/** Stands for the prompt, where it is an argument. */
export const PROMPT = '{prompt}';

/** How a program's output can be read. */
export const OUTPUTS = ['text', 'json_lines', 'codex', 'gemini'] as const;
export type Output = (typeof OUTPUTS)[number];

const words = z
  .array(z.string(), 'must be a list: the program and its arguments, each by itself')
  .refine(([program]) => program !== undefined && program !== '', 'must begin with a program');

export const commandOptions = z
  .strictObject({
    /** For a new conversation. With `{conversation}` in it, the id is chosen here, else the program may tell one. */
    command: words,
    /** For a conversation that goes on; without it every message begins a new one. */
    resume: words
      .refine((list) => list.some((word) => word.includes(CONVERSATION)), `must have ${CONVERSATION} in it`)
      .optional(),
    prompt: z.enum(['stdin', 'argument'], 'must be "stdin" or "argument"').default('stdin'),
    /** For the doctor: exits with 0 where the program can begin, which mostly means that it is logged in. */
    check: words.optional(),
    output: z.enum(OUTPUTS, `must be one of ${OUTPUTS.join(', ')}`).default('text'),
  })
  .refine(
    ({ prompt, command, resume = [] }) =>
      prompt === 'argument' || ![...command, ...resume].some((word) => word.includes(PROMPT)),
    { path: ['prompt'], message: `must be "argument" where ${PROMPT} stands in the command` },
  );
export type CommandOptions = z.infer<typeof commandOptions>;
