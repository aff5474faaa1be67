/** Chunks of this size are kept as they are. */
const JOINED_BYTES = 16 * 1024;

/**
 * Appends a chunk to a list that keeps its bytes for later. Small chunks are joined: a source may send one byte per
 * chunk, and each buffer has an overhead of some 300 bytes. Each byte is copied at most once per doubling.
 */
export function appendChunk(chunks: Buffer[], chunk: Buffer): void {
  let joined = chunk;
  while (joined.length < JOINED_BYTES) {
    const last = chunks.at(-1);
    if (!last || last.length > joined.length) break;
    chunks.pop();
    joined = join(last, joined);
  }
  chunks.push(joined);
}

/** A buffer that shares no memory: one from Node's pool would retain the whole pool. */
function join(...parts: readonly Buffer[]): Buffer {
  const whole = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) at += part.copy(whole, at);
  return whole;
}
