/** How a container divides its bytes into frames: packets, boxes or audio frames. */
export interface FrameRules {
  /** Minimum bytes of a frame header. */
  readonly headerBytes: number;
  /** Whether a frame can begin with this byte. */
  readonly mayBegin: (byte: number) => boolean;
  /**
   * Reads a frame header.
   * @returns the length of the frame in bytes, header included (infinite: to the end); `needs`: bytes of the header that
   *   are required; undefined: not a frame
   */
  readonly read: (header: Buffer) => number | { readonly needs: number } | undefined;
}

/** Frame rules that also check the sum of the frames. */
export interface FrameCheck extends FrameRules {
  /** Why the media is incomplete although its last frame is whole; undefined when it may be complete. */
  readonly problem: () => string | undefined;
}

export interface FrameScanner {
  update(chunk: Buffer): void;
  /** `cut`: within a frame. `unknown`: the bytes violate the rules. */
  state(): 'whole' | 'cut' | 'unknown';
}

/** Follows frames from header to header through bytes as they arrive, without buffering payload. */
export function createFrameScanner({ headerBytes, mayBegin, read }: FrameRules): FrameScanner {
  let header: Buffer = Buffer.alloc(0);
  let needed = headerBytes;
  /** Bytes of the current frame still to come. */
  let remaining = 0;
  let isValid = true;

  /** Appends to the header. Returns the offset after the bytes used. */
  const takeHeader = (chunk: Buffer, at: number): number => {
    const end = Math.min(at + needed - header.length, chunk.length);
    const part = chunk.subarray(at, end);
    header = header.length > 0 ? Buffer.concat([header, part]) : part;
    if (!mayBegin(header[0] ?? -1)) isValid = false;
    if (!isValid || header.length < needed) return end;
    const found = read(header);
    if (typeof found === 'object') needed = found.needs;
    else if (found === undefined || found < header.length) isValid = false;
    else {
      remaining = found - header.length;
      header = header.subarray(header.length);
      needed = headerBytes;
    }
    return end;
  };

  return {
    update(chunk) {
      for (let at = 0; at < chunk.length && isValid; ) {
        const skipped = Math.min(remaining, chunk.length - at);
        remaining -= skipped;
        at += skipped;
        if (at < chunk.length) at = takeHeader(chunk, at);
      }
    },
    state() {
      if (!isValid) return 'unknown';
      return header.length > 0 || (remaining > 0 && Number.isFinite(remaining)) ? 'cut' : 'whole';
    },
  };
}

/**
 * Describes a duration that is clearly shorter than listed; undefined when it is not. Lists round durations (to whole
 * seconds before version 3, RFC 8216 §4.3.2.1), and the end of the last frame has no timestamp.
 */
export function describeShortfall(found: number, listed: number): string | undefined {
  const isShort = listed - found > Math.max(1, listed / 4);
  return isShort ? `${found.toFixed(1)} s of ${listed.toFixed(1)} s` : undefined;
}
