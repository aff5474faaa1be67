import { findConversionName } from '../../core/conversions/index.ts';
import type { KeyedRendition } from '../../core/state/index.ts';
import type { Converters } from '../conversions/index.ts';
import type { RepresentationOpener } from '../representation.ts';
import { needsRemux } from '../source/index.ts';
import { type CombinedDependencies, combined } from './combined.ts';
import { type ConvertedDependencies, converted } from './converted.ts';
import { file } from './file.ts';
import { remux } from './remux.ts';

export interface RepresentationsDependencies extends ConvertedDependencies, CombinedDependencies {
  readonly converters: Converters;
}

/** Chooses what the Stream endpoints send for a rendition. */
export interface Representations {
  /** @param format name of a conversion; any other has no effect, nor has one on a track without audio */
  media(found: KeyedRendition, format?: string): RepresentationOpener;
  combined(found: KeyedRendition): RepresentationOpener;
}

export function createRepresentations(dependencies: RepresentationsDependencies): Representations {
  return {
    media(found, format) {
      const [track] = found.tracks;
      const conversion = track.audio ? findConversionName(format) : undefined;
      if (conversion) return converted(found, dependencies.converters[conversion], dependencies);
      return needsRemux(track) ? remux(found, dependencies) : file(found, dependencies);
    },
    combined: (found) => combined(found, dependencies),
  };
}
