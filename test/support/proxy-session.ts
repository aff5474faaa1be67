import { createEgress } from '../../core/egress/create-egress.ts';

/** A proxy session of a separate egress that admits `host`, a `host:port` on loopback. */
export async function openTestProxySession(host: string) {
  const egress = createEgress({ allow: [host] });
  const { proxyUrl } = await egress.openProxySession({});
  return { proxyUrl, close: () => egress.close() };
}
