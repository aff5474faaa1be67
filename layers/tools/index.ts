export * from './tools.ts';
export * from './worker-process.ts';
export type * from './worker-protocol.ts';
