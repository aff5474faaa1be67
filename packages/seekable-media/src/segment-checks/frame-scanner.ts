/** How a container divides its bytes into frames: packets, boxes or audio frames. */
interface FrameRules {
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

interface FrameScanner {
  update(chunk: Buffer): void;
  /** `cut`: within a frame. `endless`: within one that goes on to the end. `unknown`: the bytes violate the rules. */
  state(): 'whole' | 'cut' | 'endless' | 'unknown';
}

/** Follows frames from header to header through bytes as they arrive, without buffering payload. */
export function createFrameScanner({ headerBytes, mayBegin, read }: FrameRules): FrameScanner {
  /** Parts of the current header, which may arrive in many chunks: joined once all of it is there. */
  let parts: Buffer[] = [];
  let heldBytes = 0;
  let needed = headerBytes;
  /** Bytes of the current frame still to come. */
  let remaining = 0;
  let isValid = true;

  /** Appends to the header. Returns the offset after the bytes used. */
  const takeHeader = (chunk: Buffer, at: number): number => {
    const end = Math.min(at + needed - heldBytes, chunk.length);
    if (heldBytes === 0 && !mayBegin(chunk[at] ?? -1)) isValid = false;
    parts.push(chunk.subarray(at, end));
    heldBytes += end - at;
    if (!isValid || heldBytes < needed) return end;
    const header = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts, heldBytes);
    parts = [header];
    const found = read(header);
    if (typeof found === 'object') needed = found.needs;
    else if (found === undefined || found < header.length) isValid = false;
    else {
      remaining = found - header.length;
      parts = [];
      heldBytes = 0;
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
      if (remaining === Number.POSITIVE_INFINITY) return 'endless';
      return heldBytes > 0 || remaining > 0 ? 'cut' : 'whole';
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
