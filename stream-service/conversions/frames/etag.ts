import { createHash } from 'node:crypto';
import { MP3_FRAME_BYTES } from '../../../core/conversions/mp3/index.ts';
import type { Resource, Track } from '../../../core/state/index.ts';
import type { Ffmpeg } from '../../../layers/tools/index.ts';
import type { FileSource, SegmentedSource } from '../../source/index.ts';
import { LAYOUT_VERSION, type Layout } from './layout.ts';

/** What identifies the content of a source before it is read. Segments have no validator. */
type SourceIdentity = Pick<FileSource, 'needsRemux' | 'size' | 'validator'> | Pick<SegmentedSource, 'needsRemux'>;

/** Identifies the content of a source and the build that encodes it. */
export const audioEntity = (resource: Resource, track: Track, source: SourceIdentity, { buildId }: Ffmpeg): string =>
  digest([resource.id, track.formatId, ...(source.needsRemux ? [] : [source.size, source.validator]), buildId]);

/** The strong validator of a conversion: it changes with the layout, the bit rate and the tag. */
export const framesEtag = (
  entity: string,
  { frames, firstFrame = 0, encoding: { frameBytes } }: Layout,
  tag: Buffer,
): string => {
  const variant = [
    ...(firstFrame > 0 ? [firstFrame] : []),
    ...(frameBytes === MP3_FRAME_BYTES ? [] : [{ frameBytes }]),
  ];
  return `"${digest([entity, LAYOUT_VERSION, frames, tag.toString('base64'), ...variant])}"`;
};

const digest = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
