import { duration } from '../values.ts';

/** A container recognized by its first bytes. */
interface Sniffed {
  readonly container: string;
  readonly audioOnly: boolean;
  /** Seconds, where the header states them. */
  readonly durationSeconds?: number | undefined;
}

type Magic = readonly [offset: number, bytes: string, container: string, audioOnly?: 'audio'];

/** Formats that mediabunny does not read, and those it reads only when the index is within reach. */
const MAGIC: readonly Magic[] = [
  [8, 'AVI ', 'avi'],
  [0, 'FLV\x01', 'flv'],
  [0, '\x30\x26\xb2\x75\x8e\x66\xcf\x11', 'wmv'],
  [0, '\0\0\x01\xba', 'mpg'],
  [0, '#!AMR', 'amr', 'audio'],
  [8, 'AIFF', 'aiff', 'audio'],
  [8, 'AIFC', 'aiff', 'audio'],
  // E-AC-3 as well: players tell them apart.
  [0, '\x0b\x77', 'ac3', 'audio'],
  [0, '.snd', 'au', 'audio'],
  [0, '\x1a\x45\xdf\xa3', 'mkv'],
  [4, 'ftypM4A ', 'm4a', 'audio'],
  [4, 'ftypM4B ', 'm4a', 'audio'],
  [4, 'ftypqt  ', 'mov'],
  [4, 'ftypiso', 'mp4'],
  [4, 'ftypmp4', 'mp4'],
  [4, 'ftypavc1', 'mp4'],
  [4, 'ftypM4V', 'mp4'],
  [4, 'ftypdash', 'mp4'],
  [4, 'ftyp3gp', '3gp'],
  [0, 'fLaC', 'flac', 'audio'],
  [0, 'ID3', 'mp3', 'audio'],
];

/** Recognizes the container of a file by its magic bytes. @returns undefined when it is not media */
export function sniff(head: Buffer): Sniffed | undefined {
  const found = MAGIC.find(([offset, bytes]) => head.toString('latin1', offset, offset + bytes.length) === bytes);
  if (!found) return undefined;
  const [, , container, audioOnly] = found;
  const seconds = container === 'avi' ? readAvi(head) : container === 'aiff' ? readAiff(head) : undefined;
  return { container, audioOnly: audioOnly === 'audio', durationSeconds: duration(seconds) };
}

/** Of the sound, else of the picture: the length of a stream by its time base (`AVISTREAMHEADER`). */
function readAvi(head: Buffer): number | undefined {
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

/** Samples by their rate, a number of 80 bits (`CommonChunk`). */
function readAiff(head: Buffer): number | undefined {
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
