/** The MCP server as a real process, and the SDK's client in front of it. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ownBuild } from '../../../src/host/program.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { WorkScene } from '../cli/work/scene.js';

export const OLDER = '2025-11-25';
export const NEWEST = '2026-07-28';

/** @returns the program of the server in the newest build */
export function serverProgram(): string {
  return join(ownBuild(), 'bridge/mcp/main.cjs');
}

export interface Called {
  readonly value: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  /** The text that is shown to a client which knows no structured results. */
  readonly text: string;
}

export class McpScene extends WorkScene {
  readonly environment: Readonly<Record<string, string>> = {
    PATH: process.env.PATH ?? '',
    HOME: join(testFolder(), 'user'),
    WATCHKEEPER_HOME: this.home,
  };

  /** @param revision of the protocol that the client speaks */
  async connect(revision: typeof OLDER | typeof NEWEST, variables: Readonly<Record<string, string>> = {}) {
    mkdirSync(this.directory, { recursive: true });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [serverProgram()],
      cwd: this.directory,
      env: { ...this.environment, ...variables },
    });
    const mode = revision === NEWEST ? { pin: NEWEST } : 'legacy';
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(transport);
    afterThisTest(() => client.close());
    return client;
  }

  /** @returns the lines of the session's worklog */
  lines(id: string): Record<string, unknown>[] {
    const text = readFileSync(join(this.home, 'sessions', id, 'worklog.jsonl'), 'utf8');
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  }

  sessions(): string[] {
    const folder = join(this.home, 'sessions');
    return existsSync(folder) ? readdirSync(folder) : [];
  }
}

export async function call(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
  meta: Record<string, unknown> = {},
): Promise<Called> {
  const { structuredContent, isError, content } = await client.callTool({ name, arguments: args, _meta: meta });
  const [first] = content;
  return {
    value: structuredContent as Called['value'],
    isError: isError === true,
    text: first?.type === 'text' ? first.text : '',
  };
}
