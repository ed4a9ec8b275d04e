/** The codes of a text's characters in one array: reading it takes a fifth of the time of reading the text character by character. */

/** Nearly all texts are shorter, and share one array. */
const LONGEST_SHARED = 32 * 1024;
const shared = Buffer.alloc(2 * LONGEST_SHARED);
const sharedCodes = new Uint16Array(shared.buffer, shared.byteOffset, LONGEST_SHARED);
let sharedText = '';
/** On a machine that keeps the upper byte of a number first. */
const IS_SWAPPED = new Uint8Array(Uint16Array.of(1).buffer)[0] === 0;

/** @returns each UTF-16 unit's code, with anything behind them; valid until the next call, and not to be changed */
export function codesOf(text: string): Uint16Array {
  if (text.length > LONGEST_SHARED) {
    const bytes = Buffer.allocUnsafeSlow(2 * text.length);
    return write(text, bytes, new Uint16Array(bytes.buffer, bytes.byteOffset, text.length));
  }
  if (text === sharedText) return sharedCodes;
  sharedText = text;
  return write(text, shared, sharedCodes);
}

function write(text: string, bytes: Buffer, codes: Uint16Array): Uint16Array {
  bytes.write(text, 'utf16le');
  if (IS_SWAPPED) bytes.swap16();
  return codes;
}
