/** Starts a program of the command line as the build compiled it. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { startCompiled } from '../command/compiled.js';
import { QUICK_NAMES } from './quickNames.js';

const program = QUICK_NAMES.some((name) => name === process.argv[2]) ? 'quickProgram.cjs' : 'program.cjs';

startCompiled(fileURLToPath(new URL(program, import.meta.url)), createRequire(import.meta.url));
