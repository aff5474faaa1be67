export * from './cors.ts';
export * from './link-parameter.ts';
export * from './log.ts';
export * from './negotiation.ts';
export * from './openapi.ts';
export * from './problem.ts';
export * from './routes.ts';
export * from './schemas.ts';
