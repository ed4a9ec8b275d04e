/** The tools as a client lists them. The build writes them into a file, because their schemas take longer to make than a client's start. */
import * as z from 'zod/mini';
import { TOOLS, type Tool } from './tools.js';

/** What `tools/list` shows of a tool. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object'; readonly [key: string]: unknown };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: false;
    readonly openWorldHint: false;
  };
  readonly _meta?: Readonly<Record<string, unknown>>;
}

const NULL = 'null';
const SESSION = z.optional(z.string().check(z.minLength(1)));

/** @public for the build @returns the tools in the order of their table */
export function listTools(): ListedTool[] {
  return TOOLS.map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: schemaOf(tool),
    annotations: { readOnlyHint: tool.isReadOnly === true, destructiveHint: false, openWorldHint: false },
    ...(tool.isLoadedAtOnce === true && { _meta: { 'anthropic/alwaysLoad': true } }),
  }));
}

function schemaOf({ verb, about = {} }: Tool): ListedTool['inputSchema'] {
  const fields = Object.entries(verb.fields).map(([name, { schema }]) => [name, schema] as const);
  const shape = { ...Object.fromEntries(fields), session_id: SESSION };
  const { $schema: _, properties = {}, ...rest } = z.toJSONSchema(z.strictObject(shape), { io: 'input' });
  const described = Object.entries(properties).map(([name, property]) => {
    const description = about[name];
    return [name, { ...Object(withoutNeedless(property)), ...(description !== undefined && { description }) }];
  });
  return { ...rest, type: 'object', properties: Object.fromEntries(described) };
}

/**
 * Leaves out what a model knows anyway, because it costs room: the bounds of exact numbers, that what is left out is empty, and that
 * null leaves it out, too. Some programs refuse a list of types, which null would need.
 */
function withoutNeedless(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNeedless);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { anyOf, type, ...rest } = schema as { readonly anyOf?: readonly unknown[]; readonly type?: unknown };
  const types = Array.isArray(type) ? type.filter((one) => one !== NULL) : [type];
  const options = anyOf?.flatMap((option) => {
    const plain: { readonly type?: unknown; readonly anyOf?: readonly unknown[] } = Object(withoutNeedless(option));
    return plain.type === NULL ? [] : (plain.anyOf ?? [plain]);
  });
  const [only] = options ?? [];
  return {
    ...(type !== undefined && { type: types.length === 1 ? types[0] : types }),
    ...(options !== undefined && (options.length === 1 ? Object(only) : { anyOf: options })),
    ...Object.fromEntries(
      Object.entries(rest)
        .filter(([name, value]) => !isNeedless(name, value))
        .map(([name, value]) => [name, withoutNeedless(value)]),
    ),
  };
}

function isNeedless(name: string, value: unknown): boolean {
  if (name === 'maximum' || name === 'minimum') return Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
  return name === 'default' && (value === false || value === 0 || (Array.isArray(value) && value.length === 0));
}
