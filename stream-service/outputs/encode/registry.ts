import type { ConversionName } from '../../../core/conversions/index.ts';
import type { Converter, ConverterDependencies } from './converter.ts';
import { createFrameStreams } from './frames/index.ts';
import { createMp3Converter } from './mp3/index.ts';
import { createWavConverter } from './wav/index.ts';

/** Conversions that decode the audio; M4A is a layout of the source's bytes. */
export type EncodedConversion = Exclude<ConversionName, 'm4a'>;
export type Converters = Readonly<Record<EncodedConversion, Converter>>;

/** The converter of every such format that `core/conversions` describes. */
export function createConverters(dependencies: ConverterDependencies): Converters {
  const streams = createFrameStreams(dependencies);
  return { mp3: createMp3Converter(streams), wav: createWavConverter(streams) };
}
