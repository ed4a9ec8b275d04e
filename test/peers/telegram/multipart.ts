/**
 * Reads `multipart/form-data`. By hand, because grammY sends `filename=` without quotes and Node 20's `formData()` then
 * throws.
 */

export interface UploadedFile {
  readonly fileName: string;
  readonly data: Buffer;
}

const HEADER_END = Buffer.from('\r\n\r\n');
const LINE_END_LENGTH = 2;

/**
 * @param body the whole request body
 * @param contentType the header, with its boundary
 * @returns one entry per part: text, or a file where the part has a file name
 */
export function parseMultipart(body: Buffer, contentType: string): Record<string, string | UploadedFile> {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (boundary === undefined) throw new Error('multipart body without a boundary');
  const parts: Record<string, string | UploadedFile> = {};
  for (const part of splitParts(body, Buffer.from(`--${boundary}`))) {
    const headerEnd = part.indexOf(HEADER_END);
    if (headerEnd < 0) continue;
    const header = part.subarray(0, headerEnd).toString();
    const data = part.subarray(headerEnd + HEADER_END.length);
    const name = headerField(header, 'name');
    const fileName = headerField(header, 'filename');
    if (name !== null) parts[name] = fileName === null ? data.toString() : { fileName, data: Buffer.from(data) };
  }
  return parts;
}

function* splitParts(body: Buffer, delimiter: Buffer): Generator<Buffer> {
  let delimiterAt = body.indexOf(delimiter);
  while (delimiterAt >= 0) {
    const start = delimiterAt + delimiter.length + LINE_END_LENGTH;
    delimiterAt = body.indexOf(delimiter, start);
    if (delimiterAt >= 0) yield body.subarray(start, delimiterAt - LINE_END_LENGTH);
  }
}

/** @returns the value, quoted or not, of one field of `Content-Disposition` */
function headerField(header: string, field: string): string | null {
  const found = new RegExp(`[;\\s]${field}=(?:"([^"\\r\\n]*)"|([^;\\r\\n]*))`, 'i').exec(header);
  return found?.[1] ?? found?.[2] ?? null;
}
