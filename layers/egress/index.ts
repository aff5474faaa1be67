export { giveBack } from './chunk-memory.ts';
export * from './create-egress.ts';
export * from './egress.ts';
export * from './lend-loopback.ts';
export * from './resting.ts';
