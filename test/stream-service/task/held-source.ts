import { createServer } from 'node:http';
import { writeFileHead } from '../../origin/respond.ts';
import { listen } from '../../support/listen.ts';

const BLOCK = Buffer.from(Array.from({ length: 1024 }, (_, index) => index % 251));

/** A web server with one file, whose body pauses at an offset until `release`. */
export interface HeldSource {
  readonly url: string;
  /** `host:port`, the format of EGRESS_ALLOW. */
  readonly host: string;
  readonly content: Buffer;
  /** Sends all there is, from now on. */
  release(): void;
  close(): Promise<void>;
}

export async function startHeldSource(bytes = 4 * 2 ** 20, heldAt = 2 ** 20): Promise<HeldSource> {
  const content = Buffer.concat(
    Array.from({ length: Math.ceil(bytes / BLOCK.length) }, () => BLOCK),
    bytes,
  );
  const released = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    if (request.url === '/expired') return void response.writeHead(403).end();
    const range = writeFileHead(request, response, bytes, { 'content-type': 'video/mp4', etag: '"held"' });
    if (!range) return;
    const { first, last } = range;
    response.write(content.subarray(first, Math.min(heldAt, last + 1)));
    if (last < heldAt) return void response.end();
    await released.promise;
    response.end(content.subarray(Math.max(first, heldAt), last + 1));
  });
  const { url, host, close } = await listen(server);
  return {
    url: `${url}/file.mp4`,
    host,
    content,
    release: () => released.resolve(),
    close() {
      released.resolve();
      return close();
    },
  };
}
