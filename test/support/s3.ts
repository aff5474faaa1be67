import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { listen } from './listen.ts';

/** The part of S3 that reads objects, on loopback. */
export type ObjectStore = Awaited<ReturnType<typeof startObjectStore>>;

export async function startObjectStore() {
  /** By `bucket/key`. */
  const objects = new Map<string, Buffer | string>();
  /** `status bucket/key` of each response. */
  const answers: string[] = [];
  const server = createServer((request, response) => {
    const name = decodeURIComponent(new URL(request.url ?? '/', 'http://s3').pathname.slice(1));
    const content = objects.get(name);
    const etag = `"${createHash('md5')
      .update(content ?? '')
      .digest('hex')}"`;
    const status = content === undefined ? 404 : request.headers['if-none-match'] === etag ? 304 : 200;
    answers.push(`${status} ${name}`);
    if (status === 404) {
      const error = '<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>';
      response.writeHead(404, { 'content-type': 'application/xml' }).end(error);
    } else if (status === 304) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { etag, 'content-length': Buffer.byteLength(content ?? '') }).end(content);
  });
  const { url, close } = await listen(server);
  return { endpoint: url, objects, answers, close };
}
