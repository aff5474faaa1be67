import { UnsupportedMp4 } from '../isobmff/index.ts';

/** Ids of the elements that are read (RFC 8794, RFC 9559). */
export const ID = {
  ebml: 0x1a45dfa3,
  docType: 0x4282,
  segment: 0x18538067,
  seekHead: 0x114d9b74,
  seek: 0x4dbb,
  seekId: 0x53ab,
  seekPosition: 0x53ac,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  trackTimestampScale: 0x23314f,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  codecDelay: 0x56aa,
  flagLacing: 0x9c,
  defaultDuration: 0x23e383,
  contentEncodings: 0x6d80,
  video: 0xe0,
  pixelWidth: 0xb0,
  pixelHeight: 0xba,
  displayWidth: 0x54b0,
  displayHeight: 0x54ba,
  displayUnit: 0x54b2,
  colour: 0x55b0,
  matrixCoefficients: 0x55b1,
  transferCharacteristics: 0x55ba,
  primaries: 0x55bb,
  cues: 0x1c53bb6b,
  cuePoint: 0xbb,
  cueTime: 0xb3,
  cueTrackPositions: 0xb7,
  cueTrack: 0xf7,
  cueClusterPosition: 0xf1,
  cueRelativePosition: 0xf0,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
  blockDuration: 0x9b,
  referenceBlock: 0xfb,
  encryptedBlock: 0xaf,
  void: 0xec,
  crc32: 0xbf,
} as const;

/** An element of a Matroska file. Offsets in the bytes that it was found in; its content may end beyond them. */
export interface Element {
  readonly id: number;
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

const MAX_ID_BYTES = 4;

/**
 * The element at an offset; undefined where its header is not all there.
 * @throws UnsupportedMp4 for one that is none, or of unknown size
 */
export function readElement(bytes: Buffer, start: number): Element | undefined {
  const idBytes = numberBytes(bytes, start);
  if (idBytes === undefined) return undefined;
  if (idBytes > MAX_ID_BYTES) throw new UnsupportedMp4('No element');
  const size = readVariable(bytes, start + idBytes);
  if (!size || start + idBytes > bytes.length) return undefined;
  if (size.isUnknown) throw new UnsupportedMp4('An element of unknown size');
  const content = start + idBytes + size.bytes;
  return { id: bytes.readUIntBE(start, idBytes), start, content, end: content + size.value };
}

/** The elements of a range of bytes. @throws UnsupportedMp4 when they do not make up the range */
export function* readElements(bytes: Buffer, start: number, end: number): Generator<Element> {
  if (end > bytes.length) throw new UnsupportedMp4('A truncated element');
  for (let at = start; at < end; ) {
    const element = readElement(bytes, at);
    if (!element || element.end > end) throw new UnsupportedMp4('An element that ends beyond another');
    yield element;
    at = element.end;
  }
}

/** A number of variable length (RFC 8794 §4). */
export function readVariable(bytes: Buffer, at: number) {
  const length = numberBytes(bytes, at);
  if (length === undefined || at + length > bytes.length) return undefined;
  let value = bytes.readUInt8(at) & (0xff >> length);
  let isUnknown = value === 0xff >> length;
  for (let index = 1; index < length; index += 1) {
    const byte = bytes.readUInt8(at + index);
    value = value * 0x100 + byte;
    isUnknown &&= byte === 0xff;
  }
  if (!isUnknown && !Number.isSafeInteger(value)) throw new UnsupportedMp4('An element that is too large');
  return { value, isUnknown, bytes: length };
}

/** Bytes of a number by its first one; undefined beyond the end. */
function numberBytes(bytes: Buffer, at: number): number | undefined {
  const first = bytes[at];
  if (first === undefined) return undefined;
  if (first === 0) throw new UnsupportedMp4('No element');
  return Math.clz32(first) - 23;
}

/** What an element has, by the ids of its children: the first of each. */
export class Children {
  readonly #bytes: Buffer;
  readonly all: readonly Element[];

  /** @throws UnsupportedMp4 when it is not a chain of elements */
  constructor(bytes: Buffer, { content, end }: Pick<Element, 'content' | 'end'>) {
    this.#bytes = bytes;
    this.all = [...readElements(bytes, content, end)];
  }

  /** The children of a child; none where it is absent. */
  of(id: number): Children {
    return new Children(this.#bytes, this.#find(id) ?? { content: 0, end: 0 });
  }

  /** Those of each child with an id. */
  each(id: number): readonly Children[] {
    return this.all.filter((child) => child.id === id).map((child) => new Children(this.#bytes, child));
  }

  has(id: number): boolean {
    return this.#find(id) !== undefined;
  }

  bytes(id: number): Buffer | undefined {
    const found = this.#find(id);
    return found && this.#bytes.subarray(found.content, found.end);
  }

  text(id: number): string | undefined {
    return this.bytes(id)?.toString('latin1').replace(/\0.*/s, '');
  }

  /** @throws UnsupportedMp4 for a number of more than 53 bits */
  unsigned(id: number): number | undefined {
    const found = this.bytes(id);
    return found && readUnsigned(found);
  }

  float(id: number): number | undefined {
    const found = this.bytes(id);
    if (found?.length === 8) return found.readDoubleBE();
    return found?.length === 4 ? found.readFloatBE() : undefined;
  }

  #find(id: number): Element | undefined {
    return this.all.find((child) => child.id === id);
  }
}

const MAX_NUMBER_BYTES = 8;

/** @throws UnsupportedMp4 for a number of more than 53 bits */
export function readUnsigned(bytes: Buffer): number {
  const value = bytes.reduce((sum, byte) => sum * 0x100 + byte, 0);
  if (bytes.length > MAX_NUMBER_BYTES || !Number.isSafeInteger(value)) throw new UnsupportedMp4('A number too large');
  return value;
}
