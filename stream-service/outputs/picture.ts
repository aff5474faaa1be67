import { buffer } from 'node:stream/consumers';
import { createCache, createSingleFlight } from '@reelay/concurrency';
import type { FileType } from '@reelay/seekable-media/codecs';
import { MAX_COVER_BYTES } from '@reelay/seekable-media/tags/id3';
import { memorySource, readSmallSource } from '@reelay/source';
import { type Name, nameOf } from '@reelay/source/names';
import { CapacityExceeded, ClientLimitExceeded, NotFound, UpstreamError } from '../../core/errors/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { KeyedRendition, Resource, State, Track } from '../../core/state/index.ts';
import { FfmpegFailed, type FfmpegInputServer, type RequireFfmpeg, runFfmpeg } from '../ffmpeg/index.ts';
import type { Admission, StreamSession } from '../sessions/index.ts';
import { type OpenSource, versionOf } from '../source/index.ts';
import { inMemory, type Opening, type PlannedOutput, type Representation } from './representation.ts';

/** The cover of an item, as its source has it. */
export interface PicturePlan extends PlannedOutput {
  readonly kind: 'picture';
  readonly found: KeyedRendition;
}

export const planPicture = (found: KeyedRendition): PicturePlan => ({
  kind: 'picture',
  found,
  answersHead: false,
  // Most covers are JPEG.
  head: { mimeType: 'image/jpeg', fileExtension: '.jpg', size: undefined, acceptRanges: undefined },
});

export interface PictureDependencies {
  readonly covers: Covers;
}

/** @throws NotFound without a cover, UpstreamError */
export const openPicture = (
  { found }: PicturePlan,
  { session }: Pick<Opening, 'session'>,
  { covers }: PictureDependencies,
): Promise<Representation> => covers.original(found.resource, session);

/** Covers: those that tags carry are JPEG within the bounds of a tag; empty: none. */
export interface Covers {
  /**
   * The cover of a resource. The first request of all hosts fetches and stores it; a picture that cannot be used is stored as
   * none, so that the bytes of a tagged stream never change.
   * @throws StateUnavailable, InMaintenance, CapacityExceeded, and the signal's reason when the session ends
   */
  find(resource: Resource, session: Pick<StreamSession, 'client' | 'signal'>): Promise<Buffer>;
  /** The cover as the source has it. @throws NotFound without one, UpstreamError, and the signal's reason */
  original(resource: Resource, session: Pick<StreamSession, 'client' | 'signal'>): Promise<Representation>;
}

export interface CoversDependencies {
  readonly state: Pick<State, 'getAttachment' | 'putAttachment'>;
  /** Opens files without resolving again. */
  readonly openSource: OpenSource;
  readonly inputServer: FfmpegInputServer;
  readonly requireFfmpeg: RequireFfmpeg;
  readonly admission: Pick<Admission, 'acquireFfmpeg'>;
  readonly log: Log;
  /** Until the picture has to be there. @default 5000 */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5000;
/** At most 64 KB each. A cover in the table may expire, and another one be stored. */
const CACHE_OPTIONS = { maxEntries: 64, maxAgeMs: 60 * 60 * 1000 };
const NONE = Buffer.alloc(0);

export function createCovers(dependencies: CoversDependencies): Covers {
  const { state, requireFfmpeg, admission, inputServer, log, timeoutMs = TIMEOUT_MS } = dependencies;
  const cache = createCache<Name, Buffer>(CACHE_OPTIONS);
  const flights = createSingleFlight<Buffer, Name>();

  /** The picture of the first version that any process has read. */
  const nameOfCover = (resource: Resource) => nameOf([versionOf(resource, coverOf(''))], 'cover');
  const stored = async (resource: Resource) => {
    const name = nameOfCover(resource);
    const cached = cache.get(name);
    if (cached) return cached;
    const jpeg = await state.getAttachment(resource.id, 'cover');
    return jpeg && cache.set(name, jpeg);
  };

  const create = async (resource: Resource, client: string, signal: AbortSignal): Promise<Buffer> => {
    if (!resource.coverUrl) return NONE;
    const { path } = await requireFfmpeg();
    try {
      const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const picture = await readPicture(
        resource,
        resource.coverUrl,
        { client, signal: until },
        dependencies.openSource,
      );
      const release = admission.acquireFfmpeg(client);
      try {
        return await encodeCover(picture, { path, inputServer, client, signal: until });
      } finally {
        release();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof CapacityExceeded || error instanceof ClientLimitExceeded) throw error;
      log.info('Cover unavailable, writing tags without it', { resource: resource.id, error });
      return NONE;
    }
  };

  return {
    find: (resource, { client, signal }) =>
      flights(
        nameOfCover(resource),
        async (shared) => {
          const cover = await stored(resource);
          if (cover) return cover;
          const created = await create(resource, client, shared);
          return cache.set(nameOfCover(resource), await state.putAttachment(resource.id, 'cover', created));
        },
        signal,
      ),
    async original(resource, session) {
      if (!resource.coverUrl) throw new NotFound('The item has no cover');
      const bytes = await readPicture(resource, resource.coverUrl, session, dependencies.openSource);
      const type = formatOf(bytes);
      if (!type) throw new UpstreamError('The file is not a picture');
      return inMemory(type, bytes);
    },
  };
}

/** Bytes of a picture at its source. */
const MAX_PICTURE_BYTES = 8 * 1024 * 1024;

/** By the first bytes. No SVG: it may contain scripts. FFmpeg's demuxers of those that tags are made of; it would probe for others too. */
const FORMATS: readonly (FileType & { readonly demuxer?: string; readonly isIt: (head: string) => boolean })[] = [
  { ...imageType('jpeg', '.jpg'), demuxer: 'jpeg_pipe', isIt: (head) => head.startsWith('\xff\xd8\xff') },
  { ...imageType('png'), demuxer: 'png_pipe', isIt: (head) => head.startsWith('\x89PNG\r\n\x1a\n') },
  { ...imageType('webp'), demuxer: 'webp_pipe', isIt: (head) => head.startsWith('RIFF') && head.endsWith('WEBP') },
  { ...imageType('gif'), isIt: (head) => head.startsWith('GIF8') },
  { ...imageType('avif'), isIt: (head) => head.endsWith('ftypavif') },
];

function imageType(name: string, fileExtension = `.${name}`): FileType {
  return { mimeType: `image/${name}`, fileExtension };
}

const formatOf = (bytes: Buffer) => {
  const head = bytes.toString('latin1', 0, 12);
  return FORMATS.find(({ isIt }) => isIt(head));
};

const coverOf = (url: string): Track => ({
  formatId: 'cover',
  delivery: 'direct',
  url,
  headers: {},
  cookies: [],
  container: 'jpg',
  video: null,
  audio: null,
  sizeIsExact: false,
});

/**
 * Reads a picture of a resource from its source.
 * @throws UpstreamError for a longer file
 */
async function readPicture(
  resource: Resource,
  url: string,
  { client, signal }: Pick<StreamSession, 'client' | 'signal'>,
  openSource: OpenSource,
): Promise<Buffer> {
  const source = await openSource(resource, coverOf(url), { signal, client, maxBytes: MAX_PICTURE_BYTES });
  try {
    return await readSmallSource(source, { maxBytes: MAX_PICTURE_BYTES, name: 'The picture', signal });
  } finally {
    source.close();
  }
}

interface EncodeCoverOptions {
  /** FFmpeg. */
  readonly path: string;
  readonly inputServer: FfmpegInputServer;
  readonly client?: string;
  readonly signal: AbortSignal;
}

/** Pixels of the longer side and quality (2 is best, 31 worst), until the picture fits into a tag. */
const ATTEMPTS = [
  { pixels: 500, quality: 4 },
  { pixels: 300, quality: 8 },
] as const;

/**
 * A picture as JPEG within the bounds of a tag, encoded again: whatever else the file contains is dropped.
 * @throws FfmpegFailed when it is not a JPEG, PNG or WebP, too large in pixels, or cannot be decoded
 */
async function encodeCover(picture: Buffer, options: EncodeCoverOptions): Promise<Buffer> {
  const demuxer = formatOf(picture)?.demuxer;
  if (!demuxer) throw new FfmpegFailed('Not a picture');
  for (const attempt of ATTEMPTS) {
    const jpeg = await encode(picture, demuxer, attempt, options);
    if (jpeg.length > 0 && jpeg.length <= MAX_COVER_BYTES) return jpeg;
  }
  throw new FfmpegFailed('The picture does not fit into a tag');
}

async function encode(
  picture: Buffer,
  demuxer: string,
  { pixels, quality }: (typeof ATTEMPTS)[number],
  { path, inputServer, client, signal }: EncodeCoverOptions,
): Promise<Buffer> {
  const input = inputServer.serve(memorySource(picture));
  const scale = `scale=w='min(${pixels},iw)':h='min(${pixels},ih)':force_original_aspect_ratio=decrease`;
  try {
    const output = runFfmpeg({
      path,
      args: [
        // The last whitelist counts: pictures instead of media.
        ...[...input.args, '-format_whitelist', demuxer, '-f', demuxer, '-i', input.url],
        ...['-map', '0:v:0', '-frames:v', '1', '-vf', `${scale},format=yuvj420p`, '-map_metadata', '-1'],
        ...['-c:v', 'mjpeg', '-q:v', String(quality), '-flags', '+bitexact', '-f', 'mjpeg'],
      ],
      inputs: [input],
      client,
      signal: AbortSignal.any([signal, input.failed]),
    });
    return await buffer(output);
  } finally {
    input.close();
  }
}
