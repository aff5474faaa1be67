import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { matchesEntityTag } from '@reelay/seekable-media/http';
import { problemPages, problems, SECURITY_TEXT_PATH, securityText } from '../../core/api/index.ts';
import { messageOf } from '../../core/errors/index.ts';
import { entityTag } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import headers from '../../web/security-headers.json' with { type: 'json' };
import { answerProblem } from './exchange.ts';
import { basePathOf, isIngress } from './proxies.ts';

/**
 * The web page on one machine. sirv and @fastify/static read folders that are complete: this one answers while the page is built, below
 * the path that a proxy names, and changes links of its page for missing ones.
 */
export interface PageServer {
  /** True when a request is the page's to answer, whether there is such a page or not. */
  owns(request: IncomingMessage): boolean;
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Settles once the page is built, or its build has failed. */
  readonly ready: Promise<void>;
}

export interface PageServerOptions {
  /** The folder with the built page, once it is built. Rejects with one line that says why not. */
  readonly built: Promise<string>;
  /** URIs at which to report vulnerabilities, for `/.well-known/security.txt`. @default none */
  readonly securityContacts?: readonly string[];
  readonly log: Log;
}

type Files = ReadonlyMap<string, PageFile>;

/** Home Assistant shows the page in a frame of its own origin. */
const FRAMED = {
  ...headers,
  'Content-Security-Policy': headers['Content-Security-Policy'].replace(
    "frame-ancestors 'none'",
    "frame-ancestors 'self'",
  ),
  'X-Frame-Options': 'SAMEORIGIN',
};
/** Sent with status 404, never at its own path. */
const NOT_FOUND = '/not-found';
const RETRY_SECONDS = 2;
/** Also a file of the page, once it is built. */
const NOTICE_STYLE = '/problems.css';

/** Serves the page from memory when it has been built; until then a notice with 503. */
export function createPageServer({ built, securityContacts = [], log }: PageServerOptions): PageServer {
  let files: Files | undefined;
  let hasFailed = false;
  const ready = built.then(loadPageFiles).then(
    (loaded) => {
      files = loaded;
    },
    (error: unknown) => {
      hasFailed = true;
      // Aborted at shutdown.
      if (error instanceof Error && error.name === 'AbortError') return;
      log.error(messageOf(error));
    },
  );
  return {
    ready,
    owns: ({ url = '' }) => isPagePath(url),
    handle(request, response) {
      // No page reads a body: it is discarded.
      request.resume();
      const path = pathOf(request.url ?? '/') ?? '';
      const policies = isIngress(request) ? FRAMED : headers;
      for (const [name, value] of Object.entries(policies)) response.setHeader(name, value);
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.shouldKeepAlive = false;
        return answerProblem({ request, response }, problems.methodNotAllowed('GET, HEAD'));
      }
      if (path === SECURITY_TEXT_PATH && securityContacts.length > 0)
        return sendSecurityText(response, securityContacts);
      if (!files && path === NOTICE_STYLE) return void sendNoticeStyle(response);
      if (!files) return sendNotice(request, response, hasFailed ? FAILED : BUILDING);
      const found = path === NOT_FOUND ? undefined : files.get(path);
      const missing = files.get(NOT_FOUND);
      if (found) sendFile(request, response, found);
      else if (missing) sendMissing(request, response, missing);
      else sendNotice(request, response, MISSING);
    },
  };
}

/** The decoded path of a request target; undefined when it has none. */
function pathOf(target: string): string | undefined {
  const [raw = ''] = target.split('?', 1);
  if (!raw.startsWith('/')) return undefined;
  try {
    return decodeURIComponent(raw);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** Every path but those of the API, of MCP and of Swagger, in any spelling: unknown ones are answered by the API. */
function isPagePath(target: string): boolean {
  const path = pathOf(target);
  return path !== undefined && !/^[/\\]+(?:(?:api|mcp)(?:[/\\]|$)|swagger)/i.test(path);
}

function sendFile(request: IncomingMessage, response: ServerResponse, file: PageFile): void {
  const [coding, { body, etag }] = encodingFor(file, request.headers['accept-encoding']);
  // The policies depend on a header.
  const isShared = !isIngress(request);
  response.setHeader(
    'cache-control',
    isShared ? file.cacheControl : file.cacheControl.replace(/^(?:public, )?/, 'private, '),
  );
  response.setHeader('etag', etag);
  if (file.encoded.size > 0) response.setHeader('vary', 'Accept-Encoding');
  if (matchesEntityTag(request.headers['if-none-match'], etag)) response.writeHead(304).end();
  else sendBody(response, { type: file.type, coding, body });
}

function sendSecurityText(response: ServerResponse, contacts: readonly string[]): void {
  response.setHeader('cache-control', 'no-cache');
  sendBody(response, { type: 'text/plain; charset=utf-8', body: Buffer.from(securityText(contacts)) });
}

function sendMissing(request: IncomingMessage, response: ServerResponse, file: PageFile): void {
  const base = basePathOf(request);
  const [coding, { body }] = encodingFor(file, base ? 'identity' : request.headers['accept-encoding']);
  response.setHeader('cache-control', 'no-store');
  response.setHeader('vary', 'Accept-Encoding');
  // At any depth, its links begin at the root.
  const linked = base ? Buffer.from(body.toString().replaceAll('="/', `="${base}/`)) : body;
  sendBody(response, { status: 404, type: file.type, coding, body: linked });
}

interface Body {
  readonly type: string;
  readonly body: Buffer;
  readonly coding?: string | undefined;
  /** @default 200 */
  readonly status?: number;
}

function sendBody(response: ServerResponse, { status = 200, type, coding, body }: Body): void {
  if (coding) response.setHeader('content-encoding', coding);
  // Node omits the body of responses to HEAD.
  response.writeHead(status, { 'content-type': type, 'content-length': body.length }).end(body);
}

/** The first encoding that the client accepts (RFC 9110 §12.5.3), those with weight 0 excluded. */
function encodingFor(file: PageFile, accept = ''): [coding: string | undefined, form: Encoded] {
  const accepted = accept
    .toLowerCase()
    .split(',', 32)
    .filter((part) => !/;\s*q=0(?:\.0*)?\s*$/.test(part))
    .map((part) => part.split(';', 1)[0]?.trim());
  for (const [coding, form] of file.encoded) if (accepted.includes(coding)) return [coding, form];
  return [undefined, file.plain];
}

interface Notice {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

const BUILDING: Notice = { status: 503, title: 'One moment', text: 'The page is being built. It opens by itself.' };
const FAILED: Notice = {
  status: 503,
  title: 'No page',
  text: 'Building the page failed: the log says why. The API works.',
};
const MISSING: Notice = { status: 404, title: 'Page not found', text: 'There is no page at this address.' };

function sendNotice(request: IncomingMessage, response: ServerResponse, { status, title, text }: Notice): void {
  const refresh = status === 503 ? `<meta http-equiv="refresh" content="${RETRY_SECONDS}">` : '';
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><link rel="stylesheet" href="${basePathOf(request)}${NOTICE_STYLE}">${refresh}<title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p></main></body></html>`;
  response.setHeader('cache-control', 'no-store');
  if (status === 503) response.setHeader('retry-after', RETRY_SECONDS);
  sendBody(response, { status, type: 'text/html; charset=utf-8', body: Buffer.from(html) });
}

/** Reads the style from the sources of the page, which are there where the page is being built. */
async function sendNoticeStyle(response: ServerResponse): Promise<void> {
  const file = new URL(`../../web/public${NOTICE_STYLE}`, import.meta.url);
  const body = await readFile(file).catch(() => Buffer.of());
  response.setHeader('cache-control', 'no-store');
  sendBody(response, { type: 'text/css; charset=utf-8', body });
}

/** One file of the page, in every form that it is sent in. */
interface PageFile {
  readonly type: string;
  readonly cacheControl: string;
  readonly plain: Encoded;
  /** By content coding, the preferred first; none where compressing gains nothing. */
  readonly encoded: ReadonlyMap<string, Encoded>;
}

interface Encoded {
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
      return [urlPathOf(name), await toPageFile(body, `/${name}`)];
    }),
  );
  const problems = problemPages().map(
    async ({ path, html }): Promise<[string, PageFile]> => [path, await toPageFile(Buffer.from(html), `${path}.html`)],
  );
  return new Map([...files, ...(await Promise.all(problems))]);
}

const urlPathOf = (name: string): string => (name === 'index.html' ? '/' : `/${name.replace(/\.html$/, '')}`);

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
