/** Starts the program behind the hooks. The build makes a module of the older form of it, which has `require` and `__dirname`. */
import { startCompiled } from '../command/compiled.js';
import { lightCrypto } from './lightCrypto.js';

/** They take some milliseconds to load, and most events do without. */
const LOADED_LATE = ['node:child_process', 'node:fs/promises', 'node:net', 'node:tty', 'node:url'];

/** The launcher names the event: each has a file of the code that it needs. Older launchers do not. */
const event = /^[A-Za-z]+$/.test(process.argv[2] ?? '') ? process.argv[2] : 'SessionStart';

try {
  startCompiled(`${__dirname}/program.cjs`, requireLate, `${__dirname}/${event}.cache`);
} catch (error) {
  // The agent works on, whatever is wrong with the installation.
  process.stderr.write(`watchkeeper: the hook cannot start: ${String(error).replaceAll('\n', ' ')}\n`);
}

/** @returns the module; one of the late ones is loaded when something of it is used */
function requireLate(name: string): unknown {
  if (name === 'node:crypto') return lightCrypto(() => require(name));
  if (!LOADED_LATE.includes(name)) return require(name);
  return new Proxy({}, { get: (_, member) => Reflect.get(require(name), member) });
}
