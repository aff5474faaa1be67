export type { ConversionOptions, Converter } from './converter.ts';
export { type Converters, createConverters } from './registry.ts';
