import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import type { Settings } from '../../core/config/index.ts';
import { setHeader } from './exchange.ts';

type ProxyOptions = Pick<Settings, 'trustedProxies' | 'proxyAddresses' | 'userHeader' | 'basePath'>;

/** Reads what proxies in front say of a request, before anything else does. */
type ReadProxies = (request: IncomingMessage) => void;

/** The path below which Home Assistant shows the page. It is removed before the request arrives. */
const INGRESS = 'x-ingress-path';
const FORWARDED_FOR = 'x-forwarded-for';
const SAID_BY_PROXIES = [FORWARDED_FOR, 'x-forwarded-host', 'x-forwarded-proto', INGRESS];
/** A path. Two slashes at its start would name a host, and dot segments another application of that host. */
const PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+\/?$/;

const basePaths = new WeakMap<IncomingMessage, string>();

/** The path below which the client sees the service, without a slash at its end. */
export const basePathOf = (request: IncomingMessage): string => basePaths.get(request) ?? '';

/** Whether the page is shown within Home Assistant. */
export const isIngress = ({ headers }: IncomingMessage): boolean => headers[INGRESS] !== undefined;

/**
 * Headers of proxies are only read from the addresses of proxies. Where these are not listed they are read from any client, except
 * `X-Ingress-Path`, because proxies pass on headers that they do not know. The user whom a proxy has signed in takes the place of the
 * client's address, so that limits, admission and the log identify clients in one way.
 */
export function createReadProxies({ trustedProxies, proxyAddresses, userHeader, basePath }: ProxyOptions): ReadProxies {
  const listed = new BlockList();
  for (const item of proxyAddresses) {
    const [address = '', bits] = item.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    listed.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family);
  }
  const isListed = ({ socket: { remoteAddress = '' } }: IncomingMessage) =>
    trustedProxies > 0 && listed.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4');
  const isProxy = (request: IncomingMessage) =>
    trustedProxies > 0 && (proxyAddresses.length === 0 || isListed(request));

  return (request) => {
    if (!isProxy(request)) for (const name of SAID_BY_PROXIES) setHeader(request, name, undefined);
    const { headers, headersDistinct } = request;
    const ingress = headers[INGRESS]?.toString() ?? '';
    if (!isListed(request) || !PATH.test(ingress)) setHeader(request, INGRESS, undefined);
    basePaths.set(request, (isIngress(request) ? ingress : basePath).replace(/\/$/, ''));
    if (userHeader === undefined || !isProxy(request)) return;
    const [user, another] = headersDistinct[userHeader.toLowerCase()] ?? [];
    // With two values, the proxy has also passed on the one that the client sent.
    if (user && another === undefined) setHeader(request, FORWARDED_FOR, `user ${encodeURIComponent(user)}`);
  };
}

/** Removes the base path from the target of a request; undefined where it is already removed. @returns where to redirect to */
export function withoutBasePath(request: IncomingMessage): string | undefined {
  const base = basePathOf(request);
  const { url = '' } = request;
  if (base === '' || !url.startsWith(base)) return undefined;
  const rest = url.slice(base.length);
  if (rest.startsWith('/')) request.url = rest;
  // The page has relative links, which need the slash.
  return rest === '' || rest.startsWith('?') ? `/${rest}` : undefined;
}

const LINKS = ['location', 'content-location'];

/** Writes the links in headers as the client sees them: below the base path. */
export class LinkingResponse extends ServerResponse {
  override writeHead(status: number, ...more: readonly unknown[]): this {
    const sent = more.at(-1) as OutgoingHttpHeaders | undefined;
    const base = basePathOf(this.req);
    const link = (name: string): [string, OutgoingHttpHeader][] => {
      const path = sent?.[name] ?? this.getHeader(name);
      return typeof path === 'string' && path.startsWith('/') ? [[name, base + path]] : [];
    };
    return base === ''
      ? super.writeHead(status, ...(more as [OutgoingHttpHeaders]))
      : super.writeHead(status, { ...sent, ...Object.fromEntries(LINKS.flatMap(link)) });
  }
}
