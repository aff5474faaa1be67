import type { ConversionName } from '../../../core/conversions/index.ts';
import type { EncodedFormat } from './encoded-format.ts';
import { mp3 } from './mp3.ts';
import { wav } from './wav.ts';

/** The conversions that FFmpeg encodes. The others copy the bytes of the source. */
export const encodedFormats = { mp3, wav } satisfies { readonly [Name in ConversionName]?: EncodedFormat };

export type EncodedName = keyof typeof encodedFormats;

export const isEncoded = (name: ConversionName): name is EncodedName => Object.hasOwn(encodedFormats, name);
