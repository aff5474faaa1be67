export { createState, type StateOptions } from './create-state.ts';
export * from './find-in-resource.ts';
export { ItemTooLarge } from './item.ts';
export * from './keys.ts';
export type * from './resource.ts';
export type * from './state.ts';
export { createTableClient, ensureTable, StateUnavailable } from './table.ts';
