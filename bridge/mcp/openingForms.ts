/** The forms of the messages before a call that are answered without the library. Whatever differs is left to the library. */

export type JsonRecord = Readonly<Record<string, unknown>>;

const RESERVED = 'io.modelcontextprotocol/';
const ENVELOPE = ['protocolVersion', 'clientInfo', 'clientCapabilities'].map((name) => `${RESERVED}${name}`);
const [VERSION = '', CLIENT = '', CLIENT_CAPABILITIES = ''] = ENVELOPE;
const REVISION = '2026-07-28';
const OF_CLIENT = ['name', 'title', 'version', 'websiteUrl', 'description'];
/** Capabilities whose members are of any form. */
const OPEN = ['experimental', 'extensions'];
/** Members of capabilities that are true or false. */
const SWITCHES = ['listChanged', 'applyDefaults'];

/** The revision without a handshake: each request names it in an envelope. */
export const MODERN = {
  revision: REVISION,
  isClaimed: ({ _meta }: JsonRecord): boolean => isRecord(_meta) && VERSION in _meta,
} as const;

/** @returns the parameters of a request of that revision; null if its envelope is not of the known form */
export function withoutEnvelope({ _meta, ...rest }: JsonRecord): JsonRecord | null {
  if (!isRecord(_meta)) return null;
  const others = Object.entries(_meta).filter(([name]) => !ENVELOPE.includes(name));
  const isKnown =
    _meta[VERSION] === REVISION &&
    isClient(_meta[CLIENT]) &&
    isCapabilities(_meta[CLIENT_CAPABILITIES]) &&
    isPlainMeta(Object.fromEntries(others));
  return isKnown ? rest : null;
}

/** Without anything that the protocol reserves. */
export function isPlainMeta(meta: unknown): boolean {
  if (!isRecord(meta) || Object.keys(meta).some((name) => name.includes(RESERVED))) return false;
  const { progressToken: token } = meta;
  return token === undefined || typeof token === 'string' || Number.isSafeInteger(token);
}

export function isClient(client: unknown): boolean {
  if (!isRecord(client) || typeof client.name !== 'string' || typeof client.version !== 'string') return false;
  return Object.entries(client).every(([name, value]) => OF_CLIENT.includes(name) && typeof value === 'string');
}

export function isCapabilities(capabilities: unknown): boolean {
  if (!isRecord(capabilities)) return false;
  return Object.entries(capabilities).every(([name, value]) =>
    OPEN.includes(name) ? isRecord(value) && Object.values(value).every(isRecord) : isOfRecords(value),
  );
}

function isOfRecords(value: unknown): boolean {
  if (!isRecord(value)) return false;
  return Object.entries(value).every(([name, member]) =>
    SWITCHES.includes(name) ? typeof member === 'boolean' : isOfRecords(member),
  );
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
