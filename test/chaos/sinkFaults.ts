/** What goes wrong at the chat and at the issue server, as the peers know it. */
import type { BridgeScene } from '../e2e/bridgeScene.js';
import type { InjectedFault } from '../peers/faultPlan.js';
import { secondaryLimit } from '../peers/github/faults.js';
import type { MethodName } from '../peers/telegram/methods/allMethods.js';
import type { MethodParameters } from '../peers/telegram/parameters.js';
import type { SinkFault } from './plan.js';

/**
 * @param chats of the round: the messages of another one are left alone
 * @param bannedS how long Telegram wants to be left alone where it bans, in seconds
 * @returns the fault; it must be removed when the round is over
 */
export function injectSinkFault(
  { telegram, github }: BridgeScene,
  name: SinkFault,
  chats: readonly number[],
  bannedS: number,
): InjectedFault {
  const isOurs = (parameters: MethodParameters) => chats.includes(parameters.integer('chat_id') ?? 0);
  const isFinal = (parameters: MethodParameters) => /^(answer of|Sorry|Cancelled)/.test(parameters.text('text'));
  const answers = {
    method: 'sendMessage',
    match: (parameters: MethodParameters) => isOurs(parameters) && isFinal(parameters),
  } as const;
  const newIssue = { method: 'POST', path: /\/issues$/ } as const;
  switch (name) {
    case 'answer_lost':
      return telegram.inject({ kind: 'lost_answer', ...answers });
    case 'answer_reset':
      return telegram.inject({ kind: 'reset', ...answers });
    case 'answer_limited':
      return telegram.inject({ kind: 'too_many_requests', retryAfterS: 1, ...answers });
    case 'answer_502':
      return telegram.inject({ kind: 'server_error', status: 502, html: true, ...answers });
    case 'progress_refused':
      return telegram.inject({
        kind: 'bad_request',
        description: 'Bad Request: not now',
        method: 'sendMessage',
        match: (parameters) => isOurs(parameters) && !isFinal(parameters) && parameters.text('text') !== '…',
        times: Number.POSITIVE_INFINITY,
      });
    case 'poll_lost':
      return telegram.inject({ kind: 'lost_answer', method: 'getUpdates', times: 2 });
    case 'issue_lost':
      return github.inject({ kind: 'lost_answer', ...newIssue });
    case 'issue_502':
      return github.inject({ kind: 'status', status: 502, ...newIssue, times: 2 });
    case 'issue_limited':
      return github.inject({ ...secondaryLimit(1), ...newIssue });
    case 'issue_reset':
      return github.inject({ kind: 'reset', ...newIssue });
    case 'issue_hangs':
      return github.inject({ kind: 'hang', ...newIssue });
    case 'text_lost':
      return github.inject({ kind: 'lost_answer', method: 'PATCH', path: /\/issues\/\d+$/ });
    case 'answer_banned':
      return ban(telegram, { method: 'sendMessage', match: answers.match }, bannedS);
    case 'progress_banned': {
      const match = (parameters: MethodParameters) => isOurs(parameters) && !isFinal(parameters);
      return ban(telegram, { method: 'editMessageText', match }, bannedS);
    }
    default:
      return name satisfies never;
  }
}

/** Each chat is banned once, at its first such call. That nothing is tried within the ban is the judge's concern. */
function ban(
  telegram: BridgeScene['telegram'],
  call: { readonly method: MethodName; readonly match: (parameters: MethodParameters) => boolean },
  bannedS: number,
): InjectedFault {
  const until = new Map<number, number>();
  const match = (parameters: MethodParameters) => {
    if (!call.match(parameters)) return false;
    const chat = parameters.integer('chat_id') ?? 0;
    const over = until.get(chat) ?? performance.now() + 1_000 * bannedS;
    until.set(chat, over);
    return performance.now() < over;
  };
  const times = Number.POSITIVE_INFINITY;
  return telegram.inject({ kind: 'too_many_requests', retryAfterS: bannedS, method: call.method, match, times });
}
