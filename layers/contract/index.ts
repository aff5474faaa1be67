export * from './log.ts';
export * from './problem.ts';
