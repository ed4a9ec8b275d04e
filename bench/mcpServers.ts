/** The servers that the benches of MCP compare: ours, and one of the same library with one tool. */

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { ownBuild } from '../src/host/program.js';
import type { McpClient, ServerCommand } from './mcpClient.js';
import type { Timed } from './rounds.js';

/** Where servers are started, and with which home. */
export interface ServerPlace {
  readonly cwd: string;
  readonly home: string;
}

export function serverCommand(words: readonly string[], { cwd, home }: ServerPlace): ServerCommand {
  // Of the caller's variables, some let every Node start later.
  return { words, cwd, env: { PATH: process.env.PATH, HOME: home } };
}

export function ourServer(place: ServerPlace): ServerCommand {
  return serverCommand([process.execPath, join(ownBuild(), 'bridge/mcp/main.cjs')], place);
}

/** @param folder for its program, which is in one file as ours is */
export function bareServer(folder: string, place: ServerPlace): ServerCommand {
  const outfile = join(folder, 'bare.cjs');
  const entry = fileURLToPath(new URL('bareServerMain.js', import.meta.url));
  const form = { bundle: true, platform: 'node', format: 'cjs', target: 'node20' } as const;
  buildSync({ entryPoints: [entry], outfile, ...form, minifyWhitespace: true, minifySyntax: true });
  return serverCommand([process.execPath, outfile], place);
}

export function timedCall(client: McpClient, name: string, args: () => object): Timed {
  return async () => {
    const [given, begun] = [args(), performance.now()];
    await client.call(name, given);
    return performance.now() - begun;
  };
}
