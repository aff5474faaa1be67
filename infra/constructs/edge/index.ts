export { AccessKeys } from './access-keys.ts';
export { EdgeDistribution } from './edge-distribution.ts';
export { Firewall } from './firewall.ts';
export { OriginSecret } from './origin-secret.ts';
export { Page } from './page.ts';
export { RESOLVE_PATHS } from './path-prefixes.ts';
export { deployedSource } from './viewer-request-source.ts';
