import { findConversionName } from '../../core/conversions/index.ts';
import type { KeyedRendition } from '../../core/state/index.ts';
import type { Converters } from '../conversions/index.ts';
import type { ClipTimes, RepresentationOpener } from '../representation.ts';
import { needsRemux } from '../source/index.ts';
import { type ClippedDependencies, clipped } from './clipped.ts';
import { type ConvertedDependencies, converted } from './converted.ts';
import { file } from './file.ts';
import { fromBeginning } from './from-beginning.ts';
import { remux } from './remux.ts';
import { pairFromBeginning, type SeekablePairDependencies, seekablePair } from './seekable-pair.ts';

export interface RepresentationsDependencies
  extends ConvertedDependencies,
    SeekablePairDependencies,
    ClippedDependencies {
  readonly converters: Converters;
}

/** Chooses what the Stream endpoints send for a rendition: every key works on both. */
export interface Representations {
  /** @throws InvalidParameter when it cannot be clipped */
  media(found: KeyedRendition, options?: MediaOptions): RepresentationOpener;
  /** As MP4 from the beginning, without ranges. */
  combined(found: KeyedRendition): RepresentationOpener;
}

export interface MediaOptions {
  /** Name of a conversion; any other has no effect, nor has one on a rendition without audio. */
  readonly format?: string;
  /** The part to send; absent: the whole. */
  readonly clip?: ClipTimes;
}

export function createRepresentations(dependencies: RepresentationsDependencies): Representations {
  return {
    media(found, { format, clip } = {}) {
      const [track] = found.tracks;
      const sound = found.tracks.find(({ audio }) => audio);
      const conversion = sound && findConversionName(format);
      if (conversion)
        return converted({ ...found, tracks: [sound] }, dependencies.converters[conversion], dependencies, clip);
      if (clip) return clipped(found, clip, dependencies);
      if (isPair(found)) return seekablePair(found, dependencies);
      return needsRemux(track) ? remux(found, dependencies) : file(found, dependencies);
    },
    combined: (found) => (isPair(found) ? pairFromBeginning : fromBeginning)(found, dependencies),
  };
}

const isPair = ({ rendition }: KeyedRendition): boolean => rendition.urlType === 'Combined';
