export type { Conversion } from './conversion.ts';
export { type ConversionName, conversionNames, conversions, findConversionName } from './registry.ts';
export { tagText } from './tag-text.ts';
