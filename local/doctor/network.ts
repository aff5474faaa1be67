import type { Settings } from '../../core/config/index.ts';
import { createEgress } from '../../core/egress/index.ts';
import { messageOf } from '../../core/errors/index.ts';
import { isLoopback } from '../gateway/index.ts';
import { type Finding, findingsOn } from './finding.ts';

/** Asked once for each outgoing connection; only that it answers is used. */
const REFERENCE_URL = 'https://example.com/';
const TIMEOUT_MS = 10_000;

/** Who can reach the service. */
export function checkExposure(settings: Settings): Finding {
  const { ok, warning } = findingsOn('Exposure');
  const { host, trustedProxies } = settings;
  const isPrivate = settings.accessKeys.length + settings.accessKeysFile.length > 0;
  if (isLoopback(host)) return ok(`${host}: programs of this machine only`);
  if (isPrivate) return ok(`${host}: clients with an access key`);
  if (trustedProxies > 0) return ok(`${host}: behind ${trustedProxies} trusted proxies, which must limit rates`);
  return warning(
    `every client that reaches ${host} can use this instance: set ACCESS_KEYS, or use a proxy with rate limits`,
  );
}

/** One way out of this machine. */
interface Way {
  readonly name: string;
  readonly options: Partial<Pick<Settings, 'outgoingProxies' | 'sourceAddresses'>>;
  readonly advice: string;
}

/** Each outgoing connection: by each proxy and source address, or direct. */
export async function checkOutgoing(settings: Settings, url = REFERENCE_URL): Promise<Finding[]> {
  const { ok, problem } = findingsOn('Outgoing');
  const { outgoingProxies, sourceAddresses } = settings;
  const ways: Way[] = [
    ...outgoingProxies.map((proxy, index) => ({
      name: `by outgoing proxy ${index + 1}`,
      options: { outgoingProxies: [proxy] },
      advice: 'check OUTGOING_PROXIES',
    })),
    ...sourceAddresses.map((address) => ({
      name: `from ${address}`,
      options: { sourceAddresses: [address] },
      advice: `check SOURCE_ADDRESSES, and that ${address} is of this machine: see docs/operating-one-machine.md`,
    })),
  ];
  if (ways.length === 0) ways.push({ name: 'directly', options: {}, advice: 'check DNS and the firewall' });
  const { host } = new URL(url);
  return Promise.all(
    ways.map(async ({ name, options, advice }) => {
      const error = await ask(settings, url, options);
      return error ? problem(`${host} does not answer ${name} (${error}): ${advice}`) : ok(`${host} answers ${name}`);
    }),
  );
}

/** @returns why it does not answer; undefined: it does */
async function ask({ egressAllow, extraCaFile }: Settings, url: string, options: Way['options']) {
  const egress = createEgress({ allow: egressAllow, extraCaFile, ...options });
  try {
    const identity = egress.nextIdentity();
    const { body } = await egress.request(url, { identity, signal: AbortSignal.timeout(TIMEOUT_MS) });
    body.on('error', () => undefined).destroy();
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    await egress.close();
  }
}
