import { duration } from '../values.ts';

/** Seconds of the sound of AVI, else of the picture: the length of a stream by its time base (`AVISTREAMHEADER`). */
export function readAvi(head: Buffer): number | undefined {
  const streams = chunksOf(head, 'LE').filter(({ id, content }) => id === 'strh' && content + 36 <= head.length);
  const secondsOf = (kind: string) =>
    streams
      .filter(({ content }) => head.toString('latin1', content, content + 4) === kind)
      .map(({ content: at }) => (head.readUInt32LE(at + 32) * head.readUInt32LE(at + 20)) / head.readUInt32LE(at + 24))
      .find(duration);
  return secondsOf('auds') ?? secondsOf('vids');
}

/** Encodings of AIFC that are counted in samples: no packets. */
const PCM = /^(?:NONE|sowt|twos|raw |in24|in32|fl32|fl64)$/i;

/** Seconds of AIFF: samples by their rate, a number of 80 bits (`CommonChunk`). */
export function readAiff(head: Buffer): number | undefined {
  const { content = 0, end = 0 } = chunksOf(head, 'BE').find(({ id }) => id === 'COMM') ?? {};
  if (end < content + 18 || end > head.length) return undefined;
  const isPcm = end < content + 22 || PCM.test(head.toString('latin1', content + 18, content + 22));
  const rate = head.readUInt32BE(content + 10) * 2 ** (head.readUInt16BE(content + 8) - 16_383 - 31);
  return isPcm ? head.readUInt32BE(content + 2) / rate : undefined;
}

/** The chunks of a RIFF or an IFF file, those in lists among them, as far as they begin in the first bytes. */
function chunksOf(head: Buffer, order: 'LE' | 'BE') {
  const chunks: { readonly id: string; readonly content: number; readonly end: number }[] = [];
  for (let at = 12; at + 8 <= head.length; ) {
    const id = head.toString('latin1', at, at + 4);
    const end = at + 8 + head[`readUInt32${order}`](at + 4);
    chunks.push({ id, content: at + 8, end });
    // Their size is even in the file. A list has a name in front of its chunks.
    at = id === 'LIST' ? at + 12 : end + (end & 1);
  }
  return chunks;
}
