import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { type Gateway, isStreamPath } from '../../local/service/gateway.ts';
import { listen } from '../support/listen.ts';

/** One port for both hosts, like CloudFront: forwards paths and headers unchanged, and truncated bodies as truncated. */
export async function startFront(gateway: Gateway, streamPort: number) {
  const server = createServer((incoming, response) => {
    if (isStreamPath(incoming.url ?? '')) passOn(incoming, response, streamPort);
    else gateway(incoming, response);
  });
  const { url, close } = await listen(server);
  return { baseUrl: url, close };
}

function passOn(incoming: IncomingMessage, response: ServerResponse, port: number): void {
  const { method, url, headers } = incoming;
  const upstream = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false });
  upstream.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    // Either side's disconnect ends the other.
    pipeline(answer, response, () => upstream.destroy());
  });
  upstream.on('error', () => response.destroy());
  response.on('close', () => upstream.destroy());
  pipeline(incoming, upstream, () => undefined);
}
