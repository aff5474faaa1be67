import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { type AddressGuard, bareHost, type Destination, isLiteral } from './address-guard.ts';
import { EgressRefused, UpstreamError } from './errors.ts';
import { openSocket } from './socket.ts';

/** An address of a host; `family` is 4 or 6. */
interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a name to all its addresses. Rejects with a `code` as `dns.lookup` does. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** Opens connections to the addresses that the guard has admitted, without a second lookup in between. */
export interface Dialer {
  /**
   * The admitted addresses of a destination, at least one.
   * @throws EgressRefused if the guard admits none or the name has none
   * @throws UpstreamError if the lookup fails
   */
  resolve(destination: Destination): Promise<readonly ResolvedAddress[]>;
  /**
   * Opens a TCP connection.
   * @param sourceAddress to connect from, where the destination has an address of its family
   * @throws EgressRefused, UpstreamError
   */
  connect(destination: Destination, sourceAddress?: string): Promise<Socket>;
}

/** Options of `createDialer`. */
interface DialerOptions {
  readonly guard: AddressGuard;
  /** @default the system's resolver */
  readonly lookup?: Lookup | undefined;
  /** For the lookup, and again for the connection. @default 10_000 */
  readonly timeoutMs?: number | undefined;
}

/** Error codes for a name that does not exist. Any other code is a failed lookup. */
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA', 'EINVAL', 'ERR_INVALID_ARG_VALUE']);

/** Creates a dialer that connects only to addresses that the guard admits. */
export function createDialer({ guard, lookup = lookupAll, timeoutMs = 10_000 }: DialerOptions): Dialer {
  const resolve = async (destination: Destination) => {
    const host = bareHost(destination.hostname);
    if (!guard.admitsHost(destination)) {
      const reason = isLiteral(host) ? 'private-address' : 'unknown-host';
      throw new EgressRefused('Host is not on the public internet', { reason });
    }
    const all = isLiteral(host)
      ? [{ address: host, family: isIP(host) }]
      : await withTimeout(timeoutMs, lookup(host)).catch((cause: unknown) => {
          if (NO_SUCH_NAME.has(codeOf(cause))) throw new EgressRefused('Host name has no address', { cause });
          throw new UpstreamError('DNS lookup failed', { cause });
        });
    const admitted = all.filter(({ address }) => guard.admitsAddress(address, destination));
    if (admitted.length === 0) throw new EgressRefused('Host name has no address on the public internet');
    return admitted;
  };

  const connect = async (destination: Destination, sourceAddress?: string) => {
    const all = await resolve(destination);
    const sameFamily = sourceAddress ? all.filter(({ family }) => family === isIP(sourceAddress)) : [];
    const isBound = sameFamily.length > 0;
    return openSocket(
      {
        host: bareHost(destination.hostname),
        port: destination.port,
        lookup: pinnedLookup(isBound ? sameFamily : all),
        ...(isBound && { localAddress: sourceAddress }),
      },
      timeoutMs,
    );
  };

  return { resolve, connect };
}

/** A lookup function that returns addresses already checked, which prevents DNS rebinding between check and connection. */
export const pinnedLookup =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    if (all) return callback(null, [...addresses]);
    const [first] = addresses;
    callback(null, first?.address ?? '', first?.family);
  };

const lookupAll: Lookup = (hostname) => systemLookup(hostname, { all: true });

function withTimeout<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(new Error('DNS lookup timed out')), timeoutMs);
  work.then(resolve, reject);
  return promise.finally(() => clearTimeout(timer));
}

const codeOf = (error: unknown) => String((error as NodeJS.ErrnoException | undefined)?.code);
