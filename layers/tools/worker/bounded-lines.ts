import type { Readable } from 'node:stream';

export interface BoundedLinesOptions {
  /** Of a line, without its line feed. */
  readonly maxBytes: number;
  readonly onLine: (line: string) => void;
  /** Called once for each longer line, with its first `maxBytes`; the rest is dropped. */
  readonly onTooLong: (start: string) => void;
}

/** Reads UTF-8 lines and buffers at most one of `maxBytes`. Bytes after the last line feed are ignored. */
export function readBoundedLines(stream: Readable, { maxBytes, onLine, onTooLong }: BoundedLinesOptions): void {
  let parts: Buffer[] = [];
  let size = 0;
  let isSkipping = false;

  const take = (part: Buffer) => {
    if (isSkipping) return;
    parts.push(part);
    size += part.length;
    if (size <= maxBytes) return;
    isSkipping = true;
    onTooLong(Buffer.concat(parts).toString('utf8', 0, maxBytes));
    parts = [];
  };

  stream.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      take(chunk.subarray(start, end));
      if (!isSkipping) onLine(Buffer.concat(parts).toString('utf8'));
      parts = [];
      size = 0;
      isSkipping = false;
      start = end + 1;
    }
    take(chunk.subarray(start));
  });
}
