/** Starts a program of the command line as the build compiled it. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { startCompiled } from '../command/compiled.js';
import { QUICK_NAMES, VERSION_WORDS } from './quickNames.js';

const isQuick = [...QUICK_NAMES, ...VERSION_WORDS].some((name) => name === process.argv[2]);
const program = isQuick ? 'quickProgram.cjs' : 'program.cjs';

startCompiled(fileURLToPath(new URL(program, import.meta.url)), createRequire(import.meta.url));
