export { type ConvertedDependencies, converted } from './converted.ts';
export type { ConversionOptions, Converter } from './converter.ts';
export { type Converters, createConverters } from './registry.ts';
