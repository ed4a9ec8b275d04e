/**
 * The program of the MCP server. A client is answered first, and what only a tool needs is loaded when one is called: some agents start
 * without the tools of a server that is late.
 */
import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '../../src/time.js';
import { startCompiled } from '../command/compiled.js';
import type { ListedTool } from './listing.js';
import type { Offered } from './server.js';
import { serve } from './serving.js';

/** Written by the build. */
interface Listing {
  readonly version: string;
  readonly tools: readonly ListedTool[];
}

type Calls = typeof import('./calls.js');
type Library = typeof import('./library.js');

const { env, ppid: parent } = process;
const directory = startDirectory();
let calls: Calls | null = null;

const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

function main(): void {
  const { version, tools }: Listing = JSON.parse(readFileSync(beside('tools.json'), 'utf8'));
  const offered: Offered = {
    version,
    tools,
    async callTool(name, args, meta) {
      calls ??= loadCalls();
      return calls.callFromServer(name, args, meta, {
        ...{ version, environment: env },
        directory,
        // An orphan has another parent, which is no agent.
        parent: process.ppid === parent ? parent : null,
      });
    },
  };
  serve(offered, () => startCompiled(beside('library.cjs'), require) as Library, process, systemClock);
}

/** The last code that is loaded, so that later flags do not keep V8 from using what the build has compiled. */
function loadCalls(): Calls {
  const loaded = startCompiled(beside('calls.cjs'), require) as Calls;
  // A server waits nearly all the time, and its memory would grow to twice what a call needs, and stay so.
  setFlagsFromString('--optimize-for-size');
  return loaded;
}

/** @returns where it was started, also if that is not there any more */
function startDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return isAbsolute(env.PWD ?? '') ? String(env.PWD) : '/a removed directory';
  }
}

try {
  main();
} catch (error) {
  process.stderr.write(`watchkeeper: the MCP server cannot start: ${String(error).replaceAll('\n', ' ')}\n`);
  process.exit(1);
}
