import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { EgressRefused, UpstreamError } from '../../errors/index.ts';
import { type AddressGuard, bareHost, type Destination, isLiteral } from './address-guard.ts';
import { openSocket } from './open-socket.ts';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Every address of a name. Rejects with a `code` as `dns.lookup` does. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** Opens connections to what the guard admits, at the very addresses that it judged. */
export interface Dialer {
  /**
   * The addresses of a destination that may be connected to, never none.
   * @throws EgressRefused when the guard admits none or the name has none
   * @throws UpstreamError when the resolver does not answer
   */
  resolve(destination: Destination): Promise<readonly ResolvedAddress[]>;
  /**
   * A TCP connection, open.
   * @throws EgressRefused, UpstreamError
   */
  connect(destination: Destination): Promise<Socket>;
}

export interface DialerOptions {
  readonly guard: AddressGuard;
  /** @default the system's resolver */
  readonly lookup?: Lookup;
  /** Milliseconds for the look-up, and again for the connection. @default 10_000 */
  readonly timeoutMs?: number;
}

/** Codes with which a resolver says that there is no such name, rather than that it could not find out. */
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA', 'EINVAL', 'ERR_INVALID_ARG_VALUE']);

export function createDialer({ guard, lookup = lookupAll, timeoutMs: timeout = 10_000 }: DialerOptions): Dialer {
  const resolve = async (destination: Destination) => {
    const host = bareHost(destination.hostname);
    if (!guard.admitsHost(destination)) throw new EgressRefused('The host is not on the public internet');
    const all = isLiteral(host)
      ? [{ address: host, family: isIP(host) }]
      : await within(timeout, lookup(host)).catch((cause: unknown) => {
          if (NO_SUCH_NAME.has(codeOf(cause))) throw new EgressRefused('The name has no address', { cause });
          throw new UpstreamError('The name could not be looked up', { cause });
        });
    const admitted = all.filter(({ address }) => guard.admitsAddress(address, destination));
    if (admitted.length === 0) throw new EgressRefused('The name has no address on the public internet');
    return admitted;
  };

  const connect = async (destination: Destination) => {
    const addresses = await resolve(destination);
    return openSocket(
      { host: bareHost(destination.hostname), port: destination.port, lookup: pinnedLookup(addresses) },
      timeout,
    );
  };

  return { resolve, connect };
}

/** A look-up that gives the addresses already judged: what is connected to is what was checked. */
export const pinnedLookup =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_hostname, { all }, callback) => {
    if (all) return callback(null, [...addresses]);
    const [first] = addresses;
    callback(null, first?.address ?? '', first?.family);
  };

const lookupAll: Lookup = (hostname) => systemLookup(hostname, { all: true });

function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(new Error('look-up timed out')), milliseconds);
  work.then(resolve, reject);
  return promise.finally(() => clearTimeout(timer));
}

const codeOf = (error: unknown) => String((error as NodeJS.ErrnoException | undefined)?.code);
