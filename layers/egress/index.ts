export * from './create-egress.ts';
export * from './egress.ts';
