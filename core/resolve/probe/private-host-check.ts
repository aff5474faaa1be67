import { discardResponse } from '../../egress/client/index.ts';
import { EgressRefused } from '../../errors/index.ts';
import { formatRange } from '../../http/index.ts';
import type { ReaderOptions } from './guarded-reader.ts';

/** Host names that may lead to a private address: without a dot, IP literals, and zones that are never public. */
const SUSPICIOUS_HOST = /^[^.]+$|^[\d.]+$|^\[|\.(?:local|localhost|internal|lan|home|corp|intranet|arpa)$/i;

export interface PrivateHostCheckOptions extends ReaderOptions {
  /** The link that is being resolved: yt-dlp has reached its host through the guard. */
  readonly link: string;
}

/**
 * Creates a check whether the egress guard admits the host of a URL. A page or a manifest may name any address, and yt-dlp
 * returns it unchecked. Only suspicious hosts are requested, each once: streams are guarded again when they connect.
 * @returns a check that throws the signal's reason once it is aborted
 */
export function createPrivateHostCheck({
  egress,
  identity,
  signal,
  link,
}: PrivateHostCheckOptions): (url: string) => Promise<boolean> {
  const results = new Map([[new URL(link).origin, Promise.resolve(true)]]);

  const isAdmitted = async (url: string): Promise<boolean> => {
    try {
      discardResponse(
        await egress.request(url, {
          headers: { range: formatRange({ first: 0, last: 0 }) },
          identity,
          signal,
          maxRedirects: 0,
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof EgressRefused) return false;
      // It may have been aborted before the name was resolved. Any other failure says nothing about the address.
      signal.throwIfAborted();
      return true;
    }
  };

  return (url) => {
    const { hostname, origin } = new URL(url);
    if (!SUSPICIOUS_HOST.test(hostname)) return Promise.resolve(true);
    const result = results.get(origin) ?? isAdmitted(url);
    results.set(origin, result);
    return result;
  };
}
