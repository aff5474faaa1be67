import type { IncomingMessage, ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import { type Problem, problems } from '../../core/api/index.ts';
import type { Settings } from '../../core/config/index.ts';
import { addBrackets, isLoopback } from '../process.ts';
import { answerProblem } from './exchange.ts';
import { withoutBasePath } from './proxies.ts';

/**
 * Prepares a request for routing: its target becomes a path, without the base path. A request for another host is answered here.
 * @returns false when the response has been sent
 */
type AcceptRequest = (request: IncomingMessage, response: ServerResponse) => boolean;

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
/** uri-host and port (RFC 9110 §7.2); names without wildcards, addresses of IPv6 in brackets. */
const AUTHORITY = /^(\[[\da-f:.]+\]|[^\s/?#@[\]:\\]+)(?::(\d{0,5}))?$/i;
/** Authority and path; the second group starts with its own character, so that no target is read twice. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)((?:[/?][^#]*)?)$/i;

/**
 * On a loopback address only known hosts are served: by DNS rebinding, a page of any site could otherwise have its own name
 * resolve to this machine, and read responses as if they were its own. On any other address, a list of hosts that is not empty
 * excludes others.
 */
export function createAcceptRequest({ host, allowedHosts }: Pick<Settings, 'host' | 'allowedHosts'>): AcceptRequest {
  const isOwn = isLoopback(host);
  const isChecked = isOwn || allowedHosts.length > 0;
  const names = [...LOOPBACK_NAMES, ...(isOwn ? [host] : []), ...allowedHosts];
  const served = new Set(names.map(addBrackets).map(lower));
  const isServed = (authority: string) => {
    const [, name = ''] = AUTHORITY.exec(authority) ?? [];
    return served.has(lower(name).replace(/\.$/, ''));
  };

  const check = (request: IncomingMessage): Problem | undefined => {
    const hosts = request.headersDistinct.host ?? [];
    // RFC 9112 §3.2: more than one Host, or an invalid one, is answered 400.
    if (hosts.length > 1 || (hosts[0] && !AUTHORITY.test(hosts[0]))) return problems.badRequest();
    const [, authority, path = ''] = ABSOLUTE_FORM.exec(request.url ?? '') ?? [];
    if (authority !== undefined) {
      if (!AUTHORITY.test(authority)) return problems.badRequest();
      // RFC 9112 §3.2.2: the target replaces the Host header.
      request.headers.host = authority;
      request.headersDistinct.host = [authority];
      request.url = path.startsWith('/') ? path : `/${path}`;
    }
    // HTTP/1.0 requires no Host; a browser always sends one.
    const requested = authority ?? hosts[0];
    return isChecked && requested && !isServed(requested) ? problems.misdirectedRequest() : undefined;
  };

  return (request, response) => {
    const problem = check(request);
    if (problem) answerProblem({ request, response }, problem, { connection: 'close' });
    const location = problem ? undefined : withoutBasePath(request);
    if (location !== undefined) response.writeHead(302, { location, 'content-length': 0 }).end();
    return !problem && location === undefined;
  };
}

const lower = (text: string): string => text.toLowerCase();

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
