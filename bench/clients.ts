import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { seconds } from './figures.ts';
import type { Server } from './processes.ts';

/** Downloads a URL with curl. @returns bytes @throws Error when curl fails or the status is no success */
export async function take(url: string, file = '/dev/null'): Promise<number> {
  const args = ['-s', '-S', '--fail', '-o', file, '-w', '%{size_download}'];
  const curl = spawn('curl', [...args, url], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  curl.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const [code] = await once(curl, 'close');
  if (code !== 0) throw new Error(`curl ended with ${code} for ${url}`);
  return Number(output);
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

/** Resolves a link. @throws unless the service answers 200 */
export async function resolveLink({ baseUrl }: Server, link: string, init?: RequestInit): Promise<ResourceAnswer> {
  const response = await fetch(`${baseUrl}/api/Fetch/GetResource?${new URLSearchParams({ url: link })}`, init);
  if (!response.ok) throw new Error(`${response.status} for ${link}: ${await response.text()}`);
  return (await response.json()) as ResourceAnswer;
}

export interface ResourceAnswer {
  readonly mediaItems: readonly Readonly<Partial<Record<Side, Offer | null>>>[];
}
type Side = 'video' | 'audio';
interface Offer {
  readonly bestQualityKey: string | null;
  readonly urlType?: 'Media' | 'Combined';
}

/** Resolves a link. @returns the address of the best stream of the first side that it has */
export async function streamOf(
  server: Server,
  link: string,
  init?: RequestInit,
  sides: readonly Side[] = ['video', 'audio'],
): Promise<string> {
  const { mediaItems } = await resolveLink(server, link, init);
  return server.baseUrl + streamPath(mediaItems, sides, link);
}

/** The path of that stream. */
export function streamPath([item]: ResourceAnswer['mediaItems'], sides: readonly Side[], link: string): string {
  const offer = sides.map((side) => item?.[side]).find((found) => found?.bestQualityKey);
  if (!offer) throw new Error(`${link} has no ${sides.join(' or ')}`);
  return `/api/Stream/${offer.urlType}/${offer.bestQualityKey}`;
}

/** The address of the ZIP of a list. */
export async function archiveOf({ baseUrl }: Server, list: string): Promise<string> {
  const query = new URLSearchParams({ url: list, format: 'zip' });
  const { status, headers } = await fetch(`${baseUrl}/api/Get?${query}`, { redirect: 'manual' });
  const location = headers.get('location');
  if (status !== 302 || !location) throw new Error(`${status} for ${list}`);
  return baseUrl + location;
}
