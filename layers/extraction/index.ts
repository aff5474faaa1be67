export type * from './extraction.ts';
export * from './information.ts';
export * from './mp3-conversion.ts';
