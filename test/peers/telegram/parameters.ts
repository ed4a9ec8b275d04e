/**
 * A method's parameters, however they came: query, JSON, form or multipart. Outside JSON everything is text, and nested
 * objects are JSON inside that text; both readings end here.
 */
import { badRequest } from './apiError.js';
import { parseMultipart, type UploadedFile } from './multipart.js';

export class MethodParameters {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined && this.#values[name] !== null;
  }

  /** @returns the text, empty where the parameter is missing */
  text(name: string): string {
    const value = this.#values[name];
    if (typeof value === 'string') return value;
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  }

  /** @returns the number, null where it is missing or no integer */
  integer(name: string): number | null {
    return asInteger(this.#values[name]);
  }

  flag(name: string): boolean {
    const value = this.text(name).toLowerCase();
    return value === 'true' || value === '1' || value === 'yes';
  }

  /** @throws ApiError where it is neither an object nor the JSON of one */
  object(name: string): Record<string, unknown> | null {
    const value = this.#json(name);
    if (value === null) return null;
    if (!isRecord(value)) throw badRequest(`object expected as ${name}`);
    return value;
  }

  /** @throws ApiError where it is neither a list nor the JSON of one */
  list(name: string): unknown[] | null {
    const value = this.#json(name);
    if (value === null) return null;
    if (!Array.isArray(value)) throw badRequest(`expected an Array as ${name}`);
    return value;
  }

  /** @returns the upload that stands in the parameter itself or that it names by `attach://` */
  file(name: string): UploadedFile | null {
    const value = this.#values[name];
    const referred = typeof value === 'string' && value.startsWith('attach://') ? this.#values[value.slice(9)] : value;
    return isUploadedFile(referred) ? referred : null;
  }

  /** @returns what a log may hold: uploads by name and size */
  forLog(): Record<string, unknown> {
    const entries = Object.entries(this.#values).map(([name, value]) => [
      name,
      isUploadedFile(value) ? { fileName: value.fileName, size: value.data.length } : value,
    ]);
    return Object.fromEntries(entries);
  }

  #json(name: string): unknown {
    const value = this.#values[name];
    if (value === undefined || value === null || value === '') return null;
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value);
    } catch {
      throw badRequest(`can't parse ${name} JSON object`);
    }
  }
}

/** @throws ApiError where the body is not what its content type says */
export function parseParameters(query: URLSearchParams, contentType: string, body: Buffer): MethodParameters {
  return new MethodParameters({ ...Object.fromEntries(query), ...parseBody(contentType, body) });
}

function parseBody(contentType: string, body: Buffer): Record<string, unknown> {
  if (body.length === 0) return {};
  if (contentType.startsWith('multipart/form-data')) return parseMultipart(body, contentType);
  if (contentType.startsWith('application/json')) return parseJsonBody(body);
  return Object.fromEntries(new URLSearchParams(body.toString()));
}

function parseJsonBody(body: Buffer): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString());
  } catch {
    throw badRequest("can't parse JSON in the request body");
  }
  if (!isRecord(parsed)) throw badRequest('the request body must be a JSON object');
  return parsed;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @returns the integer that `value` is or spells, else null */
export function asInteger(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

function isUploadedFile(value: unknown): value is UploadedFile {
  return isRecord(value) && Buffer.isBuffer(value.data) && typeof value.fileName === 'string';
}
