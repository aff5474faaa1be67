import { NotFound, UnsupportedRendition } from '../../../core/errors/index.ts';
import type { UnsupportedMp4 } from '../../../core/media/isobmff/index.ts';
import {
  type HlsLayout,
  type HlsStream,
  type HlsUris,
  writeMasterPlaylist,
  writeMediaPlaylist,
} from '../../../core/media/mp4-hls/index.ts';
import type { KeyedRendition } from '../../../core/state/index.ts';
import { isMp4File } from '../../source/index.ts';
import { inMemory } from '../in-memory.ts';
import type { Representation, RepresentationHead, RepresentationOpener } from '../representation.ts';
import { type LaidOutDependencies, laidOut, loadLayout } from './laid-out.ts';
import type { HlsLayouts } from './layouts.ts';
import type { KnownLayout } from './read-layout.ts';

export interface HlsDependencies extends LaidOutDependencies {
  readonly hlsLayouts: HlsLayouts;
}

/** The part of a request below the key. */
export interface HlsFile {
  /** The last segment of the path. */
  readonly name: string;
  /** The ETag of the media that the playlist was written for, without quotes; undefined: any. */
  readonly entity?: string;
}

const MASTER = 'master.m3u8';
const MEDIA = 'media.mp4';
const PLAYLIST_TYPE = { mimeType: 'application/vnd.apple.mpegurl', fileExtension: '.m3u8', isInline: true } as const;
const MEDIA_TYPE = { mimeType: 'video/mp4', fileExtension: '.mp4', isInline: true } as const;
/** `video.m3u8`, `audio.m3u8`, and `both.m3u8` where the segments have both. */
const playlistName = ({ kind }: Pick<HlsStream, 'kind'>): string => `${kind}.m3u8`;
const PLAYLISTS = [MASTER, ...(['video', 'audio', 'both'] as const).map((kind) => playlistName({ kind }))];

/**
 * A file of the HLS presentation (RFC 8216) of a pair or of a single MP4 file: playlists, and one MP4 with everything
 * that they refer to by byte range. No media is converted.
 * @throws NotFound for another name, UnsupportedRendition when there is no such presentation
 */
export function hls(found: KeyedRendition, file: HlsFile, dependencies: HlsDependencies): RepresentationOpener {
  const name = file.name.toLowerCase();
  if (name !== MEDIA && !PLAYLISTS.includes(name)) throw new NotFound('No such file');
  if (found.resource.isLive) throw new UnsupportedRendition('There is no playlist for a live stream.');
  if (!found.tracks.every(isMp4File)) throw new UnsupportedRendition('There are playlists for MP4 files only.');
  const options = {
    ...dependencies,
    found,
    cache: dependencies.hlsLayouts,
    request: { id: `${found.key} hls`, sources: found.tracks.length > 1 ? ([0, 1] as const) : ([0] as const) },
  };
  if (name === MEDIA) {
    const headOf = ({ layout, etag }: KnownLayout<HlsLayout>): RepresentationHead => {
      // Byte ranges of an earlier playlist would select other media.
      if (file.entity !== undefined && file.entity !== withoutQuotes(etag)) throw new NotFound('The media has changed');
      return { ...MEDIA_TYPE, size: layout.size, acceptRanges: 'bytes', etag };
    };
    const unknown = (): RepresentationHead => ({ ...MEDIA_TYPE, size: undefined, acceptRanges: undefined });
    return laidOut({ ...options, unknown, headOf, otherwise: refuse });
  }

  const write = (known: KnownLayout<HlsLayout> | UnsupportedMp4): Representation => {
    if (known instanceof Error) return refuse(known);
    return inMemory(PLAYLIST_TYPE, writePlaylist(name, known));
  };
  const { peekSource, openSource, cache, request } = options;
  return {
    describe() {
      const known = cache.get(request);
      return known ? write(known) : { ...PLAYLIST_TYPE, size: undefined, acceptRanges: undefined };
    },
    inspect: peekSource && (async (session) => write(await loadLayout(options, peekSource, session))),
    open: async (session) => write(await loadLayout(options, openSource, session)),
  };
}

/** @throws NotFound when the presentation has no such playlist */
function writePlaylist(name: string, { layout, etag }: KnownLayout<HlsLayout>): Buffer {
  const uris: HlsUris = { file: `${MEDIA}?entity=${withoutQuotes(etag)}`, playlist: playlistName };
  const stream = layout.streams.find((each) => playlistName(each) === name);
  if (!stream && name !== MASTER) throw new NotFound('No such playlist');
  return Buffer.from(stream ? writeMediaPlaylist(stream, uris) : writeMasterPlaylist(layout, uris));
}

const withoutQuotes = (etag: string) => etag.slice(1, -1);

function refuse(reason: UnsupportedMp4): never {
  throw new UnsupportedRendition(`There is no playlist for this: ${reason.message}.`, { cause: reason });
}
