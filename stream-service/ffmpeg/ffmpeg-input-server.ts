import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, type Readable, type Writable } from 'node:stream';
import { type ByteRange, decideRange, formatContentRange } from '@reelay/seekable-media/http';
import { parseBoxes } from '@reelay/seekable-media/isobmff';
import type { FileSource, SegmentedSource, Source, TrackSelection } from '@reelay/source';
import { UnsupportedRendition } from '../../core/errors/index.ts';

/** A source as an input of FFmpeg, valid until it is closed. */
export interface FfmpegInput {
  /** On loopback, or a descriptor of the process. */
  readonly url: string;
  /** Input options, to be placed before `-i url`. */
  readonly args: readonly string[];
  /** Set once reading the source has failed: FFmpeg itself may not notice that its input was truncated. */
  readonly failure: () => Error | undefined;
  /** Aborted with that failure as its reason, before FFmpeg sees the truncated input: pass it to `runFfmpeg`. */
  readonly failed: AbortSignal;
  /** Whether FFmpeg has not been given all of the source, where it reads all: what it leaves is missing in its output. */
  readonly isUnread?: () => boolean;
  /** Writes the source to the descriptor, where it has one. */
  readonly writeTo?: (pipe: Writable) => void;
  close(): void;
}

export interface ServeOptions {
  /** Place of the input among those of its process, in the order in which `runFfmpeg` gets them. @default 0 */
  readonly index?: number;
  /** The tracks to read of a segmented source. @default all */
  readonly selection?: TrackSelection;
  /** Bytes of a file that are probably read from a position that FFmpeg seeks to. @default unknown */
  readonly expectedBytes?: number;
}

/** What every FFmpeg process reads its inputs from. */
export interface FfmpegInputServer {
  /**
   * Serves a source until the input is closed: a file by HTTP on 127.0.0.1, segments through a pipe, whose short buffer
   * bounds how much is read ahead of FFmpeg. While a source is being opened, the request waits; a failure to open counts
   * like one to read.
   */
  serve(source: Source | Promise<Source>, options?: ServeOptions): FfmpegInput;
  close(): Promise<void>;
}

/**
 * Formats that FFmpeg may detect. Playlists and scripts are excluded: they would make it open the URLs in them.
 */
const DEMUXERS =
  'mov,matroska,mpegts,mp3,aac,flac,ogg,wav,w64,aiff,au,caf,ac3,eac3,mpeg,mpegvideo,avi,flv,asf,amr,h264,hevc';
/** Windows of a file are shorter than the file: FFmpeg continues behind each (`ReadAheadSizes`). */
const WINDOW_ARGS = ['-reconnect', '1'];
/**
 * Pixels of a picture: 8192 × 4352, the coded size of the largest video there is. The limit on allocations passes a square
 * picture of 67 million pixels, of which a decoder takes 350 MB to find out what a segment contains.
 */
const MAX_PIXELS = 8192 * 4352;
const FORMAT_ARGS = ['-format_whitelist', DEMUXERS, '-max_pixels', String(MAX_PIXELS)];
const HTTP_ARGS = [...WINDOW_ARGS, '-protocol_whitelist', 'http,tcp', ...FORMAT_ARGS];
const PIPE_ARGS = ['-protocol_whitelist', 'pipe', ...FORMAT_ARGS];

/**
 * FFmpeg treats a timestamp jump of more than 10 s as a discontinuity and removes it, which would move what follows a real
 * gap forward: the threshold must exceed the longest declared gap. Across a declared discontinuity without a gap, a jump
 * of one second is removed, so that players do not wait for it.
 */
const JUMP_SECONDS = 10;
const MIN_JUMP_SECONDS = 1;
function jumpArgs({ gapSeconds = 0, hasDiscontinuity }: SegmentedSource): string[] {
  if (gapSeconds > 0) return ['-dts_delta_threshold', String(Math.ceil(gapSeconds) + JUMP_SECONDS)];
  return hasDiscontinuity ? ['-dts_delta_threshold', String(MIN_JUMP_SECONDS)] : [];
}

interface Entry {
  readonly source: Promise<Source>;
  readonly nextBytes: ReadAheadSizes;
  readonly failed: AbortController;
  readonly responses: Set<ServerResponse>;
}

/** Starts the server on a free loopback port. */
export async function createFfmpegInputServer(): Promise<FfmpegInputServer> {
  const entries = new Map<string, Entry>();
  const server = createServer((request, response) => {
    const entry = entries.get(request.url ?? '');
    if (entry && request.method === 'GET') void respond(entry, request, response);
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    serve(source, options = {}) {
      if (!(source instanceof Promise) && source.needsRemux) return segmentInput(source, options);
      const path = `/${randomBytes(18).toString('base64url')}`;
      const opened = Promise.resolve(source);
      const entry = {
        source: opened,
        nextBytes: createReadAheadSizes(options.expectedBytes),
        failed: new AbortController(),
        responses: new Set<ServerResponse>(),
      };
      entries.set(path, entry);
      opened.catch((error) => entry.failed.abort(error));
      return {
        url: `http://127.0.0.1:${port}${path}`,
        args: HTTP_ARGS,
        failure: () => (entry.failed.signal.aborted ? entry.failed.signal.reason : undefined),
        failed: entry.failed.signal,
        close() {
          entries.delete(path);
          for (const response of entry.responses) response.destroy();
        },
      };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function respond(entry: Entry, request: IncomingMessage, response: ServerResponse): Promise<void> {
  entry.responses.add(response);
  response.once('close', () => entry.responses.delete(response));
  const source = await entry.source.catch(() => undefined);
  // Segments are written to a pipe.
  if (!source || source.needsRemux || response.destroyed) response.destroy();
  else sendFile(entry, source, request, response);
}

function sendFile(entry: Entry, source: FileSource, request: IncomingMessage, response: ServerResponse): void {
  const { size } = source;
  const decision = size === undefined ? 'whole' : decideRange(request.headers.range, size);
  if (size === undefined) {
    const body = source.read(0).once('data', (head: Buffer) => {
      if (hasIndexAtEnd(head)) body.destroy(new UnsupportedRendition(INDEX_AT_END));
    });
    response.writeHead(200);
    send(entry, body, response);
  } else if (decision === 'unsatisfiable') {
    response.writeHead(416, { 'content-range': formatContentRange(undefined, size) }).end();
  } else {
    const isWhole = decision === 'whole';
    const slice = isWhole ? { first: 0, last: size - 1 } : within(entry.nextBytes(decision.first), decision);
    const headers = { 'accept-ranges': 'bytes', 'content-length': slice.last - slice.first + 1 };
    if (isWhole) response.writeHead(200, headers);
    else response.writeHead(206, { ...headers, 'content-range': formatContentRange(slice, size) });
    send(entry, source.read(slice.first, slice.last), response);
  }
}

const INDEX_AT_END = 'The index of the file is at its end, and its source sends it without ranges.';
/** As far as FFmpeg can go back in what it reads from the beginning alone. */
const MAX_BACK_BYTES = 32 * 1024;

/** Whether an MP4 begins with more media than FFmpeg holds until it has read the index. */
function hasIndexAtEnd(head: Buffer): boolean {
  const [media] = [...parseBoxes(head)].filter(({ type }) => /^(?:moov|moof|mdat)$/.test(type));
  return media?.type === 'mdat' && media.end > MAX_BACK_BYTES;
}

const within = (bytes: number, { first, last }: ByteRange): ByteRange => ({
  first,
  last: Math.min(last, first + bytes - 1),
});

/** The descriptor of the first input: those below are the standard streams. */
export const FIRST_INPUT_DESCRIPTOR = 3;

function segmentInput(source: SegmentedSource, { index = 0, selection }: ServeOptions): FfmpegInput {
  const failed = new AbortController();
  let target: Writable | undefined;
  let body: Readable | undefined;
  return {
    url: `pipe:${FIRST_INPUT_DESCRIPTOR + index}`,
    args: [...jumpArgs(source), ...PIPE_ARGS],
    failure: () => (failed.signal.aborted ? failed.signal.reason : undefined),
    failed: failed.signal,
    writeTo(pipe) {
      target = pipe;
      body = source.readAll(selection);
      send({ failed }, body, pipe);
    },
    isUnread: () => body?.readableEnded !== true,
    close: () => void target?.destroy(),
  };
}

/** Records a failure of the body before FFmpeg sees the truncated input. Of a file, FFmpeg may read a part. */
function send({ failed }: Pick<Entry, 'failed'>, body: Readable, target: Writable): void {
  const recordFailure = (error: Error) => {
    if (!target.destroyed) failed.abort(error);
  };
  // It may have failed before this call: the event is not emitted again.
  if (body.errored) recordFailure(body.errored);
  body.once('error', recordFailure);
  pipeline(body, target, () => undefined);
}

/** What FFmpeg gets at a position that it has not read up to: it may look at a header there and go on elsewhere. */
const FIRST_BYTES = 64 * 1024;
/** After as many bytes in one go, the rest of the file follows in one response. */
const ALL_AFTER_BYTES = 16 * 1024 * 1024;

/**
 * Returns how many bytes to answer a request for the rest of a file with: FFmpeg asks for no less, and the buffers between it and
 * this process would take megabytes that it never reads. It asks for more at the end of each answer, so each grows with what it
 * has read.
 * @param first offset of the request
 */
export type ReadAheadSizes = (first: number) => number;

/** @param expectedBytes that are probably read from a position behind the beginning */
export function createReadAheadSizes(expectedBytes = 0): ReadAheadSizes {
  /** Offsets of the bytes that are read in one go. */
  let start = 0;
  let end = 0;
  return (first) => {
    if (first !== end) start = first;
    const readBytes = first - start;
    const expected = start > 0 ? expectedBytes : 0;
    // What is known to be read needs no caution.
    const bytes = readBytes === 0 ? FIRST_BYTES : Math.max(expected - readBytes, readBytes - expected, FIRST_BYTES);
    const window = readBytes >= Math.max(ALL_AFTER_BYTES, 2 * expected) ? Number.POSITIVE_INFINITY : bytes;
    end = first + window;
    return window;
  };
}
