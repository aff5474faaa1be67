/** What bytes consist of when they follow the rules of a container. */
export interface FrameRules {
  /** Bytes of a header, at least. */
  readonly headerBytes: number;
  /** Whether a unit can begin with this byte. */
  readonly mayBegin: (byte: number) => boolean;
  /**
   * Reads the header of a unit.
   * @returns its length in bytes, header included (infinite: to the end); `needs`: more of the header must be there;
   *   undefined: this is no unit
   */
  readonly read: (header: Buffer) => number | { readonly needs: number } | undefined;
}

/** Units, and what they add up to. */
export interface FrameCheck extends FrameRules {
  /** What is missing though the last unit is complete. */
  readonly problem: () => string | undefined;
}

export interface FrameScanner {
  update(chunk: Buffer): void;
  /** `unknown`: the bytes do not follow the rules, or have ceased to. */
  state(): 'whole' | 'cut' | 'unknown';
}

/** Walks from unit to unit through bytes as they come. */
export function createFrameScanner({ headerBytes, mayBegin, read }: FrameRules): FrameScanner {
  let header: Buffer = Buffer.alloc(0);
  let needed = headerBytes;
  /** Bytes of the current unit still to come. */
  let left = 0;
  let isInStep = true;

  /** Takes what the header still needs and gives where it stopped. */
  const takeHeader = (chunk: Buffer, at: number): number => {
    const end = Math.min(at + needed - header.length, chunk.length);
    const part = chunk.subarray(at, end);
    header = header.length > 0 ? Buffer.concat([header, part]) : part;
    if (!mayBegin(header[0] ?? -1)) isInStep = false;
    if (!isInStep || header.length < needed) return end;
    const found = read(header);
    if (typeof found === 'object') needed = found.needs;
    else if (found === undefined || found < header.length) isInStep = false;
    else {
      left = found - header.length;
      header = header.subarray(header.length);
      needed = headerBytes;
    }
    return end;
  };

  return {
    update(chunk) {
      for (let at = 0; at < chunk.length && isInStep; ) {
        const skipped = Math.min(left, chunk.length - at);
        left -= skipped;
        at += skipped;
        if (at < chunk.length) at = takeHeader(chunk, at);
      }
    },
    state() {
      if (!isInStep) return 'unknown';
      return header.length > 0 || (left > 0 && Number.isFinite(left)) ? 'cut' : 'whole';
    },
  };
}

/**
 * What a duration says. Lists round theirs (to whole seconds before version 3, RFC 8216 §4.3.2.1), and what shows last
 * has no timestamp of its own end: only a clear difference is one.
 */
export function describeShortfall(found: number, listed: number): string | undefined {
  const isShort = listed - found > Math.max(1, listed / 4);
  return isShort ? `${found.toFixed(1)} s of ${listed.toFixed(1)} s` : undefined;
}
