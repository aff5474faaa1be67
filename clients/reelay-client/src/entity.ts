/** Metadata of the file in a response (RFC 9110 §8). */
export interface Entity {
  /** Exact size. */
  readonly totalBytes?: number;
  /** The estimate of the instance where the size is unknown. */
  readonly estimatedBytes?: number;
  /** Strong: only such a tag allows combining ranges (RFC 9110 §15.3.7.3). */
  readonly etag?: string;
  /** Has ranges, a strong ETag and a known size. */
  readonly canResume: boolean;
  /** As the instance names it: not yet fit for a path. */
  readonly fileName?: string;
}

/** The entity of a whole response. */
export function entityOf({ headers }: Response): Entity {
  // The length of a compressed response is not that of the file.
  const totalBytes = headers.has('content-encoding') ? undefined : wholeNumber(headers.get('content-length'));
  const estimatedBytes = wholeNumber(headers.get('estimated-content-length'));
  const etag = /^"[^"]*"$/.exec(headers.get('etag') ?? '')?.[0];
  const hasRanges = /(^|,)\s*bytes\s*(,|$)/i.test(headers.get('accept-ranges') ?? '');
  const fileName = readFileName(headers.get('content-disposition') ?? '');
  return {
    canResume: hasRanges && etag !== undefined && totalBytes !== undefined,
    ...(totalBytes !== undefined && { totalBytes }),
    ...(estimatedBytes !== undefined && { estimatedBytes }),
    ...(etag !== undefined && { etag }),
    ...(fileName !== undefined && { fileName }),
  };
}

/** Headers that request the rest, or the whole file if it has changed (RFC 9110 §13.1.5). */
export const rangeHeaders = ({ etag }: Entity, from: number): Record<string, string> =>
  from > 0 && etag !== undefined ? { range: `bytes=${from}-`, 'if-range': etag } : {};

/** Whether a 206 response has the rest of the same file from this byte on. */
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

/** The name in a Content-Disposition (RFC 6266): the extended form before the plain one. */
function readFileName(header: string): string | undefined {
  const [, extended] = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(header) ?? [];
  if (extended !== undefined) {
    try {
      return decodeURIComponent(extended);
    } catch {
      // Malformed: the plain name follows.
    }
  }
  const [, quoted, token] = /;\s*filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(header) ?? [];
  return quoted?.replaceAll(/\\(.)/g, '$1') ?? token;
}

const wholeNumber = (header: string | null): number | undefined =>
  header !== null && /^\d{1,15}$/.test(header.trim()) ? Number(header) : undefined;
