import type { Egress } from '../../egress/index.ts';
import { EgressRefused } from '../../errors/index.ts';
import { discard } from './guarded-reader.ts';

/** Names and addresses that can stand for something inside: no dot, an address, or a zone that is never public. */
const SUSPICIOUS = /^[^.]+$|^[\d.]+$|^\[|\.(?:local|localhost|internal|lan|home|corp|intranet|arpa)$/i;

export interface PrivateHostCheckOptions {
  readonly egress: Pick<Egress, 'request'>;
  readonly identity: string;
  readonly signal: AbortSignal;
  /** The link: yt-dlp came through the guard to its host. */
  readonly link: string;
}

/**
 * Says of URLs whether the guard admits where they point. A page or a manifest may name any address, and yt-dlp hands
 * it on unasked. Only hosts that look inward are tried, each once: every stream is guarded again at its own connect.
 */
export function createPrivateHostCheck({
  egress,
  identity,
  signal,
  link,
}: PrivateHostCheckOptions): (url: string) => Promise<boolean> {
  const known = new Map([[new URL(link).origin, Promise.resolve(true)]]);

  const ask = async (url: string): Promise<boolean> => {
    try {
      discard(await egress.request(url, { headers: { range: 'bytes=0-0' }, identity, signal, maxRedirects: 0 }));
      return true;
    } catch (error) {
      // Whatever else goes wrong here says nothing of the address.
      return !(error instanceof EgressRefused);
    }
  };

  return (url) => {
    const { hostname, origin } = new URL(url);
    if (!SUSPICIOUS.test(hostname)) return Promise.resolve(true);
    const asked = known.get(origin) ?? ask(url);
    known.set(origin, asked);
    return asked;
  };
}
