/** `mcp`: the tools of session memory, from a shell. The server of the same name is a program of its own (`main.ts`). */
import { parseJsonText } from '../../src/config/jsonText.js';
import { UsageError } from '../../src/errors.js';
import { type Command, type CommandContext, type ExitCode, printJson, sayLines } from '../command/command.js';
import { readOptions } from '../command/options.js';
import { readAnyText } from '../command/standardInput.js';
import { callTool, type ToolAnswer } from '../mcp/callTool.js';
import { LONGEST_MESSAGE_BYTES } from '../mcp/wire.js';

const CODES: Readonly<Record<string, ExitCode>> = { usage: 2, unreachable: 3 };

export const command: Command = {
  help: `usage: watchkeeper mcp
       watchkeeper mcp --call TOOL [--dir FOLDER] < input.json

Serves the tools of session memory to an agent: an MCP server on standard input
and output, until the input ends. The plugin starts it in Claude Code and Codex.

  --call TOOL   does what the tool does, once: its arguments are read from
                standard input as JSON, none if that is a terminal or empty;
                its result, or its error, is printed as JSON
  --dir FOLDER  the memory; default WATCHKEEPER_MEMORY, WATCHKEEPER_HOME, else
                ~/.local/state/watchkeeper

exit code of --call: 0 done, 1 refused, 2 usage, or no session is meant clearly,
3 the memory cannot be read or written

example:
  echo '{"text": "the API wants UTC"}' | watchkeeper mcp --call add_note`,
  async run(args, context) {
    const { values } = readOptions(args, { call: { type: 'string' }, dir: { type: 'string' } });
    const { call: name, dir: folder = null } = values;
    if (name === undefined) throw new UsageError('the server takes no option; --call TOOL calls one of its tools');
    const { surroundings, redact } = context;
    const caller = {
      surroundings,
      redact,
      folder,
      startDetached: (words: readonly string[]) => context.startDetached(words),
    };
    return show(context, await callTool(name, await readArguments(context), caller));
  },
};

/** @throws UsageError if it is too long, or no JSON */
async function readArguments(context: CommandContext): Promise<unknown> {
  if (context.openInput() !== null) return {};
  const text = await readAnyText(context.input, LONGEST_MESSAGE_BYTES);
  if (text.trim() === '') return {};
  const parsed = parseJsonText(text);
  if ('fault' in parsed) throw new UsageError(`standard input ${parsed.fault}`);
  return parsed.value;
}

function show({ io }: CommandContext, { value, isError }: ToolAnswer): ExitCode {
  printJson(io, value);
  if (!isError) return 0;
  sayLines(io, `watchkeeper: ${String(value.message)}`.split('\n'));
  return CODES[String(value.code)] ?? 1;
}
