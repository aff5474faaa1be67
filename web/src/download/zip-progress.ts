/** Of a local header, before the path (PKWARE APPNOTE 6.3.10 §4.3.7). */
const HEADER_BYTES = 30;
const LOCAL_HEADER = 0x04034b50;
/** Behind the data, with sizes of 32 and of 64 bits. */
const DESCRIPTOR_BYTES = 16;
const DESCRIPTOR_ZIP64_BYTES = 24;
const MAX_32 = 0xffffffff;
/** Before each block of data (RFC 1951 §3.2.4). */
const BLOCK_HEADER_BYTES = 5;
/** Paths in archives of the service. */
const ENTRY = /^[^/]+\/(\d{2,}) - [^/]+$/;
const INDEX = /^[^/]+\/index\.txt$/;

/** Counts the entries of an archive of a list while its bytes arrive. */
export interface ZipProgress {
  /** Entries of the list that are complete, or missing in the archive. */
  readonly doneEntries: number;
  add(bytes: Uint8Array): void;
  /** From the beginning of the archive. */
  reset(): void;
}

/**
 * Follows the records of a ZIP archive of the service, whose paths have the numbers of the entries in their list. Its data are
 * DEFLATE blocks that state their length, so what an entry contains is not taken for a record.
 * @param count of the entries of the list
 */
export function createZipProgress(count: number): ZipProgress {
  let done = 0;
  let records = readRecords();
  let wanted = records.next().value;
  let record: number[] = [];

  function* readRecords(): Generator<Wanted, undefined, DataView> {
    for (;;) {
      const header = yield { bytes: HEADER_BYTES };
      // The central directory.
      if (header.getUint32(0, true) !== LOCAL_HEADER) return;
      take(new TextDecoder().decode(yield { bytes: header.getUint16(26, true) }));
      const extraBytes = header.getUint16(28, true);
      yield { bytes: extraBytes, isSkipped: true };
      let size = 0;
      for (let isLast = false; !isLast; ) {
        const block = yield { bytes: BLOCK_HEADER_BYTES };
        isLast = block.getUint8(0) === 1;
        const bytes = block.getUint16(1, true);
        yield { bytes, isSkipped: true };
        size += BLOCK_HEADER_BYTES + bytes;
      }
      const has64Bits = extraBytes > 0 || size > MAX_32;
      yield { bytes: has64Bits ? DESCRIPTOR_ZIP64_BYTES : DESCRIPTOR_BYTES, isSkipped: true };
    }
  }

  const take = (path: string) => {
    const number = Number(ENTRY.exec(path)?.[1]);
    if (INDEX.test(path)) done = count;
    else if (number <= count) done = Math.max(done, number - 1);
  };

  return {
    get doneEntries() {
      return done;
    },
    add(bytes) {
      for (let at = 0; wanted; ) {
        const part = bytes.subarray(at, at + wanted.bytes);
        at += part.length;
        if (!wanted.isSkipped) record.push(...part);
        wanted = { ...wanted, bytes: wanted.bytes - part.length };
        if (wanted.bytes > 0) return;
        const read = new DataView(Uint8Array.from(record).buffer);
        record = [];
        wanted = records.next(read).value;
      }
    },
    reset() {
      done = 0;
      record = [];
      records = readRecords();
      wanted = records.next().value;
    },
  };
}

interface Wanted {
  readonly bytes: number;
  readonly isSkipped?: boolean;
}
