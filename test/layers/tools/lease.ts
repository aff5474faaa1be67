import { createEgress } from '../../../core/egress/create-egress.ts';

/** A lease of an egress of its own that admits one address on loopback. */
export async function leaseFor(host: string) {
  const egress = createEgress({ allow: [host] });
  const { proxyUrl } = await egress.openProxySession({});
  return { proxyUrl, close: () => egress.close() };
}
