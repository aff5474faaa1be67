export * from './egress.ts';
