import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type BundledFunction, FunctionFailed } from './bundled-function.ts';

const PATH = /^\/2015-03-31\/functions\/([^/]+)\/invocations/;

/** Lambda's Invoke API over functions of this machine, as their SDK speaks it. */
export async function startInvokeApi(find: (name: string) => BundledFunction | undefined) {
  const server = createServer(async (request, response) => {
    const [, name = ''] = PATH.exec(request.url ?? '') ?? [];
    const called = find(decodeURIComponent(name));
    const event = JSON.parse((await text(request)) || '{}');
    if (!called) return response.writeHead(404).end('{}');
    const answer = called.invoke(event);
    if (request.headers['x-amz-invocation-type'] === 'Event') {
      answer.catch(() => undefined); // nobody waits for it
      return response.writeHead(202).end();
    }
    try {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(await answer));
    } catch (error) {
      const failure = error instanceof FunctionFailed ? error.failure : { errorMessage: String(error) };
      response.writeHead(200, { 'x-amz-function-error': 'Unhandled' }).end(JSON.stringify(failure));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
