/** One port of one host. */
interface HostPort {
  /** As in a URL: in lower case, IPv6 in brackets. */
  readonly hostname: string;
  readonly port: number;
}

/** A name, an IPv4 address, or an IPv6 address in brackets; no wildcards. */
const HOST_PORT = /^(\[[\da-f:.]+\]|[^\s*?#/\\@[\]:]+):(\d{1,5})$/i;

/** Parses `host:port`. Undefined when it is something else. */
export function parseHostPort(text: string): HostPort | undefined {
  const [host, port] = text.match(HOST_PORT)?.slice(1) ?? [];
  const url = host && URL.parse(`http://${host}/`);
  return url && Number(port) > 0 && Number(port) <= 65_535 ? { hostname: url.hostname, port: Number(port) } : undefined;
}
