/** What FFmpeg gets at a position that it has not read up to: it may look at a header there and go on elsewhere. */
const FIRST_BYTES = 64 * 1024;
/** After as many bytes in one go, the rest of the file follows in one response. */
const ALL_AFTER_BYTES = 16 * 1024 * 1024;

/**
 * Returns how many bytes to answer a request for the rest of a file with: FFmpeg asks for no less, and the buffers between it and
 * this process would take megabytes that it never reads. It asks for more at the end of each answer, so each grows with what it
 * has read.
 * @param first offset of the request
 */
export type ReadWindows = (first: number) => number;

/** @param expectedBytes that are probably read from a position behind the beginning */
export function createReadWindows(expectedBytes = 0): ReadWindows {
  /** Offsets of the bytes that are read in one go. */
  let start = 0;
  let end = 0;
  return (first) => {
    if (first !== end) start = first;
    const readBytes = first - start;
    const expected = start > 0 ? expectedBytes : 0;
    // What is known to be read needs no caution.
    const bytes = readBytes === 0 ? FIRST_BYTES : Math.max(expected - readBytes, readBytes - expected, FIRST_BYTES);
    const window = readBytes >= Math.max(ALL_AFTER_BYTES, 2 * expected) ? Number.POSITIVE_INFINITY : bytes;
    end = first + window;
    return window;
  };
}
