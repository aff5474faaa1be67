import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { connect } from 'node:tls';

/** How a client asks a proxy. */
interface Way {
  /** By CONNECT. @default for https alone */
  readonly isTunnelled?: boolean;
  /** For the proxy. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a client asks a proxy for an http URL. */
export const REQUEST_METHODS: [how: string, way: Way][] = [
  ['by absolute URL', {}],
  ['by CONNECT', { isTunnelled: true }],
];

interface Received {
  readonly isComplete: boolean;
  /** Head and body; the head of the proxy's answer alone where it opens no tunnel. */
  readonly output: string;
}

/** Requests a URL, as it is spelled, through a proxy, as a child process does that knows nothing else. */
export async function requestThrough(
  proxyUrl: string,
  url: string,
  { isTunnelled = url.startsWith('https:'), headers = {} }: Way = {},
): Promise<Received> {
  const { hostname, port, username, password } = new URL(proxyUrl);
  const [, host = '', path] = /^https?:\/\/([^/]+)(.*)$/.exec(url) ?? [];
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const toProxy = {
    hostname,
    port,
    agent: false,
    headers: { ...headers, ...(username && { 'proxy-authorization': `Basic ${credentials}` }) },
  };
  const toHost = { host, 'user-agent': 'test' };
  if (!isTunnelled) return receive(request({ ...toProxy, path: url, headers: { ...toProxy.headers, ...toHost } }));
  const target = /:\d+$/.test(host) ? host : `${host}:80`;
  const asked = request({ ...toProxy, method: 'CONNECT', path: target }).end();
  const answered: unknown[] = await once(asked, 'connect').catch(() => []);
  const [answer, socket] = answered as [IncomingMessage?, Socket?];
  if (answer?.statusCode !== 200 || !socket) {
    socket?.destroy();
    return { isComplete: false, output: answer ? headOf(answer) : '' };
  }
  const connection = url.startsWith('https:') ? connect({ socket, rejectUnauthorized: false }) : socket;
  return receive(request({ createConnection: () => connection, path, headers: toHost }));
}

async function receive(sent: ClientRequest): Promise<Received> {
  let output = '';
  try {
    const [response] = (await once(sent.end(), 'response')) as [IncomingMessage];
    output = headOf(response);
    for await (const chunk of response) output += chunk;
    return { isComplete: true, output };
  } catch {
    return { isComplete: false, output };
  }
}

const headOf = ({ statusCode, statusMessage, headers }: IncomingMessage): string =>
  [`HTTP/1.1 ${statusCode} ${statusMessage}`, ...Object.entries(headers).map((field) => field.join(': ')), '', ''].join(
    '\r\n',
  );
