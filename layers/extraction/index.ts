export type * from './extraction.ts';
