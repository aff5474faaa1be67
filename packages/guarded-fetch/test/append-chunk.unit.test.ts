import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendChunk } from '../src/response-body.ts';

describe('appendChunk', () => {
  it('keeps all bytes in order', () =>
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (parts) => {
        const chunks: Buffer[] = [];
        for (const part of parts) appendChunk(chunks, Buffer.from(part));
        expect(Buffer.concat(chunks).equals(Buffer.concat(parts))).toBe(true);
      }),
    ));

  it('joins a million chunks of one byte into few', () => {
    const chunks: Buffer[] = [];
    for (let count = 0; count < 1e6; count += 1) appendChunk(chunks, Buffer.alloc(1, count));
    expect(chunks.length).toBeLessThan(80);
    expect(chunks.every(({ byteLength, buffer }) => buffer.byteLength === byteLength || byteLength === 1)).toBe(true);
  });

  it('keeps large chunks as they are', () => {
    const large = Buffer.alloc(64 * 1024);
    const chunks: Buffer[] = [];
    for (const chunk of [Buffer.alloc(3), large, large]) appendChunk(chunks, chunk);
    expect(chunks.slice(1)).toEqual([large, large]);
    expect(chunks[2]).toBe(large);
  });
});
