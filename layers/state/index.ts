export * from './keys.ts';
export type * from './resource.ts';
export type * from './state.ts';
