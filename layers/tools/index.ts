export * from './create-tools.ts';
export type { Download } from './download.ts';
export * from './smoke-test.ts';
export type { FetchOptions, Source } from './source.ts';
export * from './tools.ts';
export * from './worker-process.ts';
export type * from './worker-protocol.ts';
