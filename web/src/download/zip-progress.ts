/** Longest local header: folder and file name of 255 bytes each, and a number. */
const MAX_HEADER_BYTES = 600;
/** Fields of a local header before the path (PKWARE APPNOTE 6.3.10 §4.3.7). */
const FIXED_BYTES = 30;
const SIGNATURE = 0x04034b50;
const SIGNATURE_BYTE = 0x50;
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
 * Finds the local headers of a ZIP archive, whose names have the numbers of the entries in their list. Lengths follow the
 * data, so headers are searched for.
 * @param count of the entries of the list
 */
export function createZipProgress(count: number): ZipProgress {
  let done = 0;
  let folder: string | undefined;
  /** The last bytes: a header may continue in the next chunk. */
  let tail = new Uint8Array(0);

  const take = (path: string) => {
    const [name] = path.split('/', 1);
    // An entry may be an archive itself.
    if (folder !== undefined && name !== folder) return;
    const number = Number(ENTRY.exec(path)?.[1]);
    const next = INDEX.test(path) ? count : number >= 1 && number <= count ? number - 1 : -1;
    if (next < done) return;
    folder = name;
    done = next;
  };
  /** Reads the headers that begin before `end`. */
  const scan = (bytes: Uint8Array, end: number) => {
    for (let at = bytes.indexOf(SIGNATURE_BYTE); at >= 0 && at < end; at = bytes.indexOf(SIGNATURE_BYTE, at + 1)) {
      const path = pathAt(bytes, at);
      if (path !== undefined) take(path);
    }
  };

  return {
    get doneEntries() {
      return done;
    },
    add(bytes) {
      const joined = concat(tail, bytes.subarray(0, MAX_HEADER_BYTES));
      scan(joined, tail.length);
      const end = Math.max(0, bytes.length - MAX_HEADER_BYTES);
      scan(bytes, end);
      // Positions before `end` have been scanned.
      tail = end > 0 ? bytes.slice(end) : concat(tail, bytes).slice(-MAX_HEADER_BYTES);
    },
    reset() {
      done = 0;
      folder = undefined;
      tail = new Uint8Array(0);
    },
  };
}

/** The path in the local header at an offset; undefined without a whole one. */
function pathAt(bytes: Uint8Array, at: number): string | undefined {
  if (at + FIXED_BYTES > bytes.length) return undefined;
  const fields = new DataView(bytes.buffer, bytes.byteOffset + at);
  if (fields.getUint32(0, true) !== SIGNATURE) return undefined;
  const end = at + FIXED_BYTES + fields.getUint16(26, true);
  return end > bytes.length ? undefined : new TextDecoder().decode(bytes.subarray(at + FIXED_BYTES, end));
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
