/** Metadata of the file in a response (RFC 9110 §8). */
export interface Entity {
  /** Exact size. */
  readonly totalBytes?: number;
  /** The service's estimate when the size is unknown. */
  readonly estimatedBytes?: number;
  /** A strong one: only that allows combining ranges (RFC 9110 §15.3.7.3). */
  readonly etag?: string;
  /** Has ranges, a strong ETag and a known size. */
  readonly canResume: boolean;
}

/** Entity of a complete response (200). */
export function entityOf({ headers }: Response): Entity {
  // Content-Length of a compressed response is not the file's size.
  const totalBytes = headers.has('content-encoding') ? undefined : wholeNumber(headers.get('content-length'));
  const estimatedBytes = wholeNumber(headers.get('estimated-content-length'));
  const etag = strong(headers.get('etag'));
  const hasRanges = /(^|,)\s*bytes\s*(,|$)/i.test(headers.get('accept-ranges') ?? '');
  return {
    totalBytes,
    estimatedBytes,
    etag,
    canResume: hasRanges && etag !== undefined && totalBytes !== undefined,
  };
}

/** Headers that request the rest, or the whole file if it changed (RFC 9110 §13.1.5). */
export const rangeHeaders = ({ etag }: Entity, from: number): Record<string, string> =>
  from > 0 && etag !== undefined ? { range: `bytes=${from}-`, 'if-range': etag } : {};

/** Whether a 206 response continues the same file at this byte. */
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
