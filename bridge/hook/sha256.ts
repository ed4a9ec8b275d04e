/**
 * SHA-256 of short texts (FIPS 180-4, sections 4 to 6). `node:crypto` takes a tenth of a hook's time to load, and packages that do
 * without it bring other algorithms, which take time as well.
 */

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;
const WORDS_OF_BLOCK = 16;

const BEGINNING = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
const ROUND_CONSTANTS = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
];

/** @returns 64 hexadecimal digits */
export function sha256(bytes: Uint8Array): string {
  const state = Int32Array.from(BEGINNING);
  const padded = inBlocks(bytes);
  for (let at = 0; at < padded.length; at += BLOCK_BYTES) addBlock(state, scheduleOf(padded, at));
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** Followed by a bit, by zeros, and by its length in bits. */
function inBlocks(bytes: Uint8Array): Buffer {
  const blocks = Math.ceil((bytes.length + 1 + LENGTH_BYTES) / BLOCK_BYTES);
  const padded = Buffer.alloc(blocks * BLOCK_BYTES);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  padded.writeUInt32BE(bytes.length * 8, padded.length - 4);
  return padded;
}

function scheduleOf(padded: Buffer, at: number): Int32Array {
  const words = new Int32Array(ROUND_CONSTANTS.length);
  for (let index = 0; index < WORDS_OF_BLOCK; index += 1) words[index] = padded.readInt32BE(at + 4 * index);
  for (let index = WORDS_OF_BLOCK; index < words.length; index += 1) {
    const early = words[index - 15] ?? 0;
    const late = words[index - 2] ?? 0;
    const sigma0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const sigma1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[index] = (words[index - 16] ?? 0) + sigma0 + (words[index - 7] ?? 0) + sigma1;
  }
  return words;
}

/** Without iterators, which take most of the time until it is compiled. */
function addBlock(state: Int32Array, words: Int32Array): void {
  let a = state[0] ?? 0;
  let b = state[1] ?? 0;
  let c = state[2] ?? 0;
  let d = state[3] ?? 0;
  let e = state[4] ?? 0;
  let f = state[5] ?? 0;
  let g = state[6] ?? 0;
  let h = state[7] ?? 0;
  for (let index = 0; index < words.length; index += 1) {
    const sum1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const first = (h + sum1 + ((e & f) ^ (~e & g)) + (ROUND_CONSTANTS[index] ?? 0) + (words[index] ?? 0)) | 0;
    const sum0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const second = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  const added = [a, b, c, d, e, f, g, h];
  for (let index = 0; index < added.length; index += 1) state[index] = (state[index] ?? 0) + (added[index] ?? 0);
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
