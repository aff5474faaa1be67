import type { schema } from '../../core/api/index.ts';
import { type ConversionName, conversions } from '../../core/conversions/index.ts';
import type { SignKey } from '../../core/http/index.ts';
import { keyOf, type Rendition, type Resource } from '../../core/state/index.ts';

/** The schema's object with nullable fields always present. */
export type MediaRendition = Required<schema.MediaRendition>;

/**
 * The audio of an item, best first. Without an audio-only format, those with both tracks: clients that want audio alone then
 * play or convert them.
 */
export function audioRenditions({ renditions, tracks }: Resource): readonly Rendition[] {
  const audioOnly = renditions.filter(({ side }) => side === 'audio');
  if (audioOnly.length > 0) return audioOnly;
  const audible = new Set(tracks.filter(({ audio }) => audio !== null).map(({ formatId }) => formatId));
  return renditions.filter(({ urlType, formatIds }) => urlType === 'Media' && audible.has(formatIds[0]));
}

/** @param signKey signs the key where the instance is private */
export const toMedia = (resource: Resource, rendition: Rendition, signKey: SignKey): MediaRendition => ({
  key: signKey(keyOf(resource.id, rendition.id)),
  label: rendition.label,
  description: rendition.description,
  fileExtension: rendition.fileExtension,
  mimeType: rendition.mimeType,
  urlType: rendition.urlType,
  fileSizeBytes: resource.exactSizes?.[rendition.id] ?? rendition.sizeBytes ?? null,
  height: rendition.height ?? null,
  bitrate: rendition.bitrate ?? null,
  convertTo: null,
});

/** The conversion of that name; undefined when none is promised. */
export function toConversion(resource: Resource, name: ConversionName, signKey: SignKey): MediaRendition | undefined {
  const promised = resource[name];
  const { bitrateKbps, label, description, fileExtension, mimeType } = conversions[name];
  return (
    promised && {
      key: signKey(keyOf(resource.id, promised.renditionId)),
      label,
      description,
      fileExtension,
      mimeType,
      urlType: 'Media',
      fileSizeBytes: promised.sizeBytes ?? null,
      height: null,
      bitrate: bitrateKbps,
      convertTo: name,
    }
  );
}
