/** The schema of `watchkeeper.config.json`. */

import * as z from 'zod';
import { memorySettings } from './memorySettings.js';
import { pollingAdditions } from './polling.js';
import { RULE_ACTIONS, RULES, thresholds } from './rules.js';
import { cronPattern, timeZone } from './schedules.js';
import { ISOLATIONS, PUBLIC_DETAILS, TRIGGERS, timings } from './settings.js';

const NO_ID = 'must be a Telegram id, such as 123456789 or -5294327191';
const telegramId = z.union([z.int(), z.string().regex(/^-?\d{1,19}$/, NO_ID)], NO_ID).transform(String);
const directory = z.string('must be the path of a directory').min(1, 'must be the path of a directory');

const trigger = z.enum(TRIGGERS, 'must be "addressed" or "any"');
const chat = z.union(
  [
    telegramId.transform((id) => ({ id, topic: undefined, directory: undefined, trigger: undefined })),
    z.strictObject({
      id: telegramId,
      topic: telegramId.optional(),
      directory: directory.optional(),
      trigger: trigger.optional(),
    }),
  ],
  'must be a chat id, or {"id", "topic"?, "directory"?, "trigger"?}',
);

const action = z.enum(RULE_ACTIONS, `must be one of ${RULE_ACTIONS.join(', ')}`);
/** A run that has ended must be handled, or it would hold its lane for ever: these rules cannot be turned off. */
const actionAtTheEnd = action.exclude(['off'], 'must be one of revive, report: without it a lane would stay held');
const actions = z.strictObject({
  ...(Object.fromEntries(RULES.map((rule) => [rule, action.exactOptional()])) as Record<
    (typeof RULES)[number],
    z.ZodExactOptional<typeof action>
  >),
  crash: actionAtTheEnd.exactOptional(),
  orphan: actionAtTheEnd.exactOptional(),
});

const AGENT = 'must name an agent, such as "scripted"';
const agent = z.looseObject({ kind: z.string(AGENT).min(1, AGENT).default('scripted') });

/** Like WATCHKEEPER_HOST. */
const HOST = 'must be the name of a host, as in its WATCHKEEPER_HOST';

const READABLE = 'must be a list of paths that begin with "~/" or "/", such as ["~/.nvm"]';

/** GitHub's own rules; a name is never `.` or `..`, which mean another resource in a URL. */
const REPOSITORY = /^[A-Za-z\d](?:[\w-]{0,98}[A-Za-z\d])?\/(?!\.{1,2}$)[\w.-]{1,100}$/;

export const projectEntry = z.strictObject({
  directory,
  chats: z.array(chat).default([]),
  senders: z.array(telegramId).default([]),
  trigger: trigger.default('addressed'),
  repository: z
    .string('must be a repository, as "owner/name"')
    .regex(REPOSITORY, 'must be a repository, as "owner/name"')
    .optional(),
  publicDetail: z.enum(PUBLIC_DETAILS, 'must be "names_only" or "full"').default('names_only'),
  host: z
    .string(HOST)
    .regex(/^[\w.-]{1,80}$/, HOST)
    .optional(),
  isolation: z.enum(ISOLATIONS, 'must be "bubblewrap" or "none"').optional(),
  readable: z.array(z.string(READABLE).regex(/^(?:~\/|\/)./, READABLE), READABLE).default([]),
  reviveAfterHostLoss: z.boolean('must be true or false').default(true),
  agent: agent.default({ kind: 'scripted' }),
  thresholds: thresholds.optional(),
  actions: actions.optional(),
});

export const projectFile = z.strictObject({
  projects: z.record(z.string(), projectEntry),
  thresholds: thresholds.optional(),
  actions: actions.optional(),
  polling: pollingAdditions.optional(),
  timings: timings.optional(),
  memory: z.optional(memorySettings()),
  daydream: z
    .strictObject({ cron: cronPattern('in its time zone').optional(), timeZone: timeZone.optional() })
    .optional(),
});
export type ProjectFile = z.infer<typeof projectFile>;
export type ProjectEntry = z.infer<typeof projectEntry>;
