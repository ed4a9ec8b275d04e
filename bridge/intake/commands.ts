/** The commands that people type into a chat. They read and change the store directly, so they never queue behind work. */
import { CANCELLED_TEXT, waitText } from '../../monitoring/incident/texts/chatTexts.js';
import type { LiveTerminal } from '../../monitoring/terminals/liveTerminal.js';
import { counted } from '../../src/counted.js';
import { CorruptRecordError } from '../../src/errors.js';
import type { AgentSession } from '../../src/jobs/model.js';
import { describeDuration, SECOND } from '../../src/time.js';
import { excerptOf } from '../chat/excerpt.js';
import type { ChatFoundation } from '../chat/foundation.js';
import { COMMANDS, type Command, type CommandPlace, help, isLoneStop } from './commandText.js';
import { terminalNote } from './terminalNote.js';

const STOP: Command = { name: 'cancel', argument: '' };
const MOST_SHOWN = 20;
const MOST_NAMED = 5;
const MISSING_DIRECTORY = "Its project's folder is missing at the moment; it starts when the folder is back.";
const USED_BY_TOPIC = '; a message of another topic uses this directory';
const USED_BY_CHAT = "; another chat's message uses this directory";
const NOTHING_HERE = 'Nothing is running or waiting here.';
const KEPT_DIRECTORY =
  'Its directory is still held by an earlier run that could not be ended. My operator can see what is left of it with `watchkeeper doctor`.';

export class Commands {
  readonly #base: ChatFoundation;
  readonly #describeActivity: (sessionId: string) => string | null;
  readonly #isMissing: (directory: string) => boolean;
  readonly #terminals: { readonly live: readonly LiveTerminal[] };

  /**
   * @param describeActivity what a session's agent is doing now, in one line; null if unknown
   * @param isMissing whether a directory was missing recently
   * @param terminals agents that people run themselves
   */
  constructor(
    base: ChatFoundation,
    describeActivity: (sessionId: string) => string | null,
    isMissing: (directory: string) => boolean,
    terminals: { readonly live: readonly LiveTerminal[] },
  ) {
    this.#base = base;
    this.#describeActivity = describeActivity;
    this.#isMissing = isMissing;
    this.#terminals = terminals;
  }

  /**
   * @returns the answer, for the place where the command was typed; Markdown
   * @throws ioredis' error if Redis is unreachable
   */
  async answer({ name, argument }: Command, place: CommandPlace): Promise<string> {
    switch (name) {
      case 'start':
      case 'help':
        return help(place);
      case 'ask':
        return 'Write your request behind it, such as: /ask why does the build fail?';
      case 'status':
        return this.#status(place);
      case 'cancel':
        return this.#cancel(argument, place);
      case 'new':
        await this.#base.store.chatMemory.newConversation(place.project.key, place.chatId, place.threadId);
        return 'Your next message starts a new conversation. A reply to an older message still continues that conversation.';
      default:
        return `I don't know /${name}. I know ${COMMANDS.map(({ command }) => `/${command}`).join(', ')}.`;
    }
  }

  /**
   * @param isForUs whether the message is addressed to the bot; of other talk, only a stop for work that runs here is
   * @returns the command that a lone "stop" means here; null if the text is something else, or there is nothing to stop
   * @throws ioredis' error if Redis is unreachable
   */
  async stopIn(text: string, place: CommandPlace, isForUs: boolean): Promise<Command | null> {
    if (!isLoneStop(text)) return null;
    if (place.replyTo !== null) {
      const { project, chatId, replyTo, bot } = place;
      const known = await this.#base.store.records.sessionOfMessage(project.key, chatId, replyTo, bot);
      return known === null && !isForUs ? null : STOP;
    }
    const { running, waiting } = await this.#sessionsOf(place);
    return running.length > 0 || (isForUs && waiting.length > 0) ? STOP : null;
  }

  async #status(at: CommandPlace): Promise<string> {
    const now = this.#base.clock.now();
    const { running, waiting, elsewhere, hidden } = await this.#sessionsOf(at);
    const excerpt = (session: AgentSession) => excerptOf(session, this.#base.redact);
    const reported = await this.#onlyReported();
    const lines = running.map((session) => {
      const activity = inCode(this.#describeActivity(session.session_id)) ?? 'working';
      const since = describeDuration(Math.max(now - (session.started_at ?? now), SECOND));
      const which = session.attempt === 2 ? ', second attempt' : '';
      return `Running for ${since}${which}: ${excerpt(session)}\n${activity}${stateNote(session, reported)}`;
    });
    const positions = await this.#positions(waiting);
    const blocked = new Set((await this.#base.store.blockedLanes.all()).map(({ lane }) => lane));
    for (const session of waiting) {
      if (session.not_before !== null && session.not_before > now) {
        lines.push(`${waitText(session, session.not_before)}\n${excerpt(session)}`);
        continue;
      }
      const ahead = positions.get(session.session_id) ?? 0;
      const place = ahead === 0 ? `next in line${hidden.get(session.lane) ?? ''}` : `${ahead} before it`;
      const kept = blocked.has(session.lane) ? `\n${KEPT_DIRECTORY}` : '';
      const missing = this.#isMissing(session.working_directory) ? `\n${MISSING_DIRECTORY}` : '';
      const waited = describeDuration(Math.max(now - session.created_at, SECOND));
      lines.push(`Waiting for ${waited}, ${place}: ${excerpt(session)}${kept}${missing}`);
    }
    if (lines.length === 0) lines.push(NOTHING_HERE);
    const left = lines.length - MOST_SHOWN;
    const more = left > 0 ? [`… and ${left} more`] : [];
    const terminals = terminalNote(this.#terminals.live, at, now);
    return [...lines.slice(0, MOST_SHOWN), ...more, ...elsewhereNote(elsewhere), ...terminals].join('\n\n');
  }

  async #cancel(argument: string, place: CommandPlace): Promise<string> {
    if (argument !== '' && argument.toLowerCase() !== 'all') {
      return 'Reply to a message with /cancel to stop it, send /cancel alone to stop what is running here, or /cancel all to stop everything here.';
    }
    const { running, waiting, elsewhere } = await this.#sessionsOf(place);
    if (argument !== '') {
      const said = await this.#cancelEach([...waiting, ...running], NOTHING_HERE, true);
      return elsewhere === 0 ? said : `${said} ${elsewhere} in other topics of this chat: send /cancel all there.`;
    }
    if (place.replyTo !== null) {
      const { records } = this.#base.store;
      const id = await records.sessionOfMessage(place.project.key, place.chatId, place.replyTo, place.bot);
      const session = id === null ? null : await records.session(id);
      if (session === null) return 'I have no work for that message.';
      return this.#cancelEach([session], 'That work has already ended.');
    }
    const hint = waiting.length === 0 ? '' : ` ${waiting.length} waiting: /cancel all, or /cancel as a reply.`;
    return this.#cancelEach(running, `Nothing is running here.${hint}`);
  }

  /** @param isQuiet the answer to the command is the only one, so it names the messages: they may be those of other people */
  async #cancelEach(sessions: readonly AgentSession[], nothing: string, isQuiet = false): Promise<string> {
    let stopping = 0;
    const cancelled: AgentSession[] = [];
    for (const session of sessions) {
      const after = await this.#base.store.transitions.cancel(session.session_id, CANCELLED_TEXT, { isQuiet });
      if (after?.status === 'active') stopping += 1;
      if (after?.status === 'cancelled') cancelled.push(session);
    }
    const said: string[] = [];
    if (stopping === 1) said.push('Stopping the running work.');
    if (stopping > 1) said.push(`Stopping the ${stopping} runs here.`);
    if (cancelled.length > 0) {
      const which = isQuiet ? `: ${this.#named(cancelled)}` : '';
      said.push(`Cancelled ${counted(cancelled.length, 'waiting message')}${which}.`);
    }
    return said.join(' ') || nothing;
  }

  #named(sessions: readonly AgentSession[]): string {
    const shown = sessions.slice(0, MOST_NAMED).map((session) => excerptOf(session, this.#base.redact));
    const left = sessions.length - shown.length;
    return [...shown, ...(left > 0 ? [`and ${left} more`] : [])].join(', ');
  }

  /**
   * The unfinished sessions of a topic, or of a chat outside its topics, in the order of their arrival; `elsewhere` counts those
   * in the other topics. A person who writes in one topic need not be able to read the others: `hidden` only says of each lane
   * that a message of theirs, or of another chat, uses it.
   */
  async #sessionsOf({ project, chatId, threadId }: CommandPlace) {
    const { records } = this.#base.store;
    const ids = [...(await records.activeRevisions()).keys(), ...(await records.sessionIds('pending'))];
    const all = (await records.sessions(ids))
      .flatMap((session) => (session instanceof CorruptRecordError ? [] : [session]))
      .sort((one, other) => one.created_at - other.created_at);
    const ofChat = all.filter((session) => session.project_key === project.key && session.request.chat_id === chatId);
    const sessions = ofChat.filter((session) => session.request.thread_id === threadId);
    return {
      running: sessions.filter((session) => session.status === 'active'),
      waiting: sessions.filter((session) => session.status === 'pending'),
      elsewhere: ofChat.length - sessions.length,
      hidden: new Map(
        all
          .filter((session) => session.status === 'active' && !sessions.includes(session))
          .map(({ lane, request }) => [lane, request.chat_id === chatId ? USED_BY_TOPIC : USED_BY_CHAT]),
      ),
    };
  }

  /** @returns the incidents that end nothing: an issue reports them, and the agent is left alone */
  async #onlyReported(): Promise<ReadonlySet<string>> {
    const open = await this.#base.store.records.openIncidents();
    return new Set(open.filter(({ acting }) => !acting).map(({ incident_id }) => incident_id));
  }

  /** @returns how many sessions are ahead of each, in its lane */
  async #positions(sessions: readonly AgentSession[]): Promise<Map<string, number>> {
    const positions = new Map<string, number>();
    for (const lane of new Set(sessions.map((session) => session.lane))) {
      for (const [index, id] of (await this.#base.store.records.waitingIn(lane)).entries()) positions.set(id, index);
    }
    return positions;
  }
}

/** A tool's words: in code, so that no chat turns them into links or mentions. */
function inCode(activity: string | null): string | null {
  return activity === null ? null : `\`${activity.replaceAll('`', "'")}\``;
}

function elsewhereNote(count: number): string[] {
  if (count === 0) return [];
  return [`In other topics of this chat ${count === 1 ? '1 message is' : `${count} messages are`} running or waiting.`];
}

function stateNote({ stop, incident_id }: AgentSession, onlyReported: ReadonlySet<string>): string {
  if (stop !== null) return ' · being stopped';
  if (incident_id === null) return '';
  const what = onlyReported.has(incident_id) ? 'I only report it, and leave the agent alone' : 'I am handling it';
  return ` · it has a problem; ${what}`;
}
