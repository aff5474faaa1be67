import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../support/listen.ts';
import { type BundledFunction, FunctionFailed } from './bundled-function.ts';

/** An error of Lambda instead of an invocation; thrown by `invoke`. */
export class InvokeRefused extends Error {
  override readonly name = 'InvokeRefused';
  readonly status: number;
  /** Error code in the SDK: `TooManyRequestsException`, … */
  readonly type: string;

  constructor(status: number, type: string) {
    super(type);
    this.status = status;
    this.type = type;
  }
}

interface InvokeApi {
  readonly endpoint: string;
  close(): Promise<void>;
}

const PATH = /^\/2015-03-31\/functions\/([^/]+)\/invocations/;

/** Lambda's Invoke API for functions on this machine. */
export async function startInvokeApi(
  find: (name: string) => Pick<BundledFunction, 'invoke'> | undefined,
): Promise<InvokeApi> {
  const server = createServer(async (request, response) => {
    const refuse = ({ status, type }: InvokeRefused) =>
      response.writeHead(status, { 'x-amzn-errortype': type }).end(JSON.stringify({ Message: type }));
    const [, name = ''] = PATH.exec(request.url ?? '') ?? [];
    // A version may follow the name: every version is the same bundle.
    const called = find(decodeURIComponent(name).split(':')[0] ?? '');
    const event = JSON.parse((await text(request)) || '{}');
    if (!called) return refuse(new InvokeRefused(404, 'ResourceNotFoundException'));
    const answer = called.invoke(event);
    if (request.headers['x-amz-invocation-type'] === 'Event') {
      answer.catch(() => undefined); // avoids an unhandled rejection
      return response.writeHead(202).end();
    }
    try {
      const body = JSON.stringify((await answer) ?? null);
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    } catch (error) {
      if (error instanceof InvokeRefused) return refuse(error);
      const failure = error instanceof FunctionFailed ? error.failure : { errorMessage: String(error) };
      response.writeHead(200, { 'x-amz-function-error': 'Unhandled' }).end(JSON.stringify(failure));
    }
  });
  const { url, close } = await listen(server);
  return { endpoint: url, close };
}
