import { UnsupportedMp4 } from '../isobmff/index.ts';
import { type Element, ID, readElement, readElements, readUnsigned, readVariable } from './ebml.ts';

/** Frames of a cluster that have one time: one, or several of the same duration. Times in units of the file. */
export interface Block {
  readonly track: number;
  readonly time: number;
  /** Of all frames. Absent: as of the blocks around it. */
  readonly duration?: number;
  readonly isSync: boolean;
  readonly frames: readonly Buffer[];
}

/** Ids of four bytes are those of a segment's children, which may be between clusters. */
const MIN_TOP_ID = 0x1000_0000;
/** Bytes of the time and the flags of a block. */
const BLOCK_FIELDS_BYTES = 3;
/** How a block tells the sizes of its frames (RFC 9559 §10.3). */
const LACING = { mask: 0x06, xiph: 0x02, fixed: 0x04 };
const KEYFRAME = 0x80;

type ReadElements = (start: number, end: number) => Iterable<Element>;

/**
 * The frames of whole clusters, of which the first begins with the bytes.
 * @param onElement called before each element is read
 * @throws UnsupportedMp4 when there is anything else, and what `onElement` throws
 */
export function* readBlocks(bytes: Buffer, onElement: () => void = () => undefined): Generator<Block> {
  function* read(start: number, end: number) {
    for (const element of readElements(bytes, start, end)) {
      onElement();
      yield element;
    }
  }
  for (const { id, content, end, start } of read(0, bytes.length)) {
    if (id === ID.cluster) yield* readCluster(bytes, read(content, end), read);
    else if (start === 0 || (id < MIN_TOP_ID && id !== ID.void && id !== ID.crc32))
      throw new UnsupportedMp4('A cue that names no cluster');
  }
}

/** The first frame of a track in a cluster, of which only the beginning has to be there. Undefined: that is too short */
export function firstBlock(bytes: Buffer, track: number | undefined): Block | undefined {
  const cluster = readElement(bytes, 0);
  if (cluster && cluster.id !== ID.cluster) throw new UnsupportedMp4('No cluster');
  const read: ReadElements = (start, end) => readElements(bytes, start, end);
  return cluster && readCluster(bytes, readBeginning(bytes, cluster), read).find((block) => block.track === track);
}

/** The elements of a cluster as far as they begin before the end of the bytes. */
function* readBeginning(bytes: Buffer, { content, end }: Element): Generator<Element> {
  for (let at = content; at < Math.min(end, bytes.length); ) {
    const element = readElement(bytes, at);
    if (!element || (element.id !== ID.simpleBlock && element.end > bytes.length)) return;
    yield element;
    at = element.end;
  }
}

function* readCluster(bytes: Buffer, elements: Iterable<Element>, read: ReadElements): Generator<Block, undefined> {
  let clusterTime: number | undefined;
  for (const element of elements) {
    const { id, content, end } = element;
    if (id === ID.timestamp) clusterTime = readUnsigned(bytes.subarray(content, end));
    else if (id === ID.encryptedBlock) throw new UnsupportedMp4('Encrypted frames');
    else if (id === ID.simpleBlock) {
      const { flags, ...block } = readBlock(bytes, element, clusterTime);
      yield { ...block, isSync: (flags & KEYFRAME) !== 0 };
    } else if (id === ID.blockGroup) yield readGroup(bytes, read(content, end), clusterTime);
  }
}

function readGroup(bytes: Buffer, elements: Iterable<Element>, clusterTime: number | undefined): Block {
  let block: ReturnType<typeof readBlock> | undefined;
  let duration: number | undefined;
  let isSync = true;
  for (const element of elements) {
    if (element.id === ID.block) block = readBlock(bytes, element, clusterTime);
    else if (element.id === ID.referenceBlock) isSync = false;
    else if (element.id === ID.blockDuration) duration = readUnsigned(bytes.subarray(element.content, element.end));
  }
  if (!block) throw new UnsupportedMp4('A group without a frame');
  const { flags: _, ...frame } = block;
  return { ...frame, isSync, ...(duration !== undefined && { duration }) };
}

function readBlock(bytes: Buffer, { content, end }: Element, clusterTime: number | undefined) {
  const track = readVariable(bytes, content);
  const fields = content + (track?.bytes ?? 0);
  if (!track || clusterTime === undefined || fields + BLOCK_FIELDS_BYTES > Math.min(end, bytes.length))
    throw new UnsupportedMp4('A truncated frame, or one without time');
  const flags = bytes.readUInt8(fields + 2);
  const time = clusterTime + bytes.readInt16BE(fields);
  return {
    track: track.value,
    time,
    flags,
    frames: readFrames(bytes, fields + BLOCK_FIELDS_BYTES, end, flags & LACING.mask),
  };
}

function readFrames(bytes: Buffer, start: number, end: number, lacing: number): readonly Buffer[] {
  if (lacing === 0) return [bytes.subarray(start, end)];
  let at = start + 1;
  const sizes: number[] = [];
  const read = (): number => {
    if (lacing === LACING.xiph) {
      const last = bytes.subarray(at, end).findIndex((byte) => byte < 0xff);
      const size = 0xff * last + (bytes[at + last] ?? 0);
      at = last < 0 ? end : at + last + 1;
      return size;
    }
    const number = readVariable(bytes, at);
    if (!number) throw new UnsupportedMp4('A truncated frame');
    at += number.bytes;
    const before = sizes.at(-1);
    // The difference to the one before it.
    return before === undefined ? number.value : before + number.value - (2 ** (7 * number.bytes - 1) - 1);
  };
  const others = bytes[start] ?? 0;
  const size = (end - at) / (others + 1);
  while (sizes.length < others) sizes.push(lacing === LACING.fixed ? size : read());
  return [...sizes, end - at - sizes.reduce((sum, each) => sum + each, 0)].map((each) => {
    if (!(each > 0 && Number.isInteger(each))) throw new UnsupportedMp4('Frames that do not fit their block');
    at += each;
    return bytes.subarray(at - each, at);
  });
}
