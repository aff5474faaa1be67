import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';

/** Requests to S3 pass it, so that a test sees and disturbs them. */
export interface S3Gateway {
  readonly endpoint: string;
  readonly host: string;
  /** `PUT 2`, `POST uploads`, …: the method, and the part or what the query begins with. */
  readonly calls: string[];
  /** Called with each request before its body is read; what it answers itself is not passed on. */
  intercept: (call: string, response: ServerResponse) => Promise<void> | void;
  /** Called once the storage has answered a request, before its answer is passed on. */
  answered: (call: string) => Promise<void> | void;
}

const nameOf = ({ method, url = '' }: IncomingMessage): string => {
  const query = new URL(url, 'http://s3').searchParams;
  const [first = ''] = query.keys();
  return `${method} ${query.get('partNumber') ?? first}`.trim();
};

/** @param target of the requests, once the first one arrives */
export async function startS3Gateway(target: () => string): Promise<S3Gateway> {
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    const call = nameOf(request);
    calls.push(call);
    await gateway.intercept(call, response);
    if (response.writableEnded || response.destroyed) return;
    const body = await buffer(request).catch(() => undefined);
    if (!body) return;
    const { 'content-length': _, connection: __, ...headers } = request.headers as Record<string, string>;
    const answer = await fetch(target() + request.url, {
      method: request.method ?? 'GET',
      headers,
      ...(body.length > 0 && { body }),
    });
    const sent = Buffer.from(await answer.arrayBuffer());
    await gateway.answered(call);
    const kept = ['etag', 'content-type', 'x-amz-checksum-sha256'].flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    const length = request.method === 'HEAD' ? (answer.headers.get('content-length') ?? '0') : String(sent.length);
    response.writeHead(answer.status, { ...Object.fromEntries(kept), 'content-length': length }).end(sent);
  });
  const { host } = closeAfterwards(await listen(server));
  const gateway: S3Gateway = {
    endpoint: `http://${host}`,
    host,
    calls,
    intercept: () => undefined,
    answered: () => undefined,
  };
  return gateway;
}
