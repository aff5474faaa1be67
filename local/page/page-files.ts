import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { problemPages } from '../../core/api/index.ts';
import { entityTag } from '../../core/http/index.ts';

/** One file of the page, in every form that it is sent in. */
export interface PageFile {
  readonly type: string;
  readonly cacheControl: string;
  readonly plain: Encoded;
  /** By content coding, the preferred first; none where compressing gains nothing. */
  readonly encoded: ReadonlyMap<string, Encoded>;
}

export interface Encoded {
  readonly body: Buffer;
  readonly etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};
const COMPRESSIBLE = /^(?:text\/|application\/|image\/svg)/;
/** The best compression of a larger file, the player of lists, takes two seconds of each start for 8 % of its size. */
const MAX_BEST_BYTES = 128 * 1024;
/** File names contain a hash of the content. */
const HASHED = /^\/assets\//;

/**
 * Loads every file of a folder, and the pages of problems, by URL path: `/x.html` is `/x`, and `/index.html` is `/`. In memory, because the page is
 * small and a later build may replace the folder.
 */
export async function loadPageFiles(dir: string): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ parentPath, name }) => relative(dir, join(parentPath, name)).split(sep).join('/'));
  const files = await Promise.all(
    names.map(async (name): Promise<[string, PageFile]> => {
      const body = await readFile(join(dir, name));
      return [pathOf(name), await toPageFile(body, `/${name}`)];
    }),
  );
  const problems = problemPages().map(
    async ({ path, html }): Promise<[string, PageFile]> => [path, await toPageFile(Buffer.from(html), `${path}.html`)],
  );
  return new Map([...files, ...(await Promise.all(problems))]);
}

const pathOf = (name: string): string => (name === 'index.html' ? '/' : `/${name.replace(/\.html$/, '')}`);

async function toPageFile(body: Buffer, path: string): Promise<PageFile> {
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  const quality = body.length > MAX_BEST_BYTES ? 9 : constants.BROTLI_MAX_QUALITY;
  const forms: [string, Buffer][] = COMPRESSIBLE.test(type)
    ? [
        ['br', await promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })],
        ['gzip', await promisify(gzip)(body, { level: 9 })],
      ]
    : [];
  const smaller = forms.filter(([, bytes]) => bytes.length < body.length);
  return {
    type,
    cacheControl: HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
    plain: { body, etag: entityTag(body) },
    encoded: new Map(smaller.map(([coding, bytes]) => [coding, { body: bytes, etag: entityTag(bytes) }])),
  };
}
