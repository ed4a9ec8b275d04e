/** Starts a program of the command line as the build compiled it. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { startCompiled } from '../command/compiled.js';
import { QUICK_NAMES, VERSION_WORDS } from './quickNames.js';

const [, , command, ...options] = process.argv;
const isQuick = [...QUICK_NAMES, ...VERSION_WORDS].some((name) => name === command);
const isServer = command === 'mcp' && options.length === 0;
const program = isServer ? '../mcp/program.cjs' : isQuick ? 'quickProgram.cjs' : 'program.cjs';

startCompiled(fileURLToPath(new URL(program, import.meta.url)), createRequire(import.meta.url));
