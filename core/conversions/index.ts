export { type Conversion, tagText } from './conversion.ts';
export { type ConversionName, conversionNames, conversions, findConversionName } from './registry.ts';
