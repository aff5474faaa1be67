/** Bytes of the header of a page before its table of segments, and where its checksum is (RFC 3533 §6). */
export const HEADER_BYTES = 27;
const CHECKSUM_AT = 22;
/** Segments of a page, and bytes of one: a packet ends with a shorter one. */
const MAX_SEGMENTS = 255;
const SEGMENT_BYTES = 255;
const CONTINUED = 1;
const FIRST = 2;
const LAST = 4;
/** The granule position of a page on which no packet ends. */
const NO_GRANULE = -1;
/** There is one stream in a file. */
const SERIAL = 1;

interface OggPage {
  /** Number of the page in its stream, from 0. */
  readonly sequence: number;
  /** Samples up to the end of the last packet that ends on the page. */
  readonly granule: number;
  /** The lengths of the packets as `packetSegments` writes them. */
  readonly segments: readonly number[];
  readonly isContinued?: boolean;
  readonly isLast?: boolean;
}

/** The segments of a packet: as many of 255 bytes as fit, and a shorter one. */
export function packetSegments(bytes: number): number[] {
  const segments = new Array<number>(Math.floor(bytes / SEGMENT_BYTES) + 1).fill(SEGMENT_BYTES);
  segments[segments.length - 1] = bytes % SEGMENT_BYTES;
  return segments;
}

/** Whether more segments fit on a page. */
export const hasRoom = (segments: readonly number[], more: readonly number[]): boolean =>
  segments.length + more.length <= MAX_SEGMENTS;

/** The header of a page without its checksum, which `checkedPage` computes from the data. */
export function oggPageHeader({ sequence, granule, segments, isContinued, isLast }: OggPage): Buffer {
  const header = Buffer.alloc(HEADER_BYTES + segments.length);
  header.write('OggS', 'latin1');
  header[5] = (isContinued ? CONTINUED : 0) | (sequence === 0 ? FIRST : 0) | (isLast ? LAST : 0);
  header.writeBigInt64LE(BigInt(granule), 6);
  header.writeUInt32LE(SERIAL, 14);
  header.writeUInt32LE(sequence, 18);
  header[HEADER_BYTES - 1] = segments.length;
  header.set(segments, HEADER_BYTES);
  return header;
}

/** Bytes of the header of a page, by its beginning. */
export const oggHeaderBytes = (bytes: Buffer, at: number): number => HEADER_BYTES + (bytes[at + HEADER_BYTES - 1] ?? 0);

/** A whole page: a header of `oggPageHeader`, the data, and the checksum of both. */
export function checkedPage(header: Buffer, data: Buffer): Buffer {
  const page = Buffer.concat([header, data]);
  page.writeUInt32LE(checksum(page), CHECKSUM_AT);
  return page;
}

/** The first pages of a stream: one for the first packet, and as many as the second one needs (RFC 7845 §3). */
export function oggHeaderPages(identification: Buffer, comments: Buffer): Buffer[] {
  const first = { sequence: 0, granule: 0, segments: packetSegments(identification.length) };
  const pages = [checkedPage(oggPageHeader(first), identification)];
  const segments = packetSegments(comments.length);
  for (let from = 0, at = 0; from < segments.length; from += MAX_SEGMENTS) {
    const part = segments.slice(from, from + MAX_SEGMENTS);
    const isEnd = from + MAX_SEGMENTS >= segments.length;
    const page = { sequence: pages.length, granule: isEnd ? 0 : NO_GRANULE, segments: part, isContinued: from > 0 };
    const bytes = part.reduce((sum, segment) => sum + segment, 0);
    pages.push(checkedPage(oggPageHeader(page), comments.subarray(at, at + bytes)));
    at += bytes;
  }
  return pages;
}

/** The remainders of all bytes by the polynomial of Ogg, which is not reflected as that of `zlib.crc32` is. */
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) remainder = (remainder << 1) ^ (remainder < 0 ? 0x04c1_1db7 : 0);
  return remainder;
});

function checksum(bytes: Buffer): number {
  let sum = 0;
  for (const byte of bytes) sum = (sum << 8) ^ (REMAINDERS[(sum >>> 24) ^ byte] ?? 0);
  return sum >>> 0;
}
