export { defaultLimits, type SourceLimits } from './limits.ts';
export * from './open-source.ts';
export type * from './source.ts';
