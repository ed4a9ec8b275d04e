/**
 * Answers what clients ask before the first call, which needs no library: some agents start without the tools of a server that is late.
 * Only messages of exactly the known form are answered, as the library would answer them. At the first other message everything is handed
 * over to the library, which then takes the message that settled the revision once more.
 */

import type { ListedTool } from './listing.js';
import {
  isCapabilities,
  isClient,
  isPlainMeta,
  isRecord,
  type JsonRecord,
  MODERN,
  withoutEnvelope,
} from './openingForms.js';

export const NAME = 'watchkeeper';
/** For the model. At most 600 characters: some programs show them above every tool. */
export const INSTRUCTIONS =
  'Memory of this work: it survives crashes, /clear and other agents. Begin with get_session_status. For work in several phases: ' +
  'create_session, then transition_phase when a phase starts, completes or fails, at that moment; after a break resume_session, ' +
  'at the end archive_session. Keep what the next agent must know with add_note. Without `session_id` the session of your ' +
  'conversation or directory is meant. A refusal has a `code` and says what is possible; nothing of a refused call is stored.';
export const CAPABILITIES = { tools: {} } as const;

/** Revisions that begin with `initialize`. */
const WITH_HANDSHAKE = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
const MEMBERS = ['jsonrpc', 'id', 'method', 'params'];

/** The id of the request that the library takes once more: its client has the answer already. */
export const ANSWERED = 'watchkeeper: answered';

interface Message {
  /** Missing in a notification. */
  readonly id?: string | number;
  readonly method: string;
  readonly params: JsonRecord;
}

export class Opening {
  readonly #version: string;
  readonly #tools: readonly ListedTool[];
  #kind: 'unsettled' | 'handshake' | 'modern' = 'unsettled';
  #isInitialized = false;
  readonly #settled: Buffer[] = [];

  constructor({ version, tools }: { readonly version: string; readonly tools: readonly ListedTool[] }) {
    this.#version = version;
    this.#tools = tools;
  }

  /** The lines that settled the revision: the library must take them first. Their request is called {@link ANSWERED} there. */
  get settled(): readonly Buffer[] {
    return this.#settled;
  }

  /**
   * @param line with its line end
   * @returns the answer with its line end; empty if the message wants none; null if the library has to take over, this line included
   */
  answer(line: Buffer): string | null {
    const message = messageIn(line);
    if (message === null) return null;
    const { id, params } = message;
    if (id === undefined) return this.#isExpected(message, line) ? '' : null;
    const result = '_meta' in params && MODERN.isClaimed(params) ? this.#modern(message) : this.#older(message);
    return result === null ? null : `${JSON.stringify({ result, jsonrpc: '2.0', id })}\n`;
  }

  /** The one notification that clients send before a call. */
  #isExpected({ method, params }: Message, line: Buffer): boolean {
    const isExpected =
      this.#kind === 'handshake' && method === 'notifications/initialized' && Object.keys(params).length === 0;
    if (isExpected && !this.#isInitialized) this.#settled.push(line);
    this.#isInitialized ||= isExpected;
    return isExpected;
  }

  /** @returns the result of a request; null if it is not known here */
  #older({ method, params }: Message): object | null {
    if ('_meta' in params && !isPlainMeta(params._meta)) return null;
    const { _meta: _, ...rest } = params;
    const isEmpty = Object.keys(rest).length === 0;
    if (this.#kind === 'unsettled' && method === 'initialize') return this.#initialize(params, rest);
    if (this.#kind !== 'handshake' || !isEmpty) return null;
    if (method === 'ping') return {};
    return method === 'tools/list' ? { tools: this.#tools } : null;
  }

  #initialize(params: JsonRecord, own: JsonRecord): object | null {
    const { protocolVersion, capabilities, clientInfo, ...others } = own;
    const isKnown = typeof protocolVersion === 'string' && WITH_HANDSHAKE.includes(protocolVersion);
    if (!isKnown || !isCapabilities(capabilities) || !isClient(clientInfo) || Object.keys(others).length > 0)
      return null;
    this.#settle('handshake', { method: 'initialize', params });
    const serverInfo = { name: NAME, version: this.#version };
    return { protocolVersion, capabilities: CAPABILITIES, serverInfo, instructions: INSTRUCTIONS };
  }

  #modern({ method, params }: Message): object | null {
    const rest = withoutEnvelope(params);
    if (this.#kind === 'handshake' || rest === null || Object.keys(rest).length > 0) return null;
    const common = {
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: NAME, version: this.#version } },
    };
    // A client may still begin with a handshake after it.
    if (method === 'server/discover')
      return {
        supportedVersions: [MODERN.revision],
        capabilities: CAPABILITIES,
        instructions: INSTRUCTIONS,
        ...common,
      };
    if (method !== 'tools/list') return null;
    if (this.#kind === 'unsettled') this.#settle('modern', { method, params });
    return { tools: this.#tools, ...common };
  }

  #settle(kind: 'handshake' | 'modern', { method, params }: Message): void {
    this.#kind = kind;
    this.#settled.push(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: ANSWERED, method, params })}\n`));
  }
}

/** @returns null for all but a request or notification of the plainest form */
function messageIn(line: Buffer): Message | null {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    if (!isRecord(value) || !Object.keys(value).every((name) => MEMBERS.includes(name))) return null;
    const { jsonrpc, id, method, params = {} } = value;
    if (jsonrpc !== '2.0' || typeof method !== 'string' || !isRecord(params)) return null;
    if (!('id' in value)) return { method, params };
    return typeof id === 'string' || Number.isSafeInteger(id) ? { id: id as string | number, method, params } : null;
  } catch {
    return null;
  }
}
