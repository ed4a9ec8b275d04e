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
  const schema = z.toJSONSchema(z.strictObject({ ...Object.fromEntries(fields), session_id: SESSION }), {
    io: 'input',
    // What a model knows anyway costs it room: the bounds of exact numbers, and that what may be left out is empty then.
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      const { default: usual } = jsonSchema;
      if (usual === false || usual === 0 || (Array.isArray(usual) && usual.length === 0)) delete jsonSchema.default;
    },
  });
  const { $schema: _, properties = {}, ...rest } = schema;
  const described = Object.entries(properties).map(([name, property]) => [
    name,
    typeof property === 'object' && about[name] !== undefined ? { ...property, description: about[name] } : property,
  ]);
  return { ...rest, type: 'object', properties: Object.fromEntries(described) };
}
