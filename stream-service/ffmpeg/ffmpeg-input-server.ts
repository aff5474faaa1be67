import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { decideRange, formatContentRange } from '../../core/http/index.ts';
import type { FileSource, SegmentedSource, Source, TrackSelection } from '../source/index.ts';

/** A source as FFmpeg meets it: a URL on this machine, good while the stream it is for runs. */
export interface FfmpegInput {
  readonly url: string;
  /** Input options that belong before `-i url`. */
  readonly args: readonly string[];
  /** Set once reading the source has failed: FFmpeg itself may not notice that its input was cut. */
  readonly failure: () => Error | undefined;
  /** Aborts with that failure as its reason, before FFmpeg sees the cut: hand it to `runFfmpeg`. */
  readonly failed: AbortSignal;
  close(): void;
}

export interface ServeOptions {
  readonly fromSeconds?: number;
  readonly wanted?: TrackSelection;
}

/** The one HTTP server, on 127.0.0.1 alone, from which every FFmpeg reads. */
export interface FfmpegInputServer {
  /**
   * A source that is still being opened keeps its reader waiting; failing to open is a failure like any other.
   * `fromSeconds` and `wanted` are for segmented sources.
   */
  serve(source: Source | Promise<Source>, options?: ServeOptions): FfmpegInput;
  close(): Promise<void>;
}

/**
 * What FFmpeg may take an input for. Playlists and scripts are not among them: they would make it open what they name.
 */
const DEMUXERS =
  'mov,matroska,mpegts,mp3,aac,flac,ogg,wav,w64,aiff,caf,ac3,eac3,mpeg,mpegvideo,avi,flv,asf,amr,h264,hevc';
const INPUT_ARGS = ['-protocol_whitelist', 'http,tcp', '-format_whitelist', DEMUXERS];

/**
 * FFmpeg takes a jump of the clock of more than 10 s for a new clock, and closes it up: what is behind a gap would come
 * too early. One that is known is longer than that by itself. Where a clock does begin anew, and nothing is missing, a
 * jump of a second is one that nobody is to wait for.
 */
const JUMP_SECONDS = 10;
const LEAST_JUMP_SECONDS = 1;
function jumpArgs(source: Source | Promise<Source>): string[] {
  if (source instanceof Promise || !source.needsRemux) return [];
  const { gapSeconds = 0, hasDiscontinuity } = source;
  if (gapSeconds > 0) return ['-dts_delta_threshold', String(Math.ceil(gapSeconds) + JUMP_SECONDS)];
  return hasDiscontinuity ? ['-dts_delta_threshold', String(LEAST_JUMP_SECONDS)] : [];
}

interface Entry {
  readonly source: Promise<Source>;
  readonly options: ServeOptions;
  readonly failed: AbortController;
  readonly responses: Set<ServerResponse>;
}

/** Starts the server on a free port. */
export async function createFfmpegInputServer(): Promise<FfmpegInputServer> {
  const entries = new Map<string, Entry>();
  const server = createServer((request, response) => {
    const entry = entries.get(request.url ?? '');
    if (entry && request.method === 'GET') void answer(entry, request, response);
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    serve(source, options = {}) {
      const path = `/${randomBytes(18).toString('base64url')}`;
      const opened = Promise.resolve(source);
      const entry = {
        source: opened,
        options,
        failed: new AbortController(),
        responses: new Set<ServerResponse>(),
      };
      entries.set(path, entry);
      opened.catch((error) => entry.failed.abort(error));
      return {
        url: `http://127.0.0.1:${port}${path}`,
        args: [...jumpArgs(source), ...INPUT_ARGS],
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

async function answer(entry: Entry, request: IncomingMessage, response: ServerResponse): Promise<void> {
  entry.responses.add(response);
  response.once('close', () => entry.responses.delete(response));
  const source = await entry.source.catch(() => undefined);
  if (!source || response.destroyed) response.destroy();
  else if (!source.needsRemux) sendFile(entry, source, request, response);
  else sendSegments(entry, source, response);
}

function sendFile(entry: Entry, source: FileSource, request: IncomingMessage, response: ServerResponse): void {
  const { size } = source;
  const decision = size === undefined ? 'whole' : decideRange(request.headers.range, size);
  if (size === undefined) {
    response.writeHead(200);
    send(entry, source.read(0), response);
  } else if (decision === 'unsatisfiable') {
    response.writeHead(416, { 'content-range': formatContentRange(undefined, size) }).end();
  } else {
    const slice = decision === 'whole' ? { first: 0, last: size - 1 } : decision;
    const headers = { 'accept-ranges': 'bytes', 'content-length': slice.last - slice.first + 1 };
    if (decision === 'whole') response.writeHead(200, headers);
    else response.writeHead(206, { ...headers, 'content-range': formatContentRange(slice, size) });
    send(entry, source.read(slice.first, slice.last), response);
  }
}

function sendSegments(entry: Entry, source: SegmentedSource, response: ServerResponse): void {
  const { fromSeconds = 0, wanted } = entry.options;
  response.writeHead(200);
  send(entry, source.readFrom(fromSeconds, wanted).stream, response);
}

/** A body that fails is noted before its reader can see the cut; a reader that leaves is no failure. */
function send({ failed }: Entry, body: Readable, response: ServerResponse): void {
  const note = (error: Error) => {
    if (!response.destroyed) failed.abort(error);
  };
  // It may have failed between its opening and now: nobody hears that event any more.
  if (body.errored) note(body.errored);
  body.once('error', note);
  pipeline(body, response, () => undefined);
}
