import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FileSource, Source } from '@reelay/source';
import { expect } from 'vitest';
import { silentLog } from '../../core/log/index.ts';
import { archiveKey, keyOf, renditionId, resourceId } from '../../core/state/keys.ts';
import type { ArchivedList, PlaylistEntry, Rendition, Resource, Track } from '../../core/state/resource.ts';
import type { ArchiveProgress } from '../../core/state/state.ts';
import { createStreamService, type StreamServiceOptions } from '../../stream-service/create-stream-service.ts';
import type { OpenSource } from '../../stream-service/source/open-source.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { closesOnce } from '../support/listen.ts';
import { ffmpegPath } from '../support/on-path.ts';
import { type ReceivedResponse, type RequestOptions, sendRequest } from '../support/request.ts';

const origin = { url: 'https://site.example/watch', extractor: 'Test', entryId: '1' };
export const ffmpeg = { version: '', path: ffmpegPath(), source: 'system', buildId: 'build' } as const;

/** A track of a direct MP4 file with video and audio. */
export const trackOf = (formatId: string, traits: Partial<Track> = {}): Track => ({
  formatId,
  delivery: 'direct',
  url: `https://site.example/${formatId}`,
  headers: {},
  cookies: [],
  container: 'mp4',
  video: { codec: 'avc1.42c01f' },
  audio: { codec: 'mp4a.40.2' },
  sizeIsExact: false,
  ...traits,
});

export const videoTrack = (traits: Partial<Track> = {}) => trackOf('video', { audio: null, ...traits });
export const audioTrack = (traits: Partial<Track> = {}) =>
  trackOf('audio', { video: null, container: 'm4a', ...traits });

export const resourceOf = (tracks: readonly Track[], traits: Partial<Resource> = {}): Resource => ({
  id: resourceId(origin),
  origin,
  title: 'A clip',
  author: 'Someone',
  coverUrl: null,
  isLive: false,
  tracks,
  renditions: [
    ...tracks.map(({ formatId }) => renditionOf([formatId])),
    ...(tracks.length === 2 ? [renditionOf([tracks[0]?.formatId ?? '', tracks[1]?.formatId ?? ''])] : []),
  ],
  egress: 'direct',
  freshUntil: 0,
  expiresAt: Number.MAX_SAFE_INTEGER,
  ...traits,
});

/** One format: Media. Two: Combined. */
export function renditionOf(formatIds: Rendition['formatIds']): Rendition {
  const urlType = formatIds.length === 2 ? 'Combined' : 'Media';
  const id = renditionId({ side: 'video', urlType, formatIds });
  const media = { fileExtension: '.mp4', mimeType: 'video/mp4' };
  return { id, side: 'video', urlType, formatIds, label: '', description: null, ...media };
}

export const mediaKey = (formatId: string) => keyOf(resourceId(origin), renditionOf([formatId]).id);
export const combinedKey = (video = 'video', audio = 'audio') =>
  keyOf(resourceId(origin), renditionOf([video, audio]).id);

/** A stored list. */
export const archivedList = (
  entries: readonly Partial<PlaylistEntry>[],
  traits: Partial<ArchivedList> = {},
): ArchivedList => ({
  id: archiveKey('https://site.example/list'),
  url: 'https://site.example/list',
  title: 'A list',
  author: null,
  expiresAt: 2e9,
  entries: entries.map((entry) => ({ url: origin.url, title: 'A clip', author: null, coverUrl: null, ...entry })),
  ...traits,
});

export interface Service {
  readonly url: string;
  /** The address of the rendition of one format. */
  media(formatId: string): string;
  /** Ids of the resources whose expiry was extended. */
  readonly touched: string[];
  /** Exact sizes that were stored, by rendition id. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Attachments that were stored, by resource id and name. */
  readonly attachments: ReadonlyMap<string, Buffer>;
  /** Bytes that were written to clients, heads included. */
  sentBytes(): number;
  /** Connections of clients that are open. */
  connections(): number;
  drain(): Promise<void>;
  close(): Promise<void>;
}

export interface ServiceFixtureOptions extends Partial<Omit<StreamServiceOptions, 'state'>> {
  /** Whether what is asked for alone is read of the same sources. @default false */
  readonly isPeeked?: boolean;
  /** Calls of the table that differ. */
  readonly state?: Partial<StreamServiceOptions['state']>;
  /** The attachments of the table, by resource id and name. @default none */
  readonly attachments?: Map<string, Buffer>;
  /** The progress of archives in the table, by job. @default none */
  readonly progress?: Map<string, ArchiveProgress>;
}

/**
 * Starts the service on a free port, with sources by the format id of their track. It is closed after the test or file.
 * @param resource the only one in its table, or what finds one by its id
 */
export async function startService(
  resource: Resource | ((id: string) => Resource | undefined),
  sources: Readonly<Record<string, Source | OpenSource>>,
  { isPeeked = false, state, attachments = new Map(), progress = new Map(), ...options }: ServiceFixtureOptions = {},
): Promise<Service> {
  const find = typeof resource === 'function' ? resource : (id: string) => (id === resource.id ? resource : undefined);
  const touched: string[] = [];
  const sizes = new Map<string, number>();
  const openSource: OpenSource = async (of, track, opening) => {
    const source = sources[track.formatId];
    if (!source) throw new Error(`No source for ${track.formatId}`);
    return typeof source === 'function' ? source(of, track, opening) : source;
  };
  const service = await createStreamService({
    state: {
      getResource: async (id) => find(id),
      touchResource: async ({ id }) => void touched.push(id),
      putExactSize: async (_resource, id, bytes) => void sizes.set(id, bytes),
      getArchivedList: async () => undefined,
      touchArchivedList: async () => undefined,
      getArchiveProgress: async (jobId) => progress.get(jobId),
      putArchiveProgress: async (jobId, at) => void progress.set(jobId, at),
      ...tableOf(attachments),
      ...state,
    },
    openSource,
    ...(isPeeked && { peekSource: openSource }),
    listSegments: () => Promise.reject(new Error('No live stream')),
    inspectWindow: () => Promise.reject(new Error('No live stream')),
    ffmpeg: () => ffmpeg,
    maintenance: async () => undefined,
    limits: { maxStreams: 10, maxStreamsPerClient: 10, maxFfmpeg: 4 },
    // Players of tests are in pages without an origin.
    corsAllowedOrigins: ['*'],
    trustedProxies: 0,
    log: silentLog,
    ...options,
  });
  const connections: Socket[] = [];
  service.app.server.on('connection', (connection: Socket) => connections.push(connection));
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = service.app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return closeAfterwards({
    url,
    media: (formatId) => `${url}/api/Stream/Media/${mediaKey(formatId)}`,
    touched,
    sizes,
    attachments,
    sentBytes: () => connections.reduce((sum, { bytesWritten }) => sum + bytesWritten, 0),
    connections: () => connections.filter(({ destroyed }) => !destroyed).length,
    drain: service.drain,
    close: closesOnce(service.close),
  });
}

/** Attachments of the table. @param attachments by resource id and name */
export const tableOf = (attachments: Map<string, Buffer>) => ({
  dropAttachment: async (id: string, name: string) => void attachments.delete(id + name),
  getAttachment: async (id: string, name: string) => attachments.get(id + name),
  putAttachment: async (id: string, name: string, bytes: Buffer) => {
    if (!attachments.has(id + name)) attachments.set(id + name, bytes);
    return attachments.get(id + name) ?? bytes;
  },
});

/** Sends a request and returns the response with its body unread, like a slow client. */
export function openResponse(url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { headers, agent: false }, resolve);
    request.once('error', reject).end();
  });
}

/** The status of a refusal, and its reason. */
export async function refusalOf(url: string): Promise<readonly [status: number, detail: unknown]> {
  const { status, body } = await sendRequest(url);
  return [status, JSON.parse(body.toString()).detail];
}

/** Expects an answer with neither a length nor ranges. */
export async function expectUnsized(url: string, options: RequestOptions = {}): Promise<ReceivedResponse> {
  const answer = await sendRequest(url, options);
  const { status, headers } = answer;
  expect([status, headers['accept-ranges'], headers['content-length']]).toEqual([200, 'none', undefined]);
  return answer;
}

/** Expects an answer with a length and ranges. */
export async function expectSized(url: string): Promise<Buffer> {
  const { status, headers, body } = await sendRequest(url);
  expect([status, headers['accept-ranges'], headers['content-length']]).toEqual([200, 'bytes', String(body.length)]);
  return body;
}

/** Polls until a condition is true; the timeout of the test bounds it. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A source that stalls after its first `healthyBytes` until the test calls `fail`. */
export function failingSource(source: FileSource, healthyBytes: number): FileSource & { fail(): void } {
  const failure = Promise.withResolvers<void>();
  async function* bytes(first: number, last: number) {
    if (first < healthyBytes) yield* source.read(first, Math.min(last, healthyBytes - 1));
    if (last < healthyBytes) return;
    await failure.promise;
    throw new Error('The source failed');
  }
  return {
    ...source,
    read: (first, last = (source.size ?? 0) - 1) => Readable.from(bytes(first, last), { objectMode: false }),
    fail: () => failure.resolve(),
  };
}
