/** What an answer says about the file it carries (RFC 9110 §8). */
export interface Entity {
  /** The whole file, exactly. */
  readonly totalBytes?: number;
  /** What the instance expects of a file whose length nobody knows yet. */
  readonly estimatedBytes?: number;
  /** A strong one: only that proves that two parts belong together (RFC 9110 §15.3.7.3). */
  readonly etag?: string;
  /** Parts of it can be asked for, and be known to be parts of the same. */
  readonly canResume: boolean;
}

/** The file of a whole answer (200). */
export function entityOf({ headers }: Response): Entity {
  // A length that is said of what was compressed is not the file's.
  const totalBytes = headers.has('content-encoding') ? undefined : wholeNumber(headers.get('content-length'));
  const estimatedBytes = wholeNumber(headers.get('estimated-content-length'));
  const etag = strong(headers.get('etag'));
  const hasRanges = /(^|,)\s*bytes\s*(,|$)/i.test(headers.get('accept-ranges') ?? '');
  return {
    ...(totalBytes !== undefined && { totalBytes }),
    ...(estimatedBytes !== undefined && { estimatedBytes }),
    ...(etag !== undefined && { etag }),
    canResume: hasRanges && etag !== undefined && totalBytes !== undefined,
  };
}

/** The headers that ask for the rest of a file, and for all of it where it is another by now (RFC 9110 §13.1.5). */
export const rangeHeaders = ({ etag }: Entity, from: number): Record<string, string> =>
  from > 0 && etag !== undefined ? { range: `bytes=${from}-`, 'if-range': etag } : {};

/** True when a partial answer (206) is the rest of that very file, from that very byte. */
export function continues({ headers }: Response, { etag, totalBytes }: Entity, from: number): boolean {
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+)$/i.exec(headers.get('content-range') ?? '') ?? [];
  const itsTag = headers.get('etag');
  return (
    Number(first) === from &&
    Number(total) === totalBytes &&
    Number(last) === Number(total) - 1 &&
    (itsTag === null || itsTag === etag)
  );
}

const wholeNumber = (header: string | null): number | undefined =>
  header !== null && /^\d{1,15}$/.test(header.trim()) ? Number(header) : undefined;

const strong = (etag: string | null): string | undefined =>
  etag !== null && /^"[^"]*"$/.test(etag) ? etag : undefined;
