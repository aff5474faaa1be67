import { createEgress } from './create-egress.ts';

/**
 * A way out for a child process that admits one server of this machine, and nothing else of it: for who tries a program
 * before it is trusted. It is an egress of its own, and ends with its lease.
 * @param host `host:port`
 */
export async function openLoopbackProxy(host: string): Promise<{ readonly proxyUrl: string; close(): Promise<void> }> {
  const egress = createEgress({ allow: [host] });
  const { proxyUrl } = await egress.openProxySession({});
  return { proxyUrl, close: egress.close };
}
