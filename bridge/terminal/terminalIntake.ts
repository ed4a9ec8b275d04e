/** Reads what a person types, line by line: each line a message of the project, or a command. */
import type { Project } from '../../src/config/settings.js';
import { describeError } from '../../src/errors.js';
import { ulid } from '../../src/ids.js';
import type { Logger } from '../../src/log/logger.js';
import type { Service } from '../../src/service.js';
import { isStoreTrouble } from '../../src/storeTrouble.js';
import { type Clock, SECOND } from '../../src/time.js';
import { TERMINAL_CHAT } from '../chat/chatRouter.js';
import { type MessageAcceptor, type Order, STORE_AWAY_TEXT } from '../intake/acceptMessage.js';
import type { Commands } from '../intake/commands/commands.js';
import { parseCommand } from '../intake/commands/commandText.js';
import { printTo, type TerminalWriter } from './terminalText.js';

interface TerminalIntakeParts {
  /** Ends when the terminal is closed; lines after a stop are not read. */
  readonly lines: AsyncIterable<string>;
  readonly writer: TerminalWriter;
  readonly project: Project;
  readonly acceptor: MessageAcceptor;
  readonly commands: Commands;
  readonly clock: Clock;
  readonly logger: Logger;
}

const OPERATOR = { id: 'operator', name: 'the operator' };
const STORE_RETRY_MS = 2 * SECOND;

export class TerminalIntake implements Service {
  readonly name = 'terminal intake';
  readonly #parts: TerminalIntakeParts;
  readonly #stopping = new AbortController();
  #loop: Promise<void> | null = null;

  constructor(parts: TerminalIntakeParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    if (this.#loop !== null) return;
    const { writer, project } = this.#parts;
    printTo(writer, `Ready: type a message for ${project.key}. \`watchkeeper enqueue\` gives work to any project.\n`);
    this.#loop = this.#run();
  }

  /** The current line is handled; a reader that waits for the next one is left to its opener. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const stopped = new Promise<null>((resolve) => {
      signal.addEventListener('abort', () => resolve(null), { once: true });
    });
    const lines = this.#parts.lines[Symbol.asyncIterator]();
    while (!signal.aborted) {
      const next = await Promise.race([lines.next(), stopped]).catch((err: unknown) => {
        this.#parts.logger.warn({ err }, 'the terminal can no longer be read');
        return null;
      });
      if (next === null || next.done === true) return;
      if (next.value.trim() !== '') await this.#handle(next.value.trim());
    }
  }

  /** Tries until the store answers, or the bridge stops: a typed line exists nowhere else. */
  async #handle(line: string): Promise<void> {
    const { clock, project, writer } = this.#parts;
    const order = { id: ulid(clock), projectKey: project.key, chatId: null, sender: OPERATOR, text: line };
    let isSaid = false;
    while (!this.#stopping.signal.aborted) {
      try {
        return printTo(writer, `${await this.#answer(order)}\n`);
      } catch (error) {
        if (!isStoreTrouble(error)) return printTo(writer, `Not accepted: ${describeError(error)}\n`);
        if (!isSaid) printTo(writer, `${STORE_AWAY_TEXT}\n`);
        isSaid = true;
        await clock.sleep(STORE_RETRY_MS, this.#stopping.signal);
      }
    }
    printTo(writer, `Not accepted, because the bridge stops: ${line}\n`);
  }

  async #answer(order: Order): Promise<string> {
    const { project, commands, acceptor } = this.#parts;
    const at = { project, directory: project.directory, chatId: TERMINAL_CHAT, threadId: null, replyTo: null };
    const typed = parseCommand(order.text, null);
    const command = typed === 'for_another' ? null : (typed ?? (await commands.stopIn(order.text, at, true)));
    const asked = command?.name === 'ask' ? command.argument : '';
    if (command !== null && asked === '') return commands.answer(command, at);
    const { session } = await acceptor.acceptOrder(asked === '' ? order : { ...order, text: asked });
    return `[${session.session_id}] accepted`;
  }
}
