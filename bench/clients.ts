import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { get, globalAgent, type IncomingMessage, type RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { seconds } from './figures.ts';
import type { Server } from './processes.ts';

const SAMPLE_INTERVAL_MS = 250;

/** Downloads a URL with curl. @returns bytes @throws Error when curl fails or the status is no success */
export async function take(url: string, file = '/dev/null'): Promise<number> {
  const args = ['-s', '-S', '--fail', '-o', file, '-w', '%{size_download}'];
  return Number((await promisify(execFile)('curl', [...args, url])).stdout);
}

/**
 * The same by several clients concurrently.
 * @returns bytes in all, how fast they came, in MB/s, and what the server has spent on them, in seconds of CPU a gigabyte
 */
export async function measureLoad(server: Server, url: string, clients = 1) {
  const before = server.cpuSeconds();
  let bytes = 0;
  const elapsed = await seconds(async () => {
    const taken = await Promise.all(Array.from({ length: clients }, () => take(url)));
    bytes = taken.reduce((total, each) => total + each, 0);
  });
  return { bytes, speed: bytes / 1e6 / elapsed, cpu: (server.cpuSeconds() - before) / (bytes / 1e9) };
}

/** The most memory that a server takes while `work` runs, in bytes. */
export async function peakBytes(server: Server, work: () => Promise<unknown>): Promise<number> {
  let peak = server.residentBytes();
  const sampling = setInterval(() => {
    peak = Math.max(peak, server.residentBytes());
  }, SAMPLE_INTERVAL_MS);
  await work().finally(() => clearInterval(sampling));
  return peak;
}

/** Milliseconds until the first byte of the body. */
export async function firstByteMs(url: string, headers: Record<string, string> = {}): Promise<number> {
  const start = performance.now();
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  if (!response.ok) throw new Error(`${response.status} for ${url}`);
  await response.body?.getReader().read();
  const elapsed = performance.now() - start;
  abort.abort();
  return elapsed;
}

/** GET, by default by a connection of its own. `localAddress` of the options is the address of the client. */
export async function request(url: string, options: RequestOptions = {}): Promise<IncomingMessage> {
  const [response] = await once(get(url, { agent: false, ...options }), 'response');
  return response;
}

/** The address of a resolve of a link. */
export const resolveUrl = ({ baseUrl }: Pick<Server, 'baseUrl'>, link: string): string =>
  `${baseUrl}/api/Fetch/GetResource?${new URLSearchParams({ url: link })}`;

/** Resolves a link, by default by a connection that is kept. @throws unless the service answers 200 */
export async function resolveLink(
  server: Pick<Server, 'baseUrl'>,
  link: string,
  options: RequestOptions = { agent: globalAgent },
): Promise<ResourceAnswer> {
  const response = await request(resolveUrl(server, link), options);
  const body = await text(response);
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} for ${link}: ${body}`);
  return JSON.parse(body);
}

interface ResourceAnswer {
  readonly mediaItems: readonly Readonly<Partial<Record<'video' | 'audio', Offer | null>>>[];
}
interface Offer {
  readonly bestQualityKey: string | null;
  readonly urlType?: 'Media' | 'Combined';
}

/** Resolves a link. @returns the address of its best stream: of the video, or of the audio where there is none */
export async function streamOf(
  server: Pick<Server, 'baseUrl'>,
  link: string,
  options?: RequestOptions,
): Promise<string> {
  const { mediaItems } = await resolveLink(server, link, options);
  const offer = [mediaItems[0]?.video, mediaItems[0]?.audio].find((found) => found?.bestQualityKey);
  if (!offer) throw new Error(`${link} has neither video nor audio`);
  return `${server.baseUrl}/api/Stream/${offer.urlType}/${offer.bestQualityKey}`;
}
