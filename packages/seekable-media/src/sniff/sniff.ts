import { duration } from '../values.ts';
import { readAiff, readAvi } from './stated-duration.ts';

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
