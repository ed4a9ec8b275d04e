/** Starts the command line, which is `program.ts`, as the build compiled it. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { startCompiled } from '../command/compiled.js';

startCompiled(fileURLToPath(new URL('program.cjs', import.meta.url)), createRequire(import.meta.url));
