import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { createMessage, generateKey, readPrivateKey, sign } from 'openpgp';
import { listen } from '../support/listen.ts';

/** Releases as GitHub serves them, signed by a test key. */
export interface ReleasePages {
  /** `host:port`, for the `allow` of an egress. */
  readonly host: string;
  readonly url: string;
  /** Armored. */
  readonly key: string;
  /** By tag and name: `2026.11.20/SHA2-256SUMS`. `cut`: truncated. `stall`: no byte is sent. */
  readonly files: Map<string, Buffer | 'stall' | { readonly cut: Buffer }>;
  /** The target of the `latest` redirect; undefined: no response. */
  latest: string | undefined;
  /** Number of requests for a file. */
  downloads(name: string): number;
  /** Publishes a release as the newest one. */
  publish(tag: string, asset: string, archive: Buffer, signer?: 'own' | 'stranger'): Promise<void>;
  close(): Promise<void>;
}

const KEYS = {
  own: await generateKey({ userIDs: [{ name: 'Tests' }] }),
  stranger: await generateKey({ userIDs: [{ name: 'Another signer' }] }),
};

export async function startReleasePages(): Promise<ReleasePages> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const file = pages.files.get(path.replace('/download/', ''));
    if (path === '/latest' && pages.latest) response.writeHead(302, { location: pages.latest }).end();
    else if (path === '/latest') response.destroy();
    else if (path.startsWith('/tag/')) response.end('<html>');
    else if (file === 'stall') response.writeHead(200).flushHeaders();
    else if (file && 'cut' in file) {
      response.writeHead(200, { 'content-length': file.cut.length });
      response.write(file.cut.subarray(0, file.cut.length / 2), () => response.destroy());
    } else if (file) response.writeHead(200, { 'content-length': file.length }).end(file);
    else response.writeHead(404).end();
  });
  const { host, url, close } = await listen(server);
  const pages: ReleasePages = {
    host,
    url,
    key: KEYS.own.publicKey,
    files: new Map(),
    latest: undefined,
    downloads: (name) => asked.filter((path) => path.endsWith(`/${name}`)).length,
    async publish(tag, asset, archive, signer = 'own') {
      const list = Buffer.from(`${createHash('sha256').update(archive).digest('hex')}  ${asset}\n`);
      const signingKeys = await readPrivateKey({ armoredKey: KEYS[signer].privateKey });
      const message = await createMessage({ binary: list });
      const signature = await sign({ message, signingKeys, detached: true, format: 'binary' });
      pages.latest = `/tag/${tag}`;
      pages.files.set(`${tag}/SHA2-256SUMS`, list);
      pages.files.set(`${tag}/SHA2-256SUMS.sig`, Buffer.from(signature as Uint8Array));
      pages.files.set(`${tag}/${asset}`, archive);
    },
    close,
  };
  return pages;
}
