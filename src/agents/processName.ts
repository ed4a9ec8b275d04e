import { basename } from 'node:path';

const SCRIPT_END = /\.(?:js|mjs|cjs|py|exe)$/;
/** The end of the name of a program that is downloaded as it was released: `codex-x86_64-unknown-linux-musl`. */
const PLATFORM_END = /-(?:x86_64|aarch64)-[\w-]+$/;

/** @returns the name of a program or script, without its folder and the addition of its release */
export function processName(path: string): string {
  return basename(path).replace(SCRIPT_END, '').replace(PLATFORM_END, '');
}
