import { createEgress } from './create-egress.ts';

/**
 * Opens a forward proxy that admits one server on this machine besides the public internet, for smoke tests of a program
 * before it is trusted. The proxy has an egress of its own, which `close` ends.
 * @param host `host:port`
 */
export async function openLoopbackProxy(host: string): Promise<{ readonly proxyUrl: string; close(): Promise<void> }> {
  const egress = createEgress({ allow: [host] });
  const { proxyUrl } = await egress.openProxySession({});
  return { proxyUrl, close: egress.close };
}
