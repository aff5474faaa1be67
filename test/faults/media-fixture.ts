import { readFileSync } from 'node:fs';
import type { Resource } from '../../core/state/resource.ts';
import { createFaultHandler, etagOf, type Fault, type FaultHandler, type FaultOptions } from '../origin/faults.ts';
import type { Exchange, OriginHandler } from '../origin/handler.ts';
import { send, typeOf } from '../origin/respond.ts';

/** The kinds of stream, each with an item of the site. */
export const ROUTES = ['Media', 'mp3', 'Combined', 'Pair', 'HLS'] as const;
export type Route = (typeof ROUTES)[number];

/** `short`: a few requests. `long`: mostly unread when the client receives its first bytes. */
export type Item = `${Route}-short` | `${Route}-long`;

export interface Arming extends Pick<FaultOptions, 'etag'> {
  /** The next resolve returns working URLs. @default false */
  readonly heals?: boolean;
  /** The affected files. @default all */
  readonly only?: RegExp;
  /** The result of the next resolve: 404, other formats or other files. */
  readonly again?: 'gone' | 'other formats' | 'other files';
}

/** A site whose files fail from a time that the test chooses. */
export interface FaultSite {
  /** Handlers of the origin. */
  readonly mounts: Readonly<Record<string, OriginHandler>>;
  /** Applies a fault to every file. */
  arm(fault: Fault | undefined, arming?: Arming): void;
  /** Removes the fault. */
  disarm(): void;
  /** A resource as another resolve would describe it: with URLs of the next generation. */
  resolveAgain(resource: Resource): Resource;
}

/** 15 MB: more than all buffers between source and client. 20 seconds: its many bytes per second cost no encoding. */
const LOUD_WAV = 'loud.wav';
const WAV_SECONDS = 20;

type Format = readonly [id: string, file: string, traits: object];

const VIDEO = { height: 360, width: 640, vcodec: 'avc1.42c01e', acodec: 'none' };
const AUDIO = { vcodec: 'none', acodec: 'mp4a.40.2', asr: 48000 };
const PCM = { ...AUDIO, acodec: 'pcm_f64le' };
const BOTH = { height: 180, width: 320, vcodec: 'avc1.42c00d', acodec: 'mp4a.40.2' };
const HLS = { ...BOTH, protocol: 'm3u8_native', ext: 'mp4' };

const FORMATS: Readonly<Record<Item, readonly Format[]>> = {
  'Media-short': [['both', 'clip.mp4', BOTH]],
  'Media-long': [['both', 'long.mp4', BOTH]],
  'mp3-short': [['audio', 'ladder/aac-128.m4a', AUDIO]],
  'mp3-long': [['audio', LOUD_WAV, PCM]],
  'Combined-short': [
    ['video', 'ladder/h264-360.mp4', VIDEO],
    ['audio', 'ladder/aac-128.m4a', AUDIO],
  ],
  'Combined-long': [
    ['video', 'long-video.mp4', VIDEO],
    ['audio', 'long-audio.m4a', AUDIO],
  ],
  'Pair-short': [
    ['video', 'partial-index.mp4', VIDEO],
    ['audio', 'short-indexed.m4a', AUDIO],
  ],
  'Pair-long': [
    ['video', 'indexed.mp4', VIDEO],
    ['audio', 'indexed.m4a', AUDIO],
  ],
  'HLS-short': [['list', 'hls/ts/index.m3u8', HLS]],
  'HLS-long': [['list', 'hls/long/index.m3u8', HLS]],
};

/**
 * `/site/{item}/{any}` is an item for the test extractor. Its files are below `/faults/{generation}/`: every
 * resolve starts another generation, which distinguishes old and new URLs.
 * @param pathOf where a file is on disk
 */
export function createFaultSite(pathOf: (file: string) => string): FaultSite {
  let generation = 0;
  let handlers = new Map<string, FaultHandler>();
  const loaded = new Map<string, Content>();
  let armed: (Arming & { readonly fault: Fault | undefined; readonly last: number }) | undefined;

  const api = (exchange: Exchange) => {
    const [kind = ''] = exchange.path.split('/');
    const answer = (value: unknown) => send(exchange, 'application/json', JSON.stringify(value));
    if (armed?.again === 'gone') return answer({ act: 'expected', message: 'This video has been deleted' });
    generation += 1;
    const formats = (FORMATS[kind as Item] ?? []).map(([id, file, traits]) => ({
      format_id: armed?.again === 'other formats' ? `other-${id}` : id,
      url: `${exchange.url.origin}/faults/${generation}/${file}`,
      ext: file.split('.').at(-1),
      protocol: 'http',
      ...traits,
    }));
    return answer({ info: { id: kind, title: 'A clip', uploader: 'Someone', formats } });
  };

  const handlerOf = (number: number, file: string): FaultHandler => {
    const content = loaded.get(file) ?? withEtag(file === LOUD_WAV ? loudWav() : readFileSync(pathOf(file)));
    loaded.set(file, content);
    const isBefallen = armed && number <= armed.last && (armed.only?.test(file) ?? true);
    const { fault, etag } = armed && isBefallen ? armed : {};
    const isOther = armed?.again === 'other files' && number > armed.last;
    return createFaultHandler({
      ...(isOther ? withEtag(content.bytes.subarray(0, -1)) : content),
      contentType: typeOf(file),
      ...(fault && { fault }),
      ...(etag !== undefined && { etag }),
    });
  };

  const files = ({ path, request, response }: Exchange) => {
    const [number = '', ...file] = path.split('/');
    const handler = handlers.get(path) ?? handlerOf(Number(number), file.join('/'));
    handlers.set(path, handler);
    handler(request, response);
  };

  return {
    mounts: { '/site-api/': api, '/faults/': files },
    arm(fault, arming = {}) {
      handlers = new Map();
      armed = { ...arming, fault, last: arming.heals ? generation : Number.POSITIVE_INFINITY };
    },
    disarm() {
      handlers = new Map();
      armed = undefined;
    },
    resolveAgain(resource) {
      generation += 1;
      return JSON.parse(JSON.stringify(resource).replaceAll(/\/faults\/\d+\//g, `/faults/${generation}/`));
    },
  };
}

/** A file with its ETag, which is computed once and not for each fault. */
interface Content {
  readonly bytes: Buffer;
  readonly etag: string;
}

const withEtag = (bytes: Buffer): Content => ({ bytes, etag: etagOf(bytes) });

let wav: Buffer | undefined;

/** Stereo at 48 kHz, 64-bit floating point: deterministic noise. */
function loudWav(): Buffer {
  if (wav) return wav;
  const dataBytes = WAV_SECONDS * 768_000;
  wav = Buffer.alloc(44 + dataBytes);
  wav.write('RIFF\0\0\0\0WAVEfmt ', 'latin1');
  wav.writeUInt32LE(36 + dataBytes, 4);
  for (const [index, value] of [16, 0x0002_0003, 48_000, 768_000, 0x0040_0010].entries())
    wav.writeUInt32LE(value, 16 + index * 4);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(dataBytes, 40);
  let state = 1;
  for (let offset = 44; offset < wav.length; offset += 16) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const sample = (8000 * Math.sin(offset / 400) + (state >>> 21)) / 32_768;
    wav.writeDoubleLE(sample, offset);
    wav.writeDoubleLE(sample, offset + 8);
  }
  return wav;
}
