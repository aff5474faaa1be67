import { networkInterfaces } from 'node:os';
import type { Settings } from '../../core/config/index.ts';
import { addBrackets, isLoopback } from './request-authority.ts';

interface ReachableUrlOptions extends Pick<Settings, 'publicUrl' | 'allowedHosts' | 'port' | 'basePath'> {
  /** The address that the service listens on. */
  readonly host: string;
}

/**
 * The base URL by which other devices reach the service: `PUBLIC_URL`, else that of an address in the network which it listens
 * on and answers. Undefined without one.
 */
export function reachableUrl(
  { publicUrl, allowedHosts, host, port, basePath }: ReachableUrlOptions,
  interfaces = networkInterfaces(),
): string | undefined {
  if (publicUrl) return publicUrl;
  const address = host === '0.0.0.0' || host === '::' ? networkAddress(interfaces) : host;
  if (!address || isLoopback(address)) return undefined;
  if (allowedHosts.length > 0 && !allowedHosts.includes(address)) return undefined;
  return `http://${addBrackets(address)}:${port}${basePath}`;
}

/** The first address of this machine in a network, of IPv4: devices type it, and it has no zone. */
const networkAddress = (interfaces: ReturnType<typeof networkInterfaces>): string | undefined =>
  Object.values(interfaces)
    .flatMap((addresses = []) => addresses)
    .find(({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))
    ?.address;
