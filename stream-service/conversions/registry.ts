import type { ConversionName } from '../../core/conversions/index.ts';
import type { Converter, ConverterDependencies } from './converter.ts';
import { createMp3Converter } from './mp3/index.ts';

export type Converters = Readonly<Record<ConversionName, Converter>>;

/** The converter of every format that `core/conversions` describes. */
export const createConverters = (dependencies: ConverterDependencies): Converters => ({
  mp3: createMp3Converter(dependencies),
});
